"""Reading what came back."""

from __future__ import annotations

import base64
import codecs
import html
import json
import urllib.parse
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workers.observation import Answered, Broke, Refused, TimedOut, Value
from workers.scanning import MAX_CHARS, MAX_VIEWS, Scan

WITNESS = "vobukadire128lamipotesu"


def answer(body: bytes, *, value: Any = None, headers: tuple[tuple[str, str], ...] = (), status: int = 200) -> Answered:
    """An answer with *body*; read as *value* where that is given."""
    reply = Refused("no") if value is None else Value(value)
    return Answered(status=status, headers=headers, body=body, elapsed_ms=1.0, reply=reply)


def tagged(text: str) -> str:
    """*text* in Unicode's invisible tag characters."""
    return "".join(chr(0xE0000 + ord(letter)) for letter in text)


HIDDEN = {
    "plain": WITNESS,
    "with separators": "vobukadire - 128\n**lamipotesu**",
    "upper case": WITNESS.upper(),
    "full width": WITNESS.translate({code: code + 0xFEE0 for code in range(0x21, 0x7F)}),
    "zero width": "\u200b".join(WITNESS),
    "soft hyphens": "\u00ad".join(WITNESS),
    "tags": f"nothing to see{tagged(WITNESS)}",
    "base64": base64.b64encode(WITNESS.encode()).decode(),
    "base64 without padding": base64.urlsafe_b64encode(WITNESS.encode()).decode().rstrip("="),
    "base64 in lines": base64.encodebytes((WITNESS + " " * 80).encode()).decode(),
    "hex": WITNESS.encode().hex(),
    "spaced hex": WITNESS.encode().hex(" "),
    "escaped hex": "".join(f"\\x{byte:02x}" for byte in WITNESS.encode()),
    "url": "".join(f"%{byte:02x}" for byte in WITNESS.encode()),
    "html": "".join(f"&#{ord(letter)};" for letter in WITNESS),
    "rot13": codecs.encode(WITNESS, "rot13"),
    "markup": "<p>vobukadire</p><p><b class='sum'>128</b>lamipotesu</p>",
    "json escapes": "".join(f"\\u{ord(letter):04x}" for letter in WITNESS),
    "twice": base64.b64encode(WITNESS.encode().hex().encode()).decode(),
    "url in html": html.escape(urllib.parse.quote(base64.b64encode(WITNESS.encode()).decode())),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_the_witness_is_found_however_it_is_wrapped(name: str) -> None:
    """In the body, in a string of its JSON, in a key, in a header."""
    text = HIDDEN[name]
    document = {"a": [1, {"b": f"Here: {text}" if name != "base64 in lines" else text}]}

    assert Scan(answer(json.dumps(document).encode(), value=document)).find(WITNESS)
    assert Scan(answer(json.dumps({text: 1}).encode(), value={text: 1})).find(WITNESS)
    assert Scan(answer(text.encode())).find(WITNESS)
    assert Scan(answer(b"", headers=(("x-note", text),))).find(WITNESS)


def test_a_witness_spread_over_the_answer_is_found() -> None:
    """A list of its parts is as good as one string."""
    document = ["vobukadire", 128, "lamipotesu"]

    assert Scan(answer(json.dumps(document).encode(), value=document)).find(WITNESS)


def test_a_text_dealt_out_over_members_is_found() -> None:
    """Whatever the members are called; but it is nothing that the skill said in one piece."""
    document = {"first": {"part": WITNESS[:7]}, "second": [{"part": WITNESS[7:12]}, {"part": WITNESS[12:]}]}

    scan = Scan(answer(json.dumps(document).encode(), value=document))

    view = scan.find(WITNESS)
    assert view is not None
    assert view.where == "members joined"
    assert view not in list(scan.texts())


def test_a_text_in_code_points_is_read() -> None:
    """A row of numbers that are letters; a row that holds anything else is no text."""
    codes: list[Any] = [ord(letter) for letter in WITNESS]

    told, other, half = (Scan(answer(b"{}", value={"codes": row})) for row in (codes, [*codes, 1.5], [0xD800, *codes]))

    assert (view := told.find(WITNESS)) is not None
    assert view.where == "body /codes codes"
    assert other.find(WITNESS) is None
    assert half.find(WITNESS) is None


def test_the_place_of_a_hit_is_named() -> None:
    """A JSON pointer, and what had to be undone."""
    document = {"a": [0, base64.b64encode(WITNESS.encode()).decode()]}

    view = Scan(answer(json.dumps(document).encode(), value=document)).find(WITNESS)

    assert view is not None
    assert view.where == "body /a/1 > base64"
    assert view.quote() == WITNESS


def test_nothing_comes_back_from_a_call_that_was_not_answered() -> None:
    """No answer, no views."""
    assert Scan(TimedOut(elapsed_ms=1.0, deadline_ms=1.0)).views == []
    assert Scan(Broke(reason="cut", elapsed_ms=1.0)).views == []


@pytest.mark.parametrize("text", [WITNESS + "x " * 600_000, "x " * 600_000 + WITNESS])
def test_filling_does_not_hide_the_witness(text: str) -> None:
    """Both ends of a long text are read."""
    assert Scan(answer(json.dumps([text]).encode(), value=[text])).find(WITNESS)
    assert Scan(answer(text.encode())).find(WITNESS)


def test_an_empty_needle_is_in_nothing() -> None:
    """Or every answer would hold it."""
    assert Scan(answer(b"anything")).find(" - ") is None


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400), st.lists(st.tuples(st.text(max_size=20), st.text(max_size=60)), max_size=3))
def test_any_bytes_are_scanned(body: bytes, headers: list[tuple[str, str]]) -> None:
    """A skill cannot make the scanner fail."""
    scan = Scan(answer(body, headers=tuple(headers)))

    assert scan.find(WITNESS) is None
    assert all(isinstance(view.quote("x"), str) for view in scan.views)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
)


