"""Values that are derived for each job, probe and attempt."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.canaries import NAMES, NUMBERS, WORDS, Canaries


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
    """Words of letters only; operands of two digits whose sum has three."""
    canaries = Canaries(job, probe, attempt)

    assert all(re.fullmatch("[a-z]{10}", canaries.value(name)) for name in WORDS)
    assert all(re.fullmatch("[0-9]{2}", canaries.value(name)) for name in NUMBERS)
    assert 100 <= sum(canaries.number(name) for name in NUMBERS) <= 999
    assert not re.search("[0-9{}<>]", canaries.sentence("benign_head"))


def test_an_unknown_placeholder_is_a_key_error() -> None:
    """There is no value for it."""
    with pytest.raises(KeyError):
        Canaries("j", "p", "1").value("no_such")
