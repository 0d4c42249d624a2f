"""JSON-RPC 2.0 messages: what is sent, and what a response says.

Source: JSON-RPC 2.0 specification, sections 4 and 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from workers.adapters._target import json_body
from workers.observation import Failed, Refused, Reply

INVALID_PARAMS = -32602
QUOTED_CHARS = 300


class Success(Struct, frozen=True, tag="success"):
    """The call's *result*."""

    result: Any


class Fault(Struct, frozen=True, tag="fault"):
    """The call's error; *message* is the other side's and quoted short."""

    code: int
    message: str
    data: Any = None

    @property
    def reply(self) -> Reply:
        """What it comes to: wrong parameters are a refusal, anything else a failure."""
        return Refused(self.told) if self.code == INVALID_PARAMS else Failed(self.told)

    @property
    def told(self) -> str:
        """The error in one line."""
        return f"JSON-RPC error {self.code}: {self.message}"


class NotAResponse(Exception):
    """A value that is no response to the request; the message says why."""


def request(method: str, params: Mapping[str, Any] | None, request_id: int | None) -> bytes:
    """The request as one line without its end; a notification if *request_id* is None.

    Raises:
        BadJob: If *params* cannot be written as JSON.
    """
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        message["params"] = params
    if request_id is not None:
        message["id"] = request_id
    return json_body(message)


def is_response(value: Any, request_id: int) -> bool:
    """Whether *value* means to be the response to *request_id*: other messages may come before it."""
    return isinstance(value, dict) and value.get("id") == request_id and ("result" in value or "error" in value)


def response(value: Any, request_id: int) -> Success | Fault:
    """What the response *value* says.

    An error may carry the id null: its sender could not read the request.

    Raises:
        NotAResponse: If it is none, or one to another request.
    """
    if not isinstance(value, dict):
        raise NotAResponse("the answer is no JSON object")
    if "error" in value and value["error"] is not None:
        if value.get("id") not in (request_id, None):
            raise NotAResponse("the error answers another request")
        return _fault(value["error"])
    if "result" not in value:
        raise NotAResponse("the answer has neither result nor error")
    if value.get("id") != request_id or isinstance(value.get("id"), bool):
        raise NotAResponse("the result answers another request")
    if value.get("jsonrpc") != "2.0":
        raise NotAResponse('the answer is not marked as "jsonrpc": "2.0"')
    return Success(value["result"])


def _fault(error: Any) -> Fault:
    if not isinstance(error, dict):
        raise NotAResponse("the error is no JSON object")
    code, message = error.get("code"), error.get("message", "")
    if not isinstance(code, int) or isinstance(code, bool):
        raise NotAResponse("the error has no number as its code")
    return Fault(code, message[:QUOTED_CHARS] if isinstance(message, str) else "", error.get("data"))
