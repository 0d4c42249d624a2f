"""The A2A adapter against agents of both generations and both bindings, well-behaved and not."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.adapters import _a2a_answers, a2a
from workers.adapters._a2a_answers import Unfinished
from workers.adapters._adapter import NoHttpRequest
from workers.faults import BadJob
from workers.observation import Answered, Failed, Malformed, Refused, TimedOut, Value

NEW = {"adapter": "a2a", "version": "1.0", "url": "http://127.0.0.1:{port}/rpc"}
OLD = {"adapter": "a2a", "version": "0.3", "url": "http://127.0.0.1:{port}/rpc"}
REST = {"adapter": "a2a", "binding": "HTTP+JSON", "url": "http://127.0.0.1:{port}/agents/7/"}


def result(value: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": value}).encode()


def error(code: int, message: str = "no") -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": message}}).encode()


def task(state: str, *texts: str, **more: Any) -> dict[str, Any]:
    artifacts = [{"artifactId": "a", "parts": [{"text": text}]} for text in texts]
    return {"id": "t/1", "contextId": "c", "status": {"state": state, **more}, "artifacts": artifacts}


def in_turn(*bodies: bytes, statuses: tuple[str, ...] = ()) -> Any:
    """One body after the other; the last one from then on."""
    left = list(bodies)
    heads = list(statuses)

    async def behave(_: Any, writer: asyncio.StreamWriter) -> None:
        body = left.pop(0) if len(left) > 1 else left[0]
        status = heads.pop(0) if heads else "200 OK"
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)

    return behave


def reply(called: Any) -> Any:
    assert isinstance(called.only, Answered), called.only
    return called.only.reply


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(a2a, "FIRST_PAUSE_S", 0.01)


def test_a_message_of_the_new_generation(raw: Any) -> None:
    """SendMessage with a text part, the version in a header; the agent is asked to wait until it is done."""
    answer = result({"message": {"role": "ROLE_AGENT", "parts": [{"text": "at nine"}]}})

    called = raw.call(raw.answering(answer), inputs={"message": "When?"}, tenant="shop", **NEW)

    assert reply(called) == Value("at nine")
    (request,) = called.server.requests
    sent = json.loads(request.body)
    assert request.header("a2a-version") == "1.0"
    assert (sent["jsonrpc"], sent["method"], sent["params"]["tenant"]) == ("2.0", "SendMessage", "shop")
    assert sent["params"]["configuration"]["returnImmediately"] is False
    message = sent["params"]["message"]
    assert (message["role"], message["parts"]) == ("ROLE_USER", [{"text": "When?"}])


def test_a_message_of_the_old_generation(raw: Any) -> None:
    """message/send with kinds, and no version header."""
    answer = result({"kind": "message", "role": "agent", "parts": [{"kind": "text", "text": "at nine"}]})

    called = raw.call(raw.answering(answer), inputs={"message": "When?"}, **OLD)

    assert reply(called) == Value("at nine")
    (request,) = called.server.requests
    sent = json.loads(request.body)
    assert request.header("a2a-version") is None
    assert sent["method"] == "message/send"
    assert sent["params"]["configuration"]["blocking"] is True
    assert sent["params"]["message"] | {"messageId": "x"} == {
        "kind": "message", "role": "user", "messageId": "x", "parts": [{"kind": "text", "text": "When?"}],
    }  # fmt: skip


def test_inputs_as_a_data_part(raw: Any) -> None:
    """An agent that takes JSON gets the object of the inputs."""
    answer = result({"message": {"parts": [{"data": {"sum": 3}, "mediaType": "application/json"}]}})

    called = raw.call(raw.answering(answer), inputs={"a": 1, "b": 2}, parts="data", **NEW)

    assert reply(called) == Value({"sum": 3})
    assert json.loads(called.server.requests[0].body)["params"]["message"]["parts"] == [{"data": {"a": 1, "b": 2}}]


def test_each_call_is_a_message_of_its_own(raw: Any) -> None:
    """No two messages share an id: an agent may take the second for a redelivery of the first."""
    answer = result({"message": {"parts": [{"text": "ok"}]}})

    called = raw.call(raw.answering(answer), callers=("main", "main", "other"), **NEW)

    sent = [json.loads(request.body)["params"]["message"] for request in called.server.requests]
    assert len({one["messageId"] for one in sent}) == 3
    assert not any("contextId" in one or "taskId" in one for one in sent)


def test_http_binding(raw: Any) -> None:
    """The message is the body itself, under the agent's URL and its tenant."""
    answer = json.dumps({"message": {"parts": [{"text": "ok"}]}}).encode()

    called = raw.call(raw.answering(answer), inputs={"message": "When?"}, tenant="a b", **REST)

    assert reply(called) == Value("ok")
    (request,) = called.server.requests
    assert request.head.startswith(b"POST /agents/7/a%20b/message:send HTTP/1.1\r\n")
    assert json.loads(request.body)["message"]["parts"] == [{"text": "When?"}]


@pytest.mark.parametrize("states", [("TASK_STATE_WORKING", "TASK_STATE_COMPLETED"), ("working", "completed")])
def test_an_unfinished_task_is_asked_for_again(raw: Any, states: tuple[str, str]) -> None:
    """Its answer counts as one call, and the time that it took as a whole."""
    working, done = task(states[0]), task(states[1], "at nine")

    called = raw.call(in_turn(result({"task": working}), result(working), result(done)), **NEW)

    assert reply(called) == Value("at nine")
    asked = [json.loads(request.body) for request in called.server.requests]
    assert [one["method"] for one in asked] == ["SendMessage", "GetTask", "GetTask"]
    assert asked[1]["params"] == {"id": "t/1"}
    assert called.only.elapsed_ms >= 20


