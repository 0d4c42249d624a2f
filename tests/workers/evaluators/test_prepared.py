"""Prepared evaluators are shared, and the registry refuses what cannot be prepared."""

from __future__ import annotations

import pytest

from workers import registry
from workers.evaluators._prepared import prepared
from workers.faults import BadExpectation, BadJob
from workers.wire.job import Expectation


def expectation(evaluator: str, **expected: object) -> Expectation:
    return Expectation(evaluator=evaluator, expected=dict(expected))


def test_equal_expectations_share_one_evaluator() -> None:
    """A second job with the same expectation, in another order, prepares nothing."""
    first = prepared(expectation("contains", type="contains", keywords=["a"]))
    second = prepared(expectation("contains", keywords=["a"], type="contains"))

    assert first is second


def test_different_expectations_do_not() -> None:
    """1 and 1.0 are the same answer but not the same expectation; true is neither."""
    evaluators = {id(prepared(expectation("exact", value=value))) for value in (1, True, "1")}

    assert len(evaluators) == 3


@pytest.mark.parametrize("name", ["exact", "exact_match", "contains", "json_schema", "schema", "regex"])
def test_every_documented_name_exists(name: str) -> None:
    """Names and aliases of the benchmark format are known."""
    assert name in registry.names("evaluators")


def test_a_good_expectation_passes_the_check() -> None:
    """The check of a good expectation says nothing."""
    registry.check(expectation("exact_match", type="exact", value=1))


def test_an_unknown_evaluator_is_refused_with_the_known_ones() -> None:
    """The message lists the evaluators that exist."""
    with pytest.raises(BadExpectation, match="contains, exact, exact_match") as caught:
        registry.check(expectation("telepathy"))

    assert caught.value.pointer == "/evaluator"


def test_an_expectation_that_reached_a_worker_all_the_same_is_a_bad_job() -> None:
    """A worker ends such a job as unjudged, without a retry."""
    with pytest.raises(BadJob):
        prepared(expectation("telepathy"))
