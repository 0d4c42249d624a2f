"""What an A2A agent's answer says, in either generation of the protocol: agents mix them.

Text and data parts count; a single data part, or the texts alone, are the answer, and where both came it is an object
with ``text`` and ``data``. A task that waits for more input, or for another's consent, is a refusal: the message that
the card invites was not enough for it.

Source: A2A protocol specification 1.0 (``a2a.proto``) and 0.3.0.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from workers.observation import Failed, Malformed, Refused, Reply, Value

QUOTED_CHARS = 200
TASK_ID_CHARS = 1_000
PARTS = 1_000
UNFINISHED = frozenset({"submitted", "working", "unspecified", "unknown"})
ENDED = {"failed": "failed", "canceled": "was canceled by the agent", "cancelled": "was canceled by the agent"}
DECLINED = frozenset({"rejected", "input-required", "auth-required"})


class Unfinished(Struct, frozen=True):
    """A task that the agent still works on."""

    task_id: str


def read(result: Any) -> Reply | Unfinished:
    """What *result* says: a message or a task, bare or as the one member of an object."""
    match result:
        case {"task": dict() as task}:
            return _task(task)
        case {"message": dict() as said}:
            return _answer([said])
        case {"status": dict()} as task:
            return _task(task)
        case {"parts": list()} as said:
            return _answer([said])
    return Malformed("a result that is neither a message nor a task")


def _task(task: dict[str, Any]) -> Reply | Unfinished:
    status = task.get("status")
    status = status if isinstance(status, dict) else {}
    state = str(status.get("state"))[:40].removeprefix("TASK_STATE_").lower().replace("_", "-")
    if state in UNFINISHED:
        task_id = task.get("id")
        if isinstance(task_id, str) and 0 < len(task_id) <= TASK_ID_CHARS:
            return Unfinished(task_id)
        return Malformed("an unfinished task without an id to ask for it again")
    said = [status["message"]] if isinstance(status.get("message"), dict) else []
    if state == "completed":
        return _answer(_dicts(task.get("artifacts")) or said or _agents_last(task))
    words = _answer(said)
    about = f": {str(words.value)[:QUOTED_CHARS]}" if isinstance(words, Value) else ""
    if state in ENDED:
        return Failed(f"the task {ENDED[state]}{about}")
    if state in DECLINED:
        return Refused(f"the task is {state}{about}")
    return Malformed(f"a task in the unknown state {state!r}")


def _agents_last(task: dict[str, Any]) -> list[dict[str, Any]]:
    history = _dicts(task.get("history"))
    return [one for one in history if str(one.get("role")).removeprefix("ROLE_").lower() == "agent"][-1:]


def _answer(carriers: list[dict[str, Any]]) -> Reply:
    """The answer in the parts of *carriers*, artifacts or messages."""
    parts = [part for carrier in carriers for part in _dicts(carrier.get("parts"))][:PARTS]
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    data = [part["data"] for part in parts if "data" in part and "text" not in part]
    if not texts and not data:
        return Malformed("an answer without a text or data part")
    text = "\n".join(texts)
    structured = data[0] if len(data) == 1 else data
    if not data:
        return Value(text)
    return Value({"text": text, "data": structured} if texts else structured)


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
