"""Evaluators made once a process and used for every answer: preparing costs ten times as much as evaluating."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from workers import registry
from workers.evaluators._evaluator import Evaluate
from workers.wire.job import Expectation

PREPARED = 1_024


def prepared(expectation: Expectation) -> Evaluate:
    """The evaluator for *expectation*; equal expectations share one.

    Raises:
        BadJob: If there is no such evaluator.
        BadExpectation: If it cannot work with what is expected.
    """
    return _prepared(msgspec.json.encode(expectation, order="deterministic"))


@lru_cache(maxsize=PREPARED)
def _prepared(canonical: bytes) -> Evaluate:
    expectation = msgspec.json.decode(canonical, type=Expectation)
    evaluate: Evaluate = registry.part("evaluators", expectation.evaluator).prepare(
        expectation.expected, expectation.options
    )
    return evaluate
