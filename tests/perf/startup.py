"""How long the command takes before and beside its work: the best of several starts."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from coordinator import policy
from tests.perf.catalog import write_benchmark, write_catalog
from tests.perf.row import Row
from tests.perf.target import target

PART = "start-up"
TRIES = 5
HELP_MOST_S = 0.15
OVER_MOST_S = 0.5


def rows(folder: Path) -> Iterator[Row]:
    """Every row."""
    command = shutil.which("skillmark", path=Path(sys.executable).parent)
    assert command is not None, "skillmark is installed beside the interpreter"
    help_s = _best([command, "--help"], folder)
    yield Row(
        part=PART,
        name="skillmark --help",
        figure=help_s * 1000,
        unit="ms",
        against="150 ms",
        share=help_s / HELP_MOST_S,
        most=1.0,
    )
    with target(1) as ports:
        catalog = write_catalog(folder / "one.jsonl", ports, 1)
        task = write_benchmark(folder / "one.json", 1)
        options = ["--benchmark", str(task), "--allow-network", "127.0.0.0/8", "--store", f"sqlite:///{folder}/one.db"]
        evaluate_s = _best([command, "eval", "--skills", str(catalog), *options], folder)
        certify_s = _best([command, "certify", str(catalog), *options], folder)
    # A skill that answers at once still takes as long as the sustained load is long.
    own_s = policy.load(None).performance.sustained.duration_s
    for name, over_s in (("eval", evaluate_s), ("certify", certify_s - own_s)):
        yield Row(
            part=PART,
            name=f"{name}, one skill with one task, over the skill's own time",
            figure=over_s * 1000,
            unit="ms",
            against="500 ms",
            share=over_s / OVER_MOST_S,
            most=1.0,
        )


def _best(arguments: list[str], folder: Path) -> float:
    took_s = []
    for _ in range(TRIES):
        started = perf_counter()
        subprocess.run(arguments, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        took_s.append(perf_counter() - started)
    return min(took_s)
