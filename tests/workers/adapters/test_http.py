"""One call over HTTP: what is sent, and how each answer is read."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import socket
import ssl
import zlib
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers import secrets
from workers.adapters import _body, _json, http
from workers.adapters._target import Target
from workers.faults import BadJob, FleetFault
from workers.observation import Answered, Broke, Failed, Malformed, Refused, Value

CERTIFICATE = Path(__file__).with_name("localhost.pem")


def reply(observation: Any) -> Any:
    assert isinstance(observation, Answered), observation
    return observation.reply


def test_the_inputs_are_the_body(raw: Any) -> None:
    """A POST with the object of the inputs, JSON in and JSON out, and who is calling."""
    called = raw.call(raw.answering(b'{"result": 5}'), inputs={"expression": "2+3"})

    assert reply(called.only) == Value({"result": 5})
    request = called.server.requests[0]
    assert request.head.startswith(b"POST /call?x=1 HTTP/1.1\r\n")
    assert json.loads(request.body) == {"expression": "2+3"}
    assert request.header("content-type") == "application/json"
    assert request.header("accept-encoding") == "gzip, deflate"
    assert request.header("host") == f"127.0.0.1:{called.server.port}"
    assert (request.header("user-agent") or "").startswith("skillmark/")


def test_the_envelope_names_skill_and_version(raw: Any) -> None:
    """The published eval-skills body."""
    called = raw.call(raw.answering(b"1"), body="envelope")

    assert json.loads(called.server.requests[0].body) == {"skillId": "tool", "version": "1.2.3", "input": {"a": 1}}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        ("201 Created", b"[1]", Value),
        ("200 OK", b"\xef\xbb\xbf[1]", Value),
        ("200 OK", b"123456789012345678901234567890", Value),
        ("200 OK", b"", Malformed),
        ("200 OK", b"hello", Malformed),
        ("200 OK", b"NaN", Malformed),
        ("200 OK", b"1e999", Malformed),
        ("200 OK", b'"\xff"', Malformed),
        ("200 OK", b'"\\ud800"', Malformed),
        ("200 OK", b"[" * 101 + b"]" * 101, Malformed),
        ("200 OK", b"[" * 100_000, Malformed),
        ("200 OK", b"1 2", Malformed),
        ("204 No Content", b"", Malformed),
        ("400 Bad Request", b'{"error": "no"}', Refused),
        ("404 Not Found", b"\xff\xfe", Refused),
        ("500 Oops", b"Traceback", Failed),
        ("503 Busy", b"", Failed),
        ("700 What", b"1", Malformed),
    ],
)
def test_a_status_and_a_body_are_read(raw: Any, status: str, body: bytes, kind: type) -> None:
    """2xx with strict JSON is an answer, 4xx a refusal, 5xx a failure, the rest no answer."""
    called = raw.call(raw.answering(body, status=status))

    assert isinstance(reply(called.only), kind)


def test_a_refusal_quotes_the_skill(raw: Any) -> None:
    """The reason says what the skill said, cut short."""
    called = raw.call(raw.answering(b"expression missing" + b"!" * 5_000, status="422 No"))

    assert reply(called.only).reason.startswith("HTTP 422: expression missing")
    assert len(reply(called.only).reason) < 300


def test_a_redirect_is_not_followed(raw: Any) -> None:
    """Neither to another host nor to the same one: one request arrives."""
    called = raw.call(raw.answering(b"", "Location: http://169.254.169.254/latest", status="307 Temporary Redirect"))

    assert isinstance(reply(called.only), Malformed)
    assert "169.254.169.254" in reply(called.only).reason
    assert len(called.server.requests) == 1


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(b"[1]")),
        ("x-gzip", gzip.compress(b"[1]")),
        ("deflate", zlib.compress(b"[1]")),
        ("deflate", zlib.compress(b"[1]", wbits=-15)),
        ("identity", b"[1]"),
    ],
)
def test_the_offered_encodings_are_read(raw: Any, encoding: str, body: bytes) -> None:
    """Whatever Accept-Encoding offers is decompressed."""
    assert reply(raw.call(raw.answering(body, f"Content-Encoding: {encoding}")).only) == Value([1])


@given(body=st.binary(max_size=300), encoding=st.sampled_from(["gzip", "deflate", "identity", "", "br"]))
def test_no_body_whatever_comes_out_as_anything_else(body: bytes, encoding: str) -> None:
    """Rubbish is a bad body or no JSON, never another exception."""

    async def chunks() -> Any:
        for start in range(0, len(body), 50):
            yield body[start : start + 50]

    try:
        read = asyncio.run(_body.read(chunks(), encoding))
        value = _json.decoded(read)
    except (_body.BadBody, _json.NotJson):
        return

    assert json.loads(read.removeprefix(b"\xef\xbb\xbf")) == value


def test_a_first_429_is_waited_out_and_said(raw: Any) -> None:
    """The call is sent once more after the time that the skill asked for."""

    async def behave(request: Any, writer: asyncio.StreamWriter) -> None:
        late = request.nth > 0
        await (raw.answering(b"1") if late else raw.answering(b"", "Retry-After: 0", status="429 No"))(request, writer)

    called = raw.call(behave)

    assert reply(called.only) == Value(1)
    assert called.only.waited_ms > 0
    assert len(called.server.requests) == 2


def test_a_second_429_is_a_refusal(raw: Any) -> None:
    """A skill that goes on refusing is called twice, not for ever."""
    called = raw.call(raw.answering(b"slow down", "Retry-After: 0", status="429 No"))

    assert isinstance(reply(called.only), Refused)
    assert len(called.server.requests) == 2


@pytest.mark.parametrize(
    "after",
    [
        *("600", "-1", "1e1", "soon", "", "9" * 400, "٣"),
        format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True),
        "Mon, 99 Foo 99999 99:99:99 GMT",
    ],
)
def test_a_429_that_asks_for_too_much_or_nonsense_is_a_refusal(raw: Any, after: str) -> None:
    """Only a wait that is bounded and fits into the deadline is waited."""
    called = raw.call(raw.answering(b"", f"Retry-After: {after}", status="429 No"))

    assert isinstance(reply(called.only), Refused)
    assert len(called.server.requests) == 1


def test_a_date_in_the_past_is_waited_out(raw: Any) -> None:
    """Retry-After may be a date."""
    past = format_datetime(datetime.now(UTC) - timedelta(hours=1), usegmt=True)

    assert len(raw.call(raw.answering(b"", f"Retry-After: {past}", status="429 No")).server.requests) == 2


def test_one_caller_keeps_its_connection_and_no_cookies(raw: Any) -> None:
    """Calls of the main caller reuse a connection; what the skill wants remembered is not."""
    called = raw.call(raw.answering(b"1", "Set-Cookie: session=1"), callers=("main", "main", "main"))

    assert called.server.connections == 1
    assert [request.header("cookie") for request in called.server.requests] == [None] * 3


def test_different_callers_share_no_connection(raw: Any) -> None:
    """To the skill they are two users."""
    called = raw.call(raw.answering(b"1"), callers=("main", "other", "main", "other", "third"))

    connections = [request.connection for request in called.server.requests]
    assert connections[0] == connections[2]
    assert len(set(connections)) == 4


def test_a_connection_that_had_gone_stale_is_replaced(raw: Any) -> None:
    """A server that closes an idle connection as we use it costs the skill nothing."""

    async def behave(request: Any, writer: asyncio.StreamWriter) -> None:
        if request.nth:
            writer.close()
        else:
            await raw.answering(b"1")(request, writer)

    called = raw.call(behave, callers=("main",) * 4)

    assert [reply(observation) for observation in called.observations] == [Value(1)] * 4
    # One stale connection, then a fresh one for each call: the origin is known to cut.
    assert [(request.connection, request.nth) for request in called.server.requests] == [
        *((0, 0), (0, 1), (1, 0), (2, 0), (3, 0))
    ]


def test_a_fresh_connection_that_is_cut_is_the_skills_doing(raw: Any) -> None:
    """Nothing is sent twice where the connection was new."""
    called = raw.call(raw.sending(b""))

    assert called.only.reason == "it closed the connection without an answer"
    assert len(called.server.requests) == 1


def test_a_cut_after_the_first_byte_is_not_repeated(raw: Any) -> None:
    """Whatever arrived of an answer makes the call the skill's."""

    async def behave(request: Any, writer: asyncio.StreamWriter) -> None:
        await (raw.sending(b"HTTP/1.1 200 OK\r\nContent-Le") if request.nth else raw.answering(b"1"))(request, writer)

    called = raw.call(behave, callers=("main", "main"))

    assert isinstance(called.observations[1], Broke)
    assert len(called.server.requests) == 2


