"""Values that are derived for each job, probe and attempt."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workers.canaries import LARGE, NAMES, WORDS, Addresses, Canaries


def test_the_same_attempt_of_the_same_job_gives_the_same_values() -> None:
    """So an answer that was kept can be judged again."""
    assert [Canaries("j", "p", "1").value(name) for name in sorted(NAMES)] == [
        Canaries("j", "p", "1").value(name) for name in sorted(NAMES)
    ]


def test_nothing_repeats_between_jobs_probes_attempts_and_names() -> None:
    """A word that turns up names the one attempt that it was made for."""
    attempts = [(job, probe, str(turn)) for job in "abcde" for probe in "pqrst" for turn in range(20)]

    words = [Canaries(*attempt).word(name) for attempt in attempts for name in WORDS]

    assert len(set(words)) == len(words) == 2_000


@given(st.text(), st.text(), st.text())
def test_values_have_their_shape_whatever_the_ids_are(job: str, probe: str, attempt: str) -> None:
    """Words of letters only; two-digit operands whose sum has three, five-digit ones whose product has nine or ten."""
    canaries = Canaries(job, probe, attempt)

    assert all(re.fullmatch("[a-z]{10}", canaries.value(name)) for name in WORDS)
    assert all(re.fullmatch("[0-9]{2}", canaries.value(name)) for name in ("x", "y"))
    assert 100 <= canaries.number("x") + canaries.number("y") <= 999
    assert all(re.fullmatch("[0-9]{5}", canaries.value(name)) for name in LARGE)
    assert 9 <= len(str(canaries.number("p") * canaries.number("q"))) <= 10
    assert not re.search("[0-9{}<>]", canaries.sentence("benign_head"))


def test_an_unknown_placeholder_is_a_key_error() -> None:
    """There is no value for it."""
    with pytest.raises(KeyError):
        Canaries("j", "p", "1").value("no_such")


@given(st.text(), st.text())
def test_an_equation_and_its_contradiction_differ_in_one_number(job: str, attempt: str) -> None:
    """Whoever tells them apart has multiplied."""
    canaries = Canaries(job, "p", attempt)

    product, result = canaries.value("equation").split("=")
    same_product, other = canaries.value("contradiction").split("=")

    left, right = map(int, product.split("*"))
    assert (product, left * right) == (same_product, int(result))
    assert int(other) != int(result)


def test_remainders_are_those_of_six_powers() -> None:
    """As any interpreter works them out."""
    canaries = Canaries("j", "p", "1")

    base, modulus = canaries.number("p"), canaries.number("q")

    assert canaries.value("remainders") == "".join(str(base**power % modulus) for power in range(3, 9))


@settings(deadline=None)
@given(job=st.text(max_size=10))
def test_a_filled_word_is_what_a_format_of_that_width_gives(job: str) -> None:
    """The class's name, behind as many letters as the width leaves."""
    canaries = Canaries(job, "p", "1")

    assert canaries.value("filled") == f"{{0.__class__.__class__.__name__:k>{canaries.number('x')}}}".format("a")


def test_each_callback_has_a_token_of_its_own_at_its_class_of_address() -> None:
    """So a call says which address was called, by whom, in which attempt."""
    canaries = Canaries("j", "p", "1", addresses=Addresses(public="http://out.example", internal="http://in.example"))

    urls = [canaries.value("callback"), canaries.value("redirect"), canaries.value("internal"), canaries.redirected()]

    assert len({url.rpartition("/")[2] for url in urls}) == 4
    assert [url.rpartition("/")[0] for url in urls] == ["http://out.example"] * 2 + ["http://in.example"] * 2


@given(st.text())
def test_an_example_brings_no_quotes_of_its_own(example: str) -> None:
    """An attack that closes quotes would be spoilt by them."""
    assert not re.search(r"['\"`\\\\\x00-\x1f]", Canaries("j", "p", "1", example=example).value("example"))


@given(st.text(max_size=50))
def test_code_stands_behind_the_example_as_it_is(example: str) -> None:
    """Where there is none, behind a number."""
    canaries = Canaries("j", "p", "1", example=example)

    assert canaries.value("verbatim") == (example or "0")
    assert canaries.within("part").given == example
