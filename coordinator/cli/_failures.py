"""Errors -> one clear message and the documented exit code."""

from __future__ import annotations

import click

DONE, GATE_FAILED, BAD_INPUT, UNREACHABLE, INCOMPLETE, INTERRUPTED = 0, 1, 2, 3, 4, 130


def explain(error: BaseException) -> int:
    """Say on stderr what went wrong; the exit code.

    Raises:
        BaseException: *error* itself where it is a bug of ours: its traceback is what we need.
    """
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else DONE
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, click.ClickException):
        error.show()
        return error.exit_code
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    code = _code(error)
    if code is None:
        raise error
    click.echo(f"Error: {error}", err=True)
    return code


def _code(error: BaseException) -> int | None:
    from benchmarks.loader import BenchmarkError
    from coordinator.catalog.documents import CatalogError
    from coordinator.comparing import ResultsError
    from coordinator.courier import BrokerUnreachable
    from coordinator.ledger.store import LedgerError
    from coordinator.osv.advisories import AdvisoriesError
    from coordinator.osv.update import Unreachable
    from coordinator.policy import PolicyError
    from coordinator.settings import SettingsError
    from payloads.loader import CorpusError

    bad_input = (
        AdvisoriesError, BenchmarkError, CatalogError, CorpusError, PolicyError, ResultsError, SettingsError,
    )  # fmt: skip
    if isinstance(error, bad_input):
        return BAD_INPUT
    if isinstance(error, (BrokerUnreachable, LedgerError, Unreachable)):
        return UNREACHABLE
    return None