def test_a_bearer_token_is_sent_and_redacted(raw: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The secret reaches the skill and nobody else, even where the skill repeats it."""
    monkeypatch.setenv("TOOL_TOKEN", "s3cret/token-value")
    monkeypatch.setattr(secrets, "_granted", ("TOOL_TOKEN",))

    async def behave(request: Any, writer: asyncio.StreamWriter) -> None:
        said = json.dumps({"you": request.header("authorization"), "php": "s3cret\\/token-value"}).encode()
        await raw.answering(said.replace(b"\\\\/", b"\\/"), "X-Echo: s3cret/token-value")(request, writer)

    called = raw.call(behave, auth={"type": "bearer", "token": "env:TOOL_TOKEN"})

    assert called.server.requests[0].header("authorization") == "Bearer s3cret/token-value"
    assert reply(called.only) == Value({"you": "Bearer [redacted]", "php": "[redacted]"})
    assert "s3cret" not in repr(called.only)


def test_basic_authentication_is_sent_and_redacted(raw: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name is the manifest's, the password the environment's; neither it nor the header comes back."""
    monkeypatch.setenv("TOOL_PASSWORD", "0pen-sesame/7")
    monkeypatch.setattr(secrets, "_granted", ("TOOL_PASSWORD@127.0.0.1",))

    async def behave(request: Any, writer: asyncio.StreamWriter) -> None:
        said = json.dumps({"you": request.header("authorization")}).encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(said) + said)

    called = raw.call(behave, auth={"type": "basic", "token": "env:TOOL_PASSWORD", "username": "ada"})

    header = called.server.requests[0].header("authorization")
    assert base64.b64decode(header.removeprefix("Basic ")) == b"ada:0pen-sesame/7"
    assert isinstance(called.only, Answered)
    assert secrets.REDACTED.encode() in called.only.body
    assert header.encode() not in called.only.body


