"""Errors -> one clear message and the documented exit code."""

from __future__ import annotations

import errno
from collections.abc import Collection

import click

DONE, GATE_FAILED, BAD_INPUT, UNREACHABLE, INCOMPLETE, INTERRUPTED = 0, 1, 2, 3, 4, 130
UNREAD = 141  # as a shell tells of SIGPIPE
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def exit_code(
    verdicts: Collection[str],
    *,
    passed: str,
    interrupted: bool,
    exit_on_fail: bool,
    fail_under: float | None = None,
    lowest: float | None = None,
) -> int:
    """What a run exits with, by the *verdicts* that its skills got and the gates that were set.

    *passed* is the verdict that ``--exit-on-fail`` wants of each, *lowest* the score that ``--fail-under`` looks at;
    None where there is none.
    """
    if interrupted:
        return INTERRUPTED
    too_low = fail_under is not None and lowest is not None and lowest < fail_under
    if too_low or (exit_on_fail and set(verdicts) - {passed}):
        return GATE_FAILED
    return INCOMPLETE if {"incomplete", "rejected"} & set(verdicts) else DONE


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
    told = _full(error) if isinstance(error, OSError) else f"{error}{_advice(error)}"
    click.echo(f"Error: {told}", err=True)
    return code


def _advice(error: BaseException) -> str:
    """What to do about an error of a part that does not know which option led to it."""
    from coordinator.courier import BrokerUnreachable

    if not isinstance(error, BrokerUnreachable):
        return ""
    if "ACCESS_REFUSED" in str(error) or "NOT_ALLOWED" in str(error):
        return "; check user, password and vhost in --broker"
    return "; check --broker, and that RabbitMQ runs there"


def _code(error: BaseException) -> int | None:
    from benchmarks.loader import BenchmarkError
    from coordinator.catalog.documents import CatalogError
    from coordinator.comparing import ResultsError
    from coordinator.courier import BrokerUnreachable
    from coordinator.ledger.store import LedgerError
    from coordinator.osv.advisories import AdvisoriesError
    from coordinator.osv.update import Unreachable
    from coordinator.policy import PolicyError
    from coordinator.report.formats import ReportsUnwritten
    from coordinator.settings import SettingsError
    from payloads.loader import CorpusError

    bad_input = (
        AdvisoriesError, BenchmarkError, CatalogError, CorpusError, PolicyError, ResultsError, SettingsError,
    )  # fmt: skip
    if isinstance(error, bad_input):
        return BAD_INPUT
    if isinstance(error, (BrokerUnreachable, LedgerError, ReportsUnwritten, Unreachable)):
        return UNREACHABLE
    return UNREACHABLE if isinstance(error, OSError) and error.errno in FULL else None


def _full(error: OSError) -> str:
    return f"{error.filename or 'standard output'}: expected room for what is written there, found: {error.strerror}"
