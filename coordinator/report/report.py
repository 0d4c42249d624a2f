"""What a renderer is given: the records of one run, read from the ledger each time they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from coordinator import record, scorecard
from coordinator.policy import Policy
from coordinator.record import Record
from coordinator.scorecard import Scorecard
from workers.wire.job import Pillar


class CertificationReport(Struct, frozen=True, kw_only=True):
    """A run of `certify`. *requests* tells how many calls a skill got, by pillar; it reads the ledger."""

    run_id: str
    policy: Policy
    interrupted: bool = False
    lines: Callable[[], Iterator[bytes]]
    requests: Callable[[Record], Mapping[Pillar, int]]

    def records(self) -> Iterator[Record]:
        """The records in the catalog's order, one at a time: a large catalog is never held in memory."""
        return map(record.parse, self.lines())


class EvaluationReport(Struct, frozen=True, kw_only=True):
    """A run of `eval`."""

    run_id: str
    policy: Policy
    interrupted: bool = False
    lines: Callable[[], Iterator[bytes]]

    def records(self) -> Iterator[Scorecard]:
        """The scorecards in the order of the skills, one at a time."""
        return map(scorecard.parse, self.lines())


Report = CertificationReport | EvaluationReport
