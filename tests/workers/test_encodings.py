from __future__ import annotations

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.encodings import ENCODERS

SPELLINGS = ("decimal_host", "mapped_host")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("decimal_host", "http://2130706434:80/a?b=1.2.3.4"), ("mapped_host", "http://[::ffff:127.0.0.2]:80/a?b=1.2.3.4")],
)
def test_an_address_is_spelt_otherwise(name: str, expected: str) -> None:
    """Only the host changes."""
    assert ENCODERS[name]("http://127.0.0.2:80/a?b=1.2.3.4") == expected


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("host", "https://shop.example:8443/tea?a=b", "shop.example:8443"),
        ("host", "shop.example/tea", "shop.example"),
        ("without_scheme", "http://127.0.0.2:80/a", "127.0.0.2:80/a"),
        ("named", "Dear {user.name}, {greeting}", "Dear {user.name"),
        ("named", "Dear {0}, {}", "Dear {0}, {}"),
    ],
)
def test_a_part_of_a_valid_value_is_taken(name: str, text: str, expected: str) -> None:
    """The host of an address, what follows its scheme, a template up to the end of its first name."""
    assert ENCODERS[name](text) == expected


def test_another_spelling_is_the_same_address() -> None:
    """As the system reads it."""
    assert socket.inet_aton("2130706434") == socket.inet_aton("127.0.0.2")


@pytest.mark.parametrize("url", ["http://shop.example/a", "http://1.2.3/", "http://999.1.1.1/", "ftp://127.0.0.2/", ""])
def test_what_is_no_such_address_stays(url: str) -> None:
    """A name, a broken address, another scheme."""
    assert [ENCODERS[name](url) for name in SPELLINGS] == [url, url]


@given(st.text(max_size=80) | st.from_regex(r"https?://[0-9.]{1,18}[:/]?.{0,5}", fullmatch=True))
def test_any_text_can_be_encoded(text: str) -> None:
    """No encoder raises."""
    assert all(isinstance(encode(text), str) for encode in ENCODERS.values())
