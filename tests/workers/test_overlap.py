"""Word-for-word overlap of two texts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workers.folding import fold
from workers.overlap import longest_shared

PROMPT = "You are Grocer, the assistant of a small shop. Always answer in one sentence and never mention suppliers."


def test_the_longest_shared_run_is_found() -> None:
    """Whatever stands around it, however it is cased and spaced."""
    shared = longest_shared(f"Sure! {PROMPT.upper()} Bye.", f"> {PROMPT.replace(' ', '  ')}", [], at_least=60)

    assert shared.strip() == PROMPT.casefold()


def test_a_shorter_run_is_none() -> None:
    """Common phrases are shared by anything."""
    assert longest_shared(PROMPT, PROMPT, [], at_least=len(PROMPT) + 1) == ""
    assert longest_shared(PROMPT[:50] + "x" * 60, PROMPT, [], at_least=60) == ""


def test_known_text_is_a_gap() -> None:
    """What the manifest says already is not shared in secret."""
    assert longest_shared(PROMPT, PROMPT, [PROMPT], at_least=60) == ""
    assert longest_shared(PROMPT, PROMPT, [f"It says: {PROMPT[40:75]}"], at_least=60) == ""
    assert longest_shared(PROMPT, PROMPT, ["something else entirely, of some length"], at_least=60) != ""


@given(st.text(alphabet="ab c", max_size=80), st.text(alphabet="ab c", max_size=80), st.integers(1, 20))
def test_it_agrees_with_the_plain_definition(text: str, other: str, at_least: int) -> None:
    """Compared with trying every stretch."""
    mine, theirs = fold(text), fold(other)
    runs = {mine[start:end] for start in range(len(mine)) for end in range(start + 1, len(mine) + 1)}
    longest = max((len(run) for run in runs if run in theirs), default=0)

    shared = longest_shared(text, other, [], at_least=at_least)

    assert shared == "" or shared in mine
    assert (len(shared) >= at_least) == (longest >= at_least)
