"""The chat adapter against servers that answer as real ones do, and as they should not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers import secrets
from workers.adapters import _completion
from workers.adapters.chat import Conversation
from workers.faults import BadJob
from workers.observation import Answered, Broke, Failed, Malformed, Refused, Value
from workers.wire.skill import Access

ASSISTANT = {"adapter": "chat", "model": "helper-1", "url": "http://127.0.0.1:{port}/v1"}


def completion(**message: Any) -> bytes:
    return json.dumps({"object": "chat.completion", "choices": [{"index": 0, "message": message}]}).encode()


def chunks(*deltas: dict[str, Any], end: str = "data: [DONE]\n\n") -> bytes:
    lines = [f"data: {json.dumps({'choices': [{'delta': delta}]})}\n\n" for delta in deltas]
    return ("".join(lines) + end).encode()


def reply(called: Any) -> Any:
    assert isinstance(called.only, Answered), called.only
    return called.only.reply


def test_inputs_become_one_user_message(raw: Any) -> None:
    """A single text is the message itself, under the model that the manifest names."""
    called = raw.call(raw.answering(completion(content="at nine")), inputs={"question": "When?"}, **ASSISTANT)

    assert reply(called) == Value("at nine")
    (request,) = called.server.requests
    assert request.head.startswith(b"POST /v1/chat/completions HTTP/1.1\r\n")
    assert json.loads(request.body) == {
        "model": "helper-1",
        "messages": [{"role": "user", "content": "When?"}],
        "stream": False,
    }


def test_several_inputs_are_lines(raw: Any) -> None:
    """Each input is a line with its name; what is no text is JSON."""
    inputs = {"text": "hello", "limit": 3, "tags": ["a"]}

    called = raw.call(raw.answering(completion(content="ok")), inputs=inputs, **ASSISTANT)

    said = json.loads(called.server.requests[0].body)["messages"][0]["content"]
    assert said == 'text: hello\nlimit: 3\ntags: ["a"]'


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/chat/completions", "/v1/chat/completions/"])
def test_base_and_whole_url_are_the_same(raw: Any, path: str) -> None:
    """The endpoint may be given with or without its last two steps; a query stays behind them."""
    url = f"http://127.0.0.1:{{port}}{path}?v=2"

    called = raw.call(raw.answering(completion(content="ok")), adapter="chat", model="m", url=url)

    assert called.server.requests[0].head.startswith(b"POST /v1/chat/completions?v=2 HTTP/1.1\r\n")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (completion(content='{"sum": 4}'), Value('{"sum": 4}')),
        (completion(content=[{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]), Value("ab")),
        (completion(content=""), Value("")),
        (completion(content=None, refusal="I must not."), Refused("the assistant refused: I must not.")),
        (
            completion(content=None, tool_calls=[{"function": {"name": "add", "arguments": '{"a": 1}'}}]),
            Value({"tool_calls": [{"name": "add", "arguments": {"a": 1}}]}),
        ),
        (
            completion(content=None, tool_calls=[{"function": {"name": "add", "arguments": "{"}}, 7]),
            Value({"tool_calls": [{"name": "add", "arguments": "{"}, {"name": None, "arguments": None}]}),
        ),
        (
            json.dumps({"choices": [{"message": {"content": None}, "finish_reason": "content_filter"}]}).encode(),
            Refused("the endpoint's content filter took the answer out"),
        ),
        (chunks({"role": "assistant"}, {"content": "at "}, {"content": "nine"}), Value("at nine")),
        (b": keep-alive\n\n" + chunks({"content": "a"}, end=""), Value("a")),
        (chunks({"refusal": "No"}, {"refusal": "."}), Refused("the assistant refused: No.")),
        (b'data: {"error": {"message": "full", "code": 503}}\n\n', Failed("an error with status 503: full")),
        (b'{"error": {"message": "bad model", "code": 404}}', Refused("an error with status 404: bad model")),
        (b'{"error": "down"}', Failed("an error with status 500: down")),
    ],
)
def test_answers_are_read(raw: Any, body: bytes, expected: Any) -> None:
    """Texts, refusals, calls of tools, streams and errors that hide behind status 200."""
    called = raw.call(raw.answering(body), **ASSISTANT)

    assert reply(called) == expected


@pytest.mark.parametrize(
    "body",
    [b"", b"null", b"[]", b"{}", b"<html>", b'{"choices": []}', b'{"choices": [{}]}', b"data: nonsense\n\n",
     completion(content=None), completion(content=7), chunks(end="data: [DONE]\n\n")],
)  # fmt: skip
def test_what_is_no_completion_is_malformed(raw: Any, body: bytes) -> None:
    """Status 200 without an answer in it is the skill's mistake."""
    called = raw.call(raw.answering(body), **ASSISTANT)

    assert isinstance(reply(called), Malformed)


