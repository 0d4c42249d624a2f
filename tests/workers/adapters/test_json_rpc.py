from __future__ import annotations

from typing import Any

import msgspec
import pytest

from workers.adapters._json_rpc import Fault, NotAResponse, Success, is_response, request, response
from workers.observation import Failed, Refused


def test_a_request_is_one_line_and_a_notification_has_no_id() -> None:
    """Text with line ends in it stays on the line."""
    asked, told = request("tools/call", {"text": "a\nb"}, 3), request("notifications/initialized", None, None)

    assert b"\n" not in asked
    assert msgspec.json.decode(asked) == {
        "jsonrpc": "2.0", "method": "tools/call", "params": {"text": "a\nb"}, "id": 3
    }  # fmt: skip
    assert msgspec.json.decode(told) == {"jsonrpc": "2.0", "method": "notifications/initialized"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"jsonrpc": "2.0", "id": 3, "result": None}, Success(None)),
        ({"jsonrpc": "2.0", "id": 3, "error": None, "result": 1}, Success(1)),
        ({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "?"}}, Fault(-32700, "?")),
        ({"id": 3, "error": {"code": 1, "message": ["?"], "data": 2}}, Fault(1, "", 2)),
    ],
)
def test_a_response_says_its_result_or_its_error(value: Any, expected: Success | Fault) -> None:
    """An error may be about a request that could not be read, and then has no id."""
    assert response(value, 3) == expected


@pytest.mark.parametrize(
    "value",
    [
        None, [], "x", {}, {"jsonrpc": "2.0", "id": 3}, {"jsonrpc": "2.0", "id": 4, "result": 1},
        {"jsonrpc": "2.0", "id": True, "result": 1}, {"id": 3, "result": 1}, {"id": 3, "error": "no"},
        {"id": 3, "error": {"code": "x"}}, {"id": 3, "error": {"code": True}}, {"id": 4, "error": {"code": 1}},
    ],
)  # fmt: skip
def test_anything_else_is_none(value: Any) -> None:
    """A message to somebody else, or of another form, is not taken for the answer."""
    with pytest.raises(NotAResponse):
        response(value, 1 if value == {"jsonrpc": "2.0", "id": True, "result": 1} else 3)


def test_other_messages_may_come_before_the_response() -> None:
    """A request or notification of the server's own is no response, even with our number."""
    assert is_response({"id": 1, "result": {}}, 1)
    assert not is_response({"id": 1, "method": "ping"}, 1)
    assert not is_response({"method": "notifications/message"}, 1)


def test_wrong_parameters_are_a_refusal_and_other_errors_a_failure() -> None:
    """What the other side wrote is quoted."""
    assert Fault(-32602, "no").reply == Refused("JSON-RPC error -32602: no")
    assert Fault(-32603, "oh").reply == Failed("JSON-RPC error -32603: oh")
