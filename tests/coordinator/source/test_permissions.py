from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.source.facts import Kind
from coordinator.source.permissions import grants


@pytest.mark.parametrize(
    ("permission", "host", "allowed"),
    [
        ("network:*", "any.example", True),
        ("network", "any.example", True),
        ("internet access", "any.example", True),
        ("Network: outbound", "any.example", True),
        ("network:api.example", "api.example", True),
        ("network:https://api.example/v1", "api.example", True),
        ("https://api.example/v1", "api.example", True),
        ("net:API.example:443", "api.example", True),
        ("network:*.example", "a.b.example", True),
        ("network:localhost", "127.0.0.1", True),
        ("network:api.example", "evil.example", False),
        ("network:api.example", "notapi.example", False),
        ("network:*.example", "badexample", False),
        ("network:none", "api.example", False),
        ("filesystem", "api.example", False),
    ],
)
def test_network_permission(permission: str, host: str, allowed: bool) -> None:
    """Every usual spelling is understood, and a narrow one allows no more than it says."""
    (grant,) = grants([permission])

    assert grant.allows(Kind.NETWORK, host, known=True) is allowed


@pytest.mark.parametrize(
    ("permission", "kinds"),
    [
        ("fs:read:/tmp", {Kind.READ}),
        ("filesystem:read", {Kind.READ}),
        ("file_system", {Kind.READ, Kind.WRITE}),
        ("read_file", {Kind.READ}),
        ("filesystem:write:/tmp", {Kind.READ, Kind.WRITE}),
        ("subprocess", {Kind.PROCESS}),
        ("shell:ffmpeg", {Kind.PROCESS}),
        ("Bash(git:*)", {Kind.PROCESS}),
        ("env:API_KEY", {Kind.ENVIRONMENT}),
        ("code_execution", {Kind.DYNAMIC}),
        ("camera", set()),
    ],
)
def test_kinds_of_permission(permission: str, kinds: set[Kind]) -> None:
    """What a permission is for is read from its first word, or the words it is made of."""
    (grant,) = grants([permission])

    assert set(grant.kinds) == kinds


@given(st.text(), st.text())
def test_any_text_is_a_grant(permission: str, host: str) -> None:
    """No text makes the reader fail."""
    (grant,) = grants([permission])

    assert grant.allows(Kind.NETWORK, host, known=True) in (True, False)
