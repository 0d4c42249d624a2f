"""Evaluators made once a process and used for every answer: preparing costs ten times as much as evaluating."""

from __future__ import annotations

from collections.abc import Awaitable
from functools import lru_cache
from typing import Any

import msgspec

from workers import registry
from workers.evaluators._evaluator import Ask, Evaluate, Score
from workers.wire.job import Expectation

PREPARED = 1_024


def prepared(expectation: Expectation) -> Evaluate | Ask:
    """The evaluator for *expectation*; equal expectations share one.

    Raises:
        BadJob: If there is no such evaluator.
        BadExpectation: If it cannot work with what is expected.
    """
    return _prepared(msgspec.json.encode(expectation, order="deterministic"))


async def evaluated(evaluate: Evaluate | Ask, reply: Any) -> Score:
    """What *evaluate* says of *reply*, at once or when whom it asks has answered.

    Raises:
        FleetFault: If whom it asks could not say.
        BadJob: If it cannot ask here.
    """
    score = evaluate(reply)
    return await score if isinstance(score, Awaitable) else score


@lru_cache(maxsize=PREPARED)
def _prepared(canonical: bytes) -> Evaluate | Ask:
    expectation = msgspec.json.decode(canonical, type=Expectation)
    evaluate: Evaluate | Ask = registry.part("evaluators", expectation.evaluator).prepare(
        expectation.expected, expectation.options
    )
    return evaluate
