"""Whose fault it was.

`FleetFault` is ours: the job is run again, and when it keeps failing the result is `Unjudged`. `BadJob` is a job that
no worker can run: never retried, `Unjudged` at once. What a skill does wrong is neither: it is an `Observation`.
"""

from __future__ import annotations


class FleetFault(Exception):
    """Our machine, network or broker failed; nothing is known of the skill."""


class Exhausted(FleetFault):
    """Ours too, and tried again already where it failed: to run the job again would only call the skill again."""


class BadJob(Exception):
    """A job that asks for something that does not exist here, or that cannot be parsed."""


class BadExpectation(BadJob):
    """An expectation that no answer could be held against: the benchmark's mistake, never the skill's.

    *pointer* is a JSON pointer into ``{"evaluator": ..., "expected": ..., "options": ...}``.
    """

    def __init__(self, pointer: str, expected: str, found: str) -> None:
        super().__init__(f"{pointer}: expected {expected}, found {found}")
        self.pointer = pointer
        self.expected = expected
        self.found = found
