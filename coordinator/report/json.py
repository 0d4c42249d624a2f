"""results.json: the run as one JSON object, for programs that read no JSON Lines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from coordinator.certify import Decision
from coordinator.report.report import CertificationReport, Report
from coordinator.scorecard import Grade

FILE = "results.json"


def render(report: Report) -> Iterator[str]:
    """``{"run_id": ..., "counts": {verdict: skills}, "results": [...]}``, a record a line."""
    verdicts = Decision if isinstance(report, CertificationReport) else Grade
    counted = Counter(one.verdict for one in report.records())
    counts = {verdict.value: counted[verdict] for verdict in verdicts}
    yield f'{{"run_id": {json.dumps(report.run_id)}, "counts": {json.dumps(counts)}, "results": ['
    for number, line in enumerate(report.lines()):
        yield (",\n" if number else "\n") + line.decode("ascii")
    yield "\n]}\n"
