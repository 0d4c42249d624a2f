from __future__ import annotations

import os
import signal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator.source import parser as module
from coordinator.source.facts import Kind
from coordinator.source.parser import Parser, Unparsed, parser
from coordinator.source.parsing import Asked, parse


@pytest.mark.parametrize(
    ("suffix", "data"),
    [
        (".py", b"(" * 100_000),
        (".py", b"x=" + b"-" * 500_000 + b"1"),
        (".py", b"a" + b".b" * 200_000),
        (".py", b"1+" * 200_000 + b"1"),
        (".py", b"\0"),
        (".py", b"# coding: nonsense\nx"),
        (".py", b"x = '\xff'"),
        (".js", b"\xff\xfe\0a"),
        (".js", b"(" * 300_000),
        (".ts", b"[{" * 200_000),
    ],
)
def test_hostile_file_has_no_facts_and_is_to_blame_itself(suffix: str, data: bytes) -> None:
    """What cannot be parsed, however it tries, is told as the file's own fault, and the next file is parsed."""
    with pytest.raises(Unparsed) as no:
        parser().facts(suffix, data)

    assert not no.value.ours
    assert parser().facts(".py", b"import os\nos.system('x')").uses[0].kind is Kind.PROCESS


def test_parser_that_was_ended_from_outside_is_our_fault() -> None:
    """A killed process blames no file, and the parser works again afterwards."""
    one = Parser()
    one.facts(".py", b"x")
    assert one._process is not None
    os.kill(one._process.pid, signal.SIGKILL)

    with pytest.raises(Unparsed) as no:
        one.facts(".py", b"x")

    assert no.value.ours
    assert one.facts(".py", b"y").words == {"y"}
    one.close()


def test_process_is_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    """After so many files another process goes on."""
    monkeypatch.setattr(module, "FILES", 1)
    one = Parser()
    one.facts(".py", b"x")
    first = one._process

    one.facts(".py", b"x")

    assert one._process is not first
    one.close()


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([".py", ".js", ".ts", ".tsx"]), st.text(alphabet="fgx(){}[]=.,:;'\"`$+/ \n*", max_size=120))
def test_any_text_has_facts_or_a_reason(suffix: str, text: str) -> None:
    """No text makes the reader fail in another way."""
    answer = parse(Asked(suffix, text.encode()))

    assert (answer.facts is None) == bool(answer.reason)