def test_an_old_task_is_asked_for_by_its_own_name(raw: Any) -> None:
    """The older generation says tasks/get."""
    called = raw.call(in_turn(result(task("submitted")), result(task("completed", "ok"))), **OLD)

    assert reply(called) == Value("ok")
    assert json.loads(called.server.requests[1].body)["method"] == "tasks/get"


def test_a_task_over_http_is_a_get(raw: Any) -> None:
    """Its id is one step of the path, whatever is in it."""
    working = json.dumps({"task": task("TASK_STATE_SUBMITTED")}).encode()
    done = json.dumps(task("TASK_STATE_COMPLETED", "ok")).encode()

    called = raw.call(in_turn(working, done), **REST)

    assert reply(called) == Value("ok")
    assert called.server.requests[1].head.startswith(b"GET /agents/7/tasks/t%2F1 HTTP/1.1\r\n")
    assert called.server.requests[1].body == b""


def test_a_task_that_never_ends_is_a_timeout(raw: Any) -> None:
    """The deadline covers the message and every look at its task."""
    called = raw.call(raw.answering(result({"task": task("working")})), deadline_s=0.2, **NEW)

    assert isinstance(called.only, TimedOut)
    assert called.only.deadline_ms == 200


@pytest.mark.parametrize(
    ("bodies", "statuses"),
    [((error(-32001, "task not found"),), ()), ((b"gone",), ("200 OK", "404 Not Found"))],
)
def test_a_lost_task_is_a_failure(raw: Any, bodies: tuple[bytes, ...], statuses: tuple[str, ...]) -> None:
    """An agent that does not know the task that it began has not declined the call: it broke."""
    called = raw.call(in_turn(result({"task": task("working")}), *bodies, statuses=statuses), **NEW)

    assert isinstance(reply(called), Failed)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (task("completed", "a", "b"), Value("a\nb")),
        (task("TASK_STATE_COMPLETED") | {"artifacts": [{"parts": [{"kind": "data", "data": [1]}]}]}, Value([1])),
        (
            task("completed") | {"artifacts": [{"parts": [{"text": "see"}, {"data": {"n": 1}}, {"data": 2}]}]},
            Value({"text": "see", "data": [{"n": 1}, 2]}),
        ),
        (task("completed", message={"parts": [{"text": "done"}]}), Value("done")),
        (
            task("completed") | {"history": [{"role": "ROLE_AGENT", "parts": [{"text": "x"}]}, {"role": "user"}]},
            Value("x"),
        ),
        (task("failed", message={"parts": [{"text": "no disk"}]}), Failed("the task failed: no disk")),
        (task("TASK_STATE_CANCELED"), Failed("the task was canceled by the agent")),
        (task("rejected"), Refused("the task is rejected")),
        (
            task("TASK_STATE_INPUT_REQUIRED", message={"parts": [{"text": "Which city?"}]}),
            Refused("the task is input-required: Which city?"),
        ),
        (task("auth-required"), Refused("the task is auth-required")),
        (task("working") | {"id": None}, Malformed("an unfinished task without an id to ask for it again")),
        (task("dancing"), Malformed("a task in the unknown state 'dancing'")),
        (task("completed"), Malformed("an answer without a text or data part")),
        ({"parts": [{"file": {"uri": "x"}}]}, Malformed("an answer without a text or data part")),
        ({}, Malformed("a result that is neither a message nor a task")),
        (None, Malformed("a result that is neither a message nor a task")),
    ],
)
def test_what_tasks_and_messages_say(found: Any, expected: Any) -> None:
    """Artifacts first, then the status's message, then the agent's last one; both generations' words."""
    assert _a2a_answers.read(found) == expected


@pytest.mark.parametrize(
    ("code", "kind"), [(-32602, Refused), (-32005, Refused), (-32603, Failed), (-32601, Failed), (-32009, Failed)]
)
def test_errors_say_who_is_to_blame(raw: Any, code: int, kind: type) -> None:
    """A declined message is a refusal; an agent that cannot read one, or broke, has failed."""
    called = raw.call(raw.answering(error(code)), **NEW)

    assert isinstance(reply(called), kind)


@pytest.mark.parametrize("body", [b"", b"nope", b"[]", b'{"jsonrpc": "2.0", "id": 2, "result": {}}', result(7)])
def test_what_is_no_answer_is_malformed(raw: Any, body: bytes) -> None:
    """Status 200 without a response to the request in it."""
    called = raw.call(raw.answering(body), **NEW)

    assert isinstance(reply(called), Malformed)


def test_no_request_for_the_stopwatch(raw: Any) -> None:
    """A message must not be sent twice as it is."""
    with pytest.raises(NoHttpRequest):
        a2a.open().request(raw.skill_at("http://127.0.0.1:9/", adapter="a2a"), {"message": "x"})


def test_the_old_generation_has_no_settled_http_binding(raw: Any) -> None:
    """Its specification and its programs disagree about the JSON."""
    with pytest.raises(BadJob, match="in version 1"):
        raw.call(raw.answering(b"{}"), version="0.3", **REST)


@given(st.recursive(
    st.none() | st.text(max_size=5) | st.integers() | st.sampled_from(["completed", "working", "failed"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["task", "message", "status", "state", "parts", "text", "data", "artifacts", "id", "history"]),
        inner, max_size=4),
    max_leaves=12,
))  # fmt: skip
def test_any_value_is_read_to_a_reply(value: Any) -> None:
    """Whatever an agent says, it is read without an error of ours."""
    assert isinstance(_a2a_answers.read(value), Value | Refused | Failed | Malformed | Unfinished)