@settings(max_examples=100, deadline=None)
@given(JSON)
def test_any_json_is_scanned(document: Any) -> None:
    """Every string in it is a view, unless the same text came before."""
    scan = Scan(answer(b"", value=document))

    def strings(value: Any) -> set[str]:
        if isinstance(value, dict):
            return set(value).union(*map(strings, value.values()))
        if isinstance(value, list):
            return set().union(*map(strings, value))
        return {value} if isinstance(value, str) else set()

    assert {text for text in strings(document) if text} <= {view.text for view in scan.views}


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 1_000_000,
        b'{"a":' * 200_000,
        b'"' + b"QUJD" * 300_000 + b'"',
        b"%25" * 400_000,
        b"&amp;" * 300_000,
        b"QUJDREVGR0hJSktMTU5PUA " * 50_000,
        b"ff " * 400_000,
        "\U000e0041".encode() * 250_000,
        b"\\u0041" * 200_000,
        b"[" + b'"a%25b",' * 100_000 + b'""]',
        bytes(range(256)) * 4_000,
    ],
)
def test_the_work_is_bounded_whatever_is_sent(body: bytes) -> None:
    """Views and characters stay below their limits."""
    scan = Scan(answer(body))

    assert len(scan.views) <= MAX_VIEWS
    assert sum(len(view.text) for view in scan.views) <= MAX_CHARS
    assert scan.find(WITNESS) is None


def test_deeply_nested_json_is_walked_without_recursion() -> None:
    """A decoded answer may be as deep as its decoder allows."""
    document: Any = WITNESS
    for _ in range(900):
        document = [document]

    assert Scan(answer(b"", value=document)).find(WITNESS)


def test_what_is_left_out_is_admitted() -> None:
    """An answer that is too long to be read in full says so."""
    leaves = [f"{number:05d}" * 400 for number in range(2_000)]

    assert Scan(answer(b"", value=leaves)).cut
    assert not Scan(answer(b"", value=leaves[:3])).cut
