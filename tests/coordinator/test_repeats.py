"""Repeats: how often a task is run, and pass@k."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.loader import BenchmarkError
from coordinator.repeats import Repeats, of_benchmark, pass_at_k
from tests.coordinator.test_tasks import benchmark, exact


@given(st.integers(1, 8), st.data())
def test_pass_at_k_is_the_share_of_draws_with_a_pass(n: int, data: st.DataObject) -> None:
    """Unbiased: exactly the part of all draws of k runs that hold a passed one."""
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    draws = list(itertools.combinations([True] * c + [False] * (n - c), k))

    assert pass_at_k(n, c, k) == pytest.approx(float(Fraction(sum(map(any, draws)), len(draws))), abs=1e-12)


@pytest.mark.parametrize(("n", "c", "k", "share"), [(5, 0, 3, 0.0), (5, 5, 3, 1.0), (5, 3, 3, 1.0), (10, 3, 1, 0.3)])
def test_pass_at_k_at_its_ends(n: int, c: int, k: int, share: float) -> None:
    """None passed is 0 and never more; fewer failures than k is 1."""
    assert pass_at_k(n, c, k) == pytest.approx(share)


def test_large_counts_lose_nothing() -> None:
    """Two hundred runs are within reach of whole numbers, not of floats' factorials."""
    assert pass_at_k(200, 1, 100) == 0.5


@pytest.mark.parametrize(("n", "c", "k"), [(3, 4, 1), (3, -1, 1), (3, 1, 4), (3, 1, 0), (0, 0, 1)])
def test_what_is_no_estimate_is_refused(n: int, c: int, k: int) -> None:
    """More passes than runs, or fewer runs than k."""
    with pytest.raises(ValueError, match="no estimate"):
        pass_at_k(n, c, k)


@pytest.mark.parametrize(
    ("document", "asked", "expected"),
    [
        ({"scoringMethod": "mean", "metadata": {"k": 3, "n": 9}}, Repeats(n=2), Repeats(n=2)),
        ({"metadata": {"k": 2, "n": 6}}, Repeats(), Repeats(n=6, k=2)),
        ({"k": 2, "n": 6}, Repeats(), Repeats(n=6, k=2)),
        ({"metadata": {"k": 4}}, Repeats(), Repeats(n=4, k=4)),
        ({}, Repeats(), Repeats(n=1, k=1)),
        ({"metadata": {"k": 2, "n": 6}}, Repeats(n=10), Repeats(n=10, k=2)),
        ({"metadata": {"k": 2, "n": 6}}, Repeats(n=10, k=5), Repeats(n=10, k=5)),
        ({}, Repeats(k=3), Repeats(n=3, k=3)),
    ],
)
def test_k_and_n_come_from_whoever_was_asked_last(
    tmp_path: Path, document: dict[str, Any], asked: Repeats, expected: Repeats
) -> None:
    """The command line before the benchmark, the benchmark before one run; no k without pass_at_k."""
    mine = benchmark(tmp_path, exact(1), **{"scoringMethod": "pass_at_k", **document})

    assert of_benchmark(mine, asked) == expected


@pytest.mark.parametrize(
    ("metadata", "asked", "pointer"),
    [
        ({"k": 0}, Repeats(), "/metadata/k"),
        ({"k": True}, Repeats(), "/metadata/k"),
        ({"n": "many"}, Repeats(), "/metadata/n"),
        ({"n": 10**9}, Repeats(), "/metadata/n"),
        ({"k": 5, "n": 3}, Repeats(), "/metadata"),
        ({"k": 5}, Repeats(n=3), "/metadata"),
    ],
)
def test_numbers_that_cannot_be_run_are_refused(
    tmp_path: Path, metadata: dict[str, Any], asked: Repeats, pointer: str
) -> None:
    """File and place are named, before any traffic."""
    mine = benchmark(tmp_path, exact(1), scoringMethod="pass_at_k", metadata=metadata)

    with pytest.raises(BenchmarkError) as caught:
        of_benchmark(mine, asked)

    assert caught.value.pointer == pointer
