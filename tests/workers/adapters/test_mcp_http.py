from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.adapters._json_rpc import NotAResponse, Success
from workers.adapters._mcp_http import encoded, mirrored, modern_headers, reply_in, response_in, session_id
from workers.observation import Malformed, Value


@pytest.mark.parametrize(
    ("value", "header"),
    [
        ("us-west1", "us-west1"),
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ("", "=?base64??="),
    ],
)
def test_a_value_is_encoded_where_a_header_would_not_carry_it(value: str, header: str) -> None:
    """The specification's own examples, and an empty text."""
    assert encoded(value) == header


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_no_value_can_add_a_header(value: str) -> None:
    """What is sent is one line of visible ASCII, and gives the value back."""
    header = encoded(value)

    assert header.isascii()
    assert header.isprintable()
    plain = not (header.startswith("=?base64?") and header.endswith("?="))
    assert (header if plain else base64.b64decode(header[9:-2]).decode()) == value


def test_marked_inputs_are_mirrored() -> None:
    """Those that are given and of a simple type, at any depth of objects; a name that is no header's is left out."""
    marked = {"type": "string", "x-mcp-header": "Region"}
    schema = {
        "properties": {
            "region": marked,
            "inner": {"properties": {"flag": {"x-mcp-header": "Flag"}, "count": {"x-mcp-header": "Count"}}},
            "bad": {"x-mcp-header": "a b"},
            "null": {"x-mcp-header": "Null"},
            "ratio": {"x-mcp-header": "Ratio"},
            "absent": {"x-mcp-header": "Absent"},
            "list": {"items": marked},
        }
    }
    arguments = {
        "region": "eu", "inner": {"flag": True, "count": 2}, "bad": "x", "null": None, "ratio": 0.5, "list": ["eu"]
    }  # fmt: skip

    found = list(mirrored(schema, arguments))

    assert found == [("Mcp-Param-Region", "eu"), ("Mcp-Param-Flag", "true"), ("Mcp-Param-Count", "2")]


def test_a_modern_request_says_what_it_is_in_headers() -> None:
    """A call names its tool too."""
    headers = dict(modern_headers("tools/call", {"name": "naïve", "arguments": {}}, {}))

    assert headers == {
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "=?base64?bmHDr3Zl?=",
    }
    assert "Mcp-Name" not in dict(modern_headers("tools/list", {}, {}))


def test_a_session_id_that_could_not_be_sent_back_is_refused() -> None:
    """It would break the request it stands in."""
    assert session_id((("mcp-session-id", "a-1"),)) == "a-1"
    assert session_id(()) == ""
    for bad in ("a b", "a\tb", "é", "x" * 2_000):
        with pytest.raises(NotAResponse):
            session_id((("Mcp-Session-Id", bad),))


@pytest.mark.parametrize(
    "body",
    [
        b'{"jsonrpc":"2.0","id":7,"result":1}',
        b'[{"method":"notifications/message"},{"jsonrpc":"2.0","id":7,"result":1}]',
        b'event: message\ndata: {"method":"ping","id":7}\n\ndata: {"jsonrpc":"2.0","id":7,"result":1}\n\n',
    ],
)
def test_the_answer_is_found_in_every_form(body: bytes) -> None:
    """JSON, a list of messages, or an event stream as it came."""
    assert response_in(body, 7) == Success(1)


@given(st.binary(max_size=200))
def test_any_bytes_can_be_looked_through(body: bytes) -> None:
    """Whatever came: an answer, or none."""
    assert isinstance(reply_in(body, 1), Malformed | Value)
