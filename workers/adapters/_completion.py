"""What a chat completion says, whole or in the chunks of a stream.

The answer is the text of the first choice. One without a text that asks for tools to be called says that instead.
Some gateways report an error with status 200; its own status counts then.

Source: OpenAI API reference, "The chat completion object" and "The chat completion chunk object".
"""

from __future__ import annotations

import contextlib
from typing import Any

from workers.adapters import _json
from workers.observation import Failed, Malformed, Refused, Reply, Value

QUOTED_CHARS = 200
MARK = b"data:"
DONE = b"[DONE]"


def read(body: bytes) -> Reply:
    """The answer in *body*, that of a 2xx answer."""
    try:
        found = _whole(body) if body.lstrip().startswith((MARK, b":", b"event:")) else _json.decoded(body)
    except _json.NotJson as error:
        return Malformed(f"no JSON body: {error}" if body else "no body")
    if not isinstance(found, dict):
        return Malformed("a JSON body that is no chat completion")
    if found.get("error") is not None and not found.get("choices"):
        return _error(found["error"])
    match found.get("choices"):
        case [{"message": dict() as message} as choice, *_]:
            return _answer(message, choice.get("finish_reason"))
    return Malformed("a chat completion without choices[0].message")


def _answer(message: dict[str, Any], finish: Any) -> Reply:
    text = _text(message.get("content"))
    if text:
        return Value(text)
    if isinstance(reason := message.get("refusal"), str) and reason:
        return Refused(f"the assistant refused: {reason[:QUOTED_CHARS]}")
    if finish == "content_filter":
        return Refused("the endpoint's content filter took the answer out")
    if isinstance(calls := message.get("tool_calls"), list) and calls:
        return Value({"tool_calls": [_call(one) for one in calls]})
    return Value("") if text == "" else Malformed("a chat completion without choices[0].message.content")


def _text(content: Any) -> str | None:
    """The text of *content*, which some endpoints give in parts; None if there is none."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else None


def _call(call: Any) -> dict[str, Any]:
    function = call.get("function") if isinstance(call, dict) else None
    function = function if isinstance(function, dict) else {}
    arguments = function.get("arguments")
    with contextlib.suppress(_json.NotJson, UnicodeEncodeError):  # a text that is none stays as it is
        arguments = _json.decoded(arguments.encode()) if isinstance(arguments, str) else arguments
    return {"name": function.get("name"), "arguments": arguments}


def _whole(body: bytes) -> dict[str, Any]:
    """The completion that the chunks in *body* add up to.

    Raises:
        NotJson: If one of them is no JSON.
    """
    texts: list[str] = []
    refusals: list[str] = []
    finish = None
    for line in body.splitlines():
        data = line.removeprefix(MARK).strip()
        if not line.startswith(MARK) or not data:
            continue
        if data == DONE:
            break
        chunk = _json.decoded(data)
        match chunk:
            case {"error": error} if error is not None:
                return {"error": error}
            case {"choices": [dict() as choice, *_]}:
                delta = choice.get("delta")
                delta = delta if isinstance(delta, dict) else {}
                texts.append(_text(delta.get("content")) or "")
                refusals += [delta["refusal"]] if isinstance(delta.get("refusal"), str) else []
                finish = choice.get("finish_reason") or finish
    if not texts:
        return {}
    message = {"content": "".join(texts), "refusal": "".join(refusals)}
    return {"choices": [{"message": message, "finish_reason": finish}]}


def _error(error: Any) -> Reply:
    fields = error if isinstance(error, dict) else {"message": error}
    statuses = [fields.get(name) for name in ("status", "code")]
    status = next((one for one in statuses if isinstance(one, int) and 400 <= one < 600), 500)
    reason = f"an error with status {status}: {str(fields.get('message'))[:QUOTED_CHARS]}"
    return Refused(reason) if status < 500 else Failed(reason)
