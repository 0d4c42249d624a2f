"""What `run export` does: the reports of a run, written again from the store. Nobody is called, nothing is judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from coordinator.certifying import report_of
from coordinator.evaluating import MODE
from coordinator.inputs import chosen_policy, default_store, report_folder
from coordinator.ledger.ledger import Ledger
from coordinator.report import formats
from coordinator.report.report import EvaluationReport, Report
from coordinator.settings import Settings, SettingsError


class Export(Struct, frozen=True):
    """The *report*, which reads the ledger, and the files that it was written to."""

    report: Report
    written: tuple[Path, ...]


@contextmanager
def export_run(run_id: str, settings: Settings, *, names: Sequence[str] = ()) -> Iterator[Export]:
    """Write the reports of the run *run_id*, in the formats called *names* or the usual ones, to the folder set.

    Raises:
        PolicyError: If the policy cannot be read.
        SettingsError: If there is no such run, or it was judged by another policy: its thresholds stand in reports.
        LedgerError: If the store cannot be reached.
        ReportsUnwritten: If the disk does not take them.
    """
    names = formats.checked(names) or formats.DEFAULT
    out = report_folder(settings.out)
    ledger = Ledger.open(settings.store or default_store())
    try:
        found = ledger.summary(run_id)
        if found is None:
            raise SettingsError(
                f"run: expected a run that this store knows, found {run_id[:100]!r}; `skillmark run list` tells which, "
                "and --store names another store"
            )
        begun = found.stamps
        rules = chosen_policy(settings, repeats=begun.get("repeats"), k=begun.get("k"))
        if rules.digest != begun.get("policy"):
            raise SettingsError(
                f"policy: expected the one that {run_id} was judged by, {begun.get('policy')}, found {rules.digest}; "
                "name it with --policy"
            )
        report: Report
        interrupted = found.state != "ended"
        if found.mode == MODE:
            report = EvaluationReport(
                run_id=run_id, policy=rules, interrupted=interrupted, lines=lambda: ledger.records(run_id)
            )
        else:
            report = report_of(run_id, ledger, rules, interrupted, origin=begun.get("origin", ""))
        yield Export(report, formats.write(out, names, report) if out else ())
    finally:
        ledger.close()
