"""Whom we believe over TLS."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from workers import trust

CERTIFICATE = Path(__file__).parent / "adapters" / "localhost.pem"


def test_authorities_named_by_the_environment_take_the_place_of_the_usual_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """An operator's own authority is trusted, and what was read before for another setting is not used for this one."""
    usual = trust.verifying().get_ca_certs()

    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    own = trust.verifying().get_ca_certs()

    assert len(usual) > 1
    assert [dict(part for entry in one["subject"] for part in entry)["commonName"] for one in own] == ["localhost"]


def test_a_connection_without_tls_trusts_no_certificate() -> None:
    """Should an https origin ever reach it, the handshake fails instead of believing anybody."""
    context = trust.nobody()

    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.get_ca_certs() == []


def test_names_and_certificates_are_checked() -> None:
    """The context for https origins takes neither a certificate of nobody nor one for another name."""
    context = trust.verifying()

    assert context.check_hostname
    assert context.verify_mode is ssl.CERT_REQUIRED
