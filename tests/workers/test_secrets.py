"""Which variables may be sent where, and what is left of them in what comes back."""

from __future__ import annotations

import base64
import json
from html import escape
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers import secrets
from workers.faults import BadJob
from workers.secrets import REDACTED, Redactor

SECRET = "s3cret/t0ken+v=lue"


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_granted", ())
    monkeypatch.setenv("WEATHER_TOKEN", SECRET)


def test_nothing_is_sent_unless_granted() -> None:
    """The refusal says what to set, bound to the host in question, and never shows the value."""
    with pytest.raises(BadJob) as caught:
        secrets.resolve("env:WEATHER_TOKEN", "api.example.com", 443)

    assert "--auth-env WEATHER_TOKEN@api.example.com" in str(caught.value)
    assert "SKILLMARK_AUTH_ENV" in str(caught.value)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "entry",
    ["WEATHER_TOKEN", "WEATHER_*", "WEATHER_TOKEN@api.example.com", "WEATHER_*@API.example.com:443"],
)
def test_a_grant_names_a_variable_and_perhaps_a_host(entry: str) -> None:
    """A name, or the start of one and a star; with a host, and perhaps its port, for that host alone."""
    secrets.grant([entry])

    assert secrets.resolve("env:WEATHER_TOKEN", "api.example.com", 443) == SECRET


@pytest.mark.parametrize(
    "entry",
    ["WEATHER", "weather_token", "*", "TOKEN*", "WEATHER_TOKEN@example.com", "WEATHER_TOKEN@api.example.com:8443",
     "WEATHER_TOKEN@api.example.com.evil.example", "@api.example.com", ""],
)  # fmt: skip
def test_a_grant_covers_nothing_else(entry: str) -> None:
    """Neither part of a name nor part of a host is enough."""
    secrets.grant([entry])

    with pytest.raises(BadJob, match="may not be sent"):
        secrets.resolve("env:WEATHER_TOKEN", "api.example.com", 443)


def test_a_later_grant_replaces_the_former() -> None:
    """What a process may send is said once, as a whole."""
    secrets.grant(["WEATHER_TOKEN"])
    secrets.grant(["OTHER"])

    with pytest.raises(BadJob):
        secrets.resolve("env:WEATHER_TOKEN", "api.example.com", 443)


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("SKILLMARK_STORE", "SKILLMARK_STORE"),
        ("SKILLMARK_STORE", "S*"),
        ("EVAL_SKILLS_LLM_KEY", "EVAL_SKILLS_LLM_KEY@api.example.com"),
        ("eval_skills_llm_key", "eval_skills_llm_key"),
    ],
)
def test_our_own_are_never_sent(name: str, entry: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is granted: a slip of the operator's must not give the judge's key to a skill."""
    monkeypatch.setenv(name, SECRET)
    secrets.grant([entry])

    with pytest.raises(BadJob, match="skillmark's own"):
        secrets.resolve(f"env:{name}", "api.example.com", 443)


@pytest.mark.parametrize("entry", ["WEATHER_TOKEN", "WEATHER_TOKEN@api.example.com"])
def test_without_tls_the_port_must_be_granted(entry: str) -> None:
    """A manifest that writes http where the operator thought of https does not get the secret in the clear."""
    secrets.grant([entry])

    with pytest.raises(BadJob, match=r"--auth-env WEATHER_TOKEN@api\.example\.com:80 allows"):
        secrets.resolve("env:WEATHER_TOKEN", "api.example.com", 80, secure=False)
    secrets.grant([f"{entry.partition('@')[0]}@api.example.com:80"])
    assert secrets.resolve("env:WEATHER_TOKEN", "api.example.com", 80, secure=False) == SECRET


@pytest.mark.parametrize(("host", "entry"), [
    ("127.0.0.1", "WEATHER_TOKEN@127.0.0.1"), ("localhost", "WEATHER_TOKEN"), ("::1", "WEATHER_TOKEN@[::1]"),
    ("[::1]", "WEATHER_TOKEN@[::1]:8000"),
])  # fmt: skip
def test_this_machine_needs_no_tls(host: str, entry: str) -> None:
    """Nothing of it passes a network."""
    secrets.grant([entry])

    assert secrets.resolve("env:WEATHER_TOKEN", host, 8000, secure=False) == SECRET


@pytest.mark.parametrize("reference", [SECRET, "WEATHER_TOKEN", "env:", "env:A B", "env:WEATHER_TOKEN\n", "$HOME"])
def test_only_references_are_taken(reference: str) -> None:
    """A value in the place of a reference is refused and not shown."""
    secrets.grant(["WEATHER_TOKEN"])

    with pytest.raises(BadJob, match="never the secret itself") as caught:
        secrets.resolve(reference, "api.example.com", 443)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("value", "said"),
    [("", "has no"), ("   ", "has no"), ("two\nlines of it", "cannot be sent"), ("pässword", "cannot be sent"),
     ("short", "shorter than 8")],
)  # fmt: skip
def test_what_cannot_be_sent_or_redacted_is_refused(value: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A header takes one line of ASCII; what is too short could not be taken out of an answer."""
    monkeypatch.setenv("WEATHER_TOKEN", value)
    secrets.grant(["WEATHER_TOKEN"])

    with pytest.raises(BadJob, match=said):
        secrets.resolve("env:WEATHER_TOKEN", "api.example.com", 443)


@pytest.mark.parametrize(
    "spelling",
    [SECRET, json.dumps(SECRET)[1:-1].replace("/", "\\/"), quote(SECRET, safe=""), quote(SECRET), escape(SECRET),
     base64.b64encode(SECRET.encode()).decode(), base64.urlsafe_b64encode(SECRET.encode()).decode(),
     SECRET.encode().hex(), SECRET.encode().hex().upper(), quote(SECRET, safe="").lower(),
     "".join(f"%{byte:02X}" for byte in SECRET.encode())],
)  # fmt: skip
def test_every_spelling_is_redacted(spelling: str) -> None:
    """As it is, escaped, URL-encoded, base64 and hex."""
    redactor = Redactor(SECRET)

    assert REDACTED in redactor.text(f"a {spelling} b")
    assert spelling.rstrip("=")[2:-3] not in redactor.text(f"a {spelling} b")
    assert redactor.body(b'{"a": "' + spelling.encode() + b'"}').count(REDACTED.encode()) == 1


def test_unicode_escapes_in_a_json_body_are_seen_through() -> None:
    """JSON may spell any letter by its number."""
    body = b'{"' + "".join(f"\\u{ord(c):04x}" for c in SECRET).encode() + b'": 1}'

    assert json.loads(Redactor(SECRET).body(body)) == {REDACTED: 1}


@given(
    secret=st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=12, max_size=40),
    before=st.binary(max_size=5),
    after=st.binary(max_size=5),
)
def test_a_secret_inside_base64_is_found_at_any_offset(secret: str, before: bytes, after: bytes) -> None:
    """What stands around it shifts its letters; one or two letters at either end say nothing of it alone."""
    told = base64.b64encode(before + secret.encode() + after)

    redacted = Redactor(secret).body(told)

    taken_out = len(told) - (len(redacted) - len(REDACTED))
    assert REDACTED.encode() in redacted
    assert taken_out >= len(secret) * 8 // 6 - 2


@given(st.binary(max_size=200))
def test_what_holds_no_secret_stays_as_it_is(body: bytes) -> None:
    """Redaction changes nothing else, and nothing at all where there is no secret."""
    assert Redactor("").body(body) == body
    if SECRET.encode() not in body:
        assert Redactor(SECRET).body(body) == body
