"""What a run is given, checked before anything is called: benchmarks, the folder for its reports, its store."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from benchmarks import loader
from benchmarks.loader import Benchmark, BenchmarkError
from coordinator import policy
from coordinator.catalog import index
from coordinator.catalog.skill import Entry, Rejection
from coordinator.functional_jobs import repeats_of
from coordinator.policy import Policy
from coordinator.record import located
from coordinator.settings import Settings, SettingsError
from coordinator.tasks import checked
from workers import registry


def chosen_policy(settings: Settings, *, repeats: int | None = None, k: int | None = None) -> Policy:
    """The policy that was set, or the built-in one; *repeats* and *k*, where given, take the place of its own.

    Raises:
        PolicyError: If it cannot be used.
    """
    rules = policy.load(Path(settings.policy) if settings.policy else None)
    return policy.repeated(rules, repeats=repeats, k=k)


def chosen_benchmarks(
    names: Sequence[str], settings: Settings, rules: Policy, *, tasks: Path | None = None
) -> list[Benchmark]:
    """The benchmarks with these ids or paths, each once, and the one made of the file *tasks*; all can be run.

    Raises:
        BenchmarkError: If there is none of a name, or one cannot be run as often as *rules* want it.
    """
    folders = [Path(folder) for folder in settings.benchmarks_dir]
    chosen = [loader.find(name, folders) for name in dict.fromkeys(names)]
    if tasks is not None:
        chosen.append(loader.load_tasks(tasks))
    found = list(checked(chosen, repeats_of(rules.functional)))
    if not settings.broker:  # else the workers have it, or say so
        _judgeable(found)
    return found


def _judgeable(benchmarks: Sequence[Benchmark]) -> None:
    for benchmark in benchmarks:
        for number, task in enumerate(benchmark.tasks):
            missing = registry.lacks(task.evaluator)
            if missing:
                raise BenchmarkError(
                    benchmark.path,
                    f"/tasks/{number}/evaluator",
                    expected=f"the environment variable {missing}, which {task.evaluator!r} needs",
                    found="none",
                    advice="set it, or choose another benchmark",
                )


def conditions(settings: Settings, rules: Policy) -> dict[str, Any]:
    """What else decides an outcome, by the names of the options: what may be called, and how often."""
    return {
        "allow-network": sorted(settings.allow_network),
        "allow-exec": settings.allow_exec,
        "auth-env": sorted(settings.auth_env),
        "repeats": rules.functional.repeats,
        "k": rules.functional.k,
    }


def entries(paths: Sequence[Path]) -> Iterator[Entry]:
    """The entries of the catalogs at *paths*, one after another; a skill that an earlier one has is rejected.

    Raises:
        CatalogError: As `index.entries` does.
    """
    streams = [index.entries(path) for path in dict.fromkeys(paths)]
    return streams[0] if len(streams) == 1 else _apart(chain.from_iterable(streams))


def _apart(found: Iterable[Entry]) -> Iterator[Entry]:
    first: dict[tuple[str, str], str] = {}
    for entry in found:
        if isinstance(entry, Rejection):
            yield entry
            continue
        at = first.setdefault((entry.id, entry.version), located(entry))
        if at == located(entry):
            yield entry
        else:
            again = f"{entry.id} {entry.version} again; the first is {at}"
            yield Rejection(
                source=entry.source,
                pointer=entry.pointer,
                expected="each id and version once",
                found=again,
            )


def report_folder(name: str) -> Path | None:
    """The folder called *name*, made where it is missing; None without a name.

    Raises:
        SettingsError: If it cannot be made, or takes no file.
    """
    if not name:
        return None
    path = Path(name)
    try:
        path.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path).close()  # told now, and not after an hour of calls
    except OSError as error:
        raise SettingsError(f"out: expected a folder that can be written, found {name}: {error.strerror}") from error
    return path


def osv_database(settings: Settings) -> Path:
    """Where the database of known vulnerabilities is: the one set, or the operator's own."""
    if settings.osv_database:
        return Path(settings.osv_database)
    data = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(data) / "skillmark" / "osv.sqlite"


def default_store() -> str:
    """The operator's own ledger, in the folder that the XDG base directory specification gives to state."""
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return f"sqlite:///{Path(state) / 'skillmark' / 'ledger.sqlite'}"