def test_a_target_keeps_its_origin() -> None:
    """A secret that was granted for one host goes to no other, whatever path an adapter makes."""
    target = Target(httpx.URL("https://a.example/v1?x=1"), None, "agent")

    moved = target.at(httpx.URL("https://a.example/tasks/1"))

    assert str(moved.request("192.0.2.1", b"").url) == "https://192.0.2.1/tasks/1"
    assert str(target.request("192.0.2.1", b"").url) == "https://192.0.2.1/v1?x=1"
    for other in ("https://b.example/", "http://a.example/", "https://a.example:8443/"):
        with pytest.raises(BadJob):
            target.at(httpx.URL(other))


def test_a_header_of_one_request_replaces_the_targets() -> None:
    """A protocol that wants another Accept does not send two."""
    target = Target(httpx.URL("https://a.example/"), None, "agent", (("X-Own", "1"),))

    request = target.request("192.0.2.1", b"", (("accept", "text/event-stream"),), "GET")

    assert request.headers.get_list("accept") == ["text/event-stream"]
    assert (request.method, request.headers["x-own"], request.headers["host"]) == ("GET", "1", "a.example")


def test_an_api_key_goes_into_its_header(raw: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The header's name is the skill's choice."""
    monkeypatch.setenv("TOOL_KEY", "0123456789")
    monkeypatch.setattr(secrets, "_granted", ("TOOL_*@127.0.0.1",))

    called = raw.call(raw.answering(b"1"), auth={"type": "api_key", "token": "env:TOOL_KEY", "header": "X-Tool"})

    assert called.server.requests[0].header("x-tool") == "0123456789"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"auth": {"type": "bearer", "token": "env:MISSING_TOKEN"}}, "no MISSING_TOKEN"),
        ({"auth": {"type": "bearer", "token": "plain-secret"}}, "never the secret itself"),
        ({"auth": {"type": "bearer", "token": "env:BROKEN_TOKEN"}}, "what BROKEN_TOKEN holds"),
        ({"auth": {"type": "api_key", "token": "env:GOOD_TOKEN", "header": "Host"}}, "'Host'"),
        ({"auth": {"type": "api_key", "token": "env:GOOD_TOKEN", "header": "A: b\r\nC"}}, "header of an API key"),
        ({"auth": {"type": "digest"}}, "digest"),
        ({"body": "form"}, "form"),
        ({"bdoy": "inputs"}, "bdoy"),
    ],
)
def test_unusable_options_are_a_bad_job(
    raw: Any, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], message: str
) -> None:
    """Options are parsed strictly; a missing variable is named, its value never shown."""
    monkeypatch.setenv("BROKEN_TOKEN", "hidden\r\nX-Evil: 1")
    monkeypatch.setenv("GOOD_TOKEN", "0123456789")
    monkeypatch.delenv("MISSING_TOKEN", raising=False)
    monkeypatch.setattr(secrets, "_granted", ("BROKEN_TOKEN", "GOOD_TOKEN", "MISSING_TOKEN"))

    with pytest.raises(BadJob, match=message) as caught:
        raw.call(raw.answering(b"1"), **options)

    assert "hidden" not in str(caught.value)
    assert "plain-secret" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        *("ftp://127.0.0.1/", "http://", "x", "", "http://user:word@127.0.0.1/", "http://127.0.0.1:99999/"),
        *("http://127.0.0.1:0/", "http://xn--/", "http://a\x00b/", "http://[::1/", "file:///etc/passwd"),
    ],
)
def test_an_endpoint_that_is_no_http_url_is_a_bad_job(raw: Any, url: str) -> None:
    """Nothing is sent, and a password in the address is not repeated."""
    with pytest.raises(BadJob) as caught:
        raw.call(raw.answering(b"1"), url=url)

    assert "word@" not in str(caught.value)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.1"])
def test_a_private_address_is_refused_without_a_connection(raw: Any, host: str) -> None:
    """Literals and names alike."""
    with pytest.raises(BadJob, match=r"--allow-network 127\.0\.0\.0/8"):
        raw.call(raw.answering(b"1"), url=f"http://{host}:{{port}}/", allow=())


@pytest.mark.parametrize("host", ["localhost", "127.1", "0x7f.1"])
def test_the_connection_goes_to_the_checked_address_and_host_keeps_the_name(raw: Any, host: str) -> None:
    """What the skill reads as Host is what its publisher wrote."""
    called = raw.call(raw.answering(b"1"), url=f"http://{host}:{{port}}/")

    assert reply(called.only) == Value(1)
    assert called.server.requests[0].header("host") == f"{host}:{called.server.port}"


def test_tls_is_checked_against_the_name(raw: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the address pinned, SNI and certificate are still those of the name."""
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    names: list[str | None] = []
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(CERTIFICATE)
    tls.sni_callback = lambda _, name, __: names.append(name)

    right = raw.call(raw.answering(b"1"), tls=tls, url="https://localhost:{port}/")
    wrong = raw.call(raw.answering(b"1"), tls=tls, url="https://127.0.0.1:{port}/")

    assert reply(right.only) == Value(1)
    assert names[0] == "localhost"
    assert "certificate" in wrong.only.reason


def test_an_unknown_certificate_is_the_skills(raw: Any) -> None:
    """A skill that nobody vouches for is not called."""
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(CERTIFICATE)

    called = raw.call(raw.answering(b"1"), tls=tls, url="https://localhost:{port}/")

    assert called.only.reason.startswith("TLS: the certificate does not hold")
    assert called.server.requests == []


def test_the_request_for_the_latency_probe_is_the_one_that_is_sent(raw: Any) -> None:
    """Same line, same headers, same body."""
    called = raw.call(raw.answering(b"1"), inputs={"a": "é"})
    sent = called.server.requests[0]

    request = http.open().request(raw.skill_at(f"http://127.0.0.1:{called.server.port}/call?x=1"), {"a": "é"})

    assert (request.method, request.url) == ("POST", f"http://127.0.0.1:{called.server.port}/call?x=1")
    assert request.body == sent.body
    lines = {line.lower() for line in sent.head.decode().split("\r\n")[1:] if line}
    assert lines == {f"{name}: {value}".lower() for name, value in request.headers}


def test_a_name_that_cannot_be_looked_up_now_is_our_fault(raw: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known of the skill."""

    def failing(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(socket.EAI_AGAIN, "try again")

    monkeypatch.setattr(socket, "getaddrinfo", failing)

    with pytest.raises(FleetFault):
        raw.call(raw.answering(b"1"), url="http://skill.example:{port}/")


def test_inputs_that_are_no_json_are_a_bad_job(raw: Any) -> None:
    """A job that cannot be sent is not the skill's fault."""
    with pytest.raises(BadJob, match="as JSON"):
        raw.call(raw.answering(b"1"), inputs={"a": "\ud800"})