@pytest.mark.parametrize("text", ['{"sum": 4}', '```json\n{"sum": 4}\n```', '\n``` \n{"sum": 4}\n```\n'])
def test_declared_outputs_are_read_out_of_the_text(raw: Any, text: str) -> None:
    """Where the manifest declares more than a text, the text is the JSON of it, fenced or not."""
    called = raw.call(raw.answering(completion(content=text)), answer="json", **ASSISTANT)

    assert reply(called) == Value({"sum": 4})


def test_prose_in_place_of_declared_outputs_is_malformed(raw: Any) -> None:
    """A chatty answer does not hold the declaration."""
    called = raw.call(raw.answering(completion(content="The sum is 4.")), answer="json", **ASSISTANT)

    assert isinstance(reply(called), Malformed)


@pytest.mark.parametrize(("status", "kind"), [("401 Unauthorized", Refused), ("502 Bad Gateway", Failed)])
def test_http_statuses_count_first(raw: Any, status: str, kind: type) -> None:
    """An error status is no answer, whatever the body says."""
    called = raw.call(raw.answering(completion(content="ok"), status=status), **ASSISTANT)

    assert isinstance(reply(called), kind)


def test_an_endless_stream_is_bounded(raw: Any) -> None:
    """A stream of more than a body may hold is the skill's fault."""
    flood = chunks({"content": "x" * 1000}) * 2000

    called = raw.call(raw.answering(flood), **ASSISTANT)

    assert isinstance(called.only, Broke)


def test_latency_is_measured_on_the_same_request(raw: Any) -> None:
    """The request for the stopwatch is the one that a call sends, and its answer is read the same way."""
    from workers.adapters import chat

    skill = raw.skill_at("http://127.0.0.1:9/v1", adapter="chat", model="m")

    request = chat.open().request(skill, {"question": "When?"})

    assert request.url == "http://127.0.0.1:9/v1/chat/completions"
    assert json.loads(request.body)["messages"] == [{"role": "user", "content": "When?"}]
    assert request.read is not None
    assert request.read(completion(content="now")) == Value("now")


def test_a_missing_model_is_a_bad_job(raw: Any) -> None:
    """Options are parsed strictly."""
    with pytest.raises(BadJob, match="model"):
        raw.call(raw.answering(b"{}"), adapter="chat")


def test_a_repeated_token_is_redacted(raw: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """An assistant that tells its caller's token does not get it into the evidence, in any spelling."""
    monkeypatch.setenv("TOOL_TOKEN", "sk-s3cret/4711+x")
    monkeypatch.setattr(secrets, "_granted", ("TOOL_TOKEN@127.0.0.1",))
    told = "sk-s3cret/4711+x or c2stczNjcmV0LzQ3MTEreA== or sk-s3cret%2F4711%2Bx"

    called = raw.call(
        raw.answering(completion(content=told)), auth={"type": "bearer", "token": "env:TOOL_TOKEN"}, **ASSISTANT
    )

    assert called.server.requests[0].header("authorization") == "Bearer sk-s3cret/4711+x"
    assert b"4711" not in called.only.body
    assert "s3cret" not in str(reply(called))
    assert "c2stczNj" not in str(reply(called))


@given(st.binary(max_size=300) | st.recursive(st.none() | st.text() | st.integers(), st.lists).map(
    lambda value: json.dumps({"choices": value}).encode()
))  # fmt: skip
def test_any_bytes_are_read_to_a_reply(body: bytes) -> None:
    """Whatever comes, it is read without an error of ours."""
    form = Conversation(Access(adapter="chat", endpoint="http://a.example", options={"model": "m"}), "agent")

    assert isinstance(form.read(body), Value | Refused | Failed | Malformed)


@given(st.lists(st.fixed_dictionaries({}, optional={"content": st.text(), "refusal": st.none()}), min_size=1))
def test_a_stream_says_what_its_chunks_add_up_to(deltas: list[dict[str, Any]]) -> None:
    """Pieces are joined in order, however the text was cut."""
    whole = "".join(delta.get("content", "") for delta in deltas)

    assert _completion.read(chunks(*deltas)) == Value(whole)
