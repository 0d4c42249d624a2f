"""Do verdicts depend on how busy the machine is? The same 30 skills, certified again and again under changing load.

    python -m tests.perf.stability [--seconds S]

The skills are those of the example marketplace that can be called, good and bad ones, on three hosts. The load
changes: first one run, then two at once, three and four, each with hosts of its own, beside processes that take the
cores away in bursts. A verdict has to be the same in every run; how far the pillars' scores lie apart is printed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from workers.wire.percentiles import percentile

MARKETPLACE = Path(__file__).resolve().parents[2] / "examples" / "marketplace"
WRITTEN = "127.0.0.1:8737"  # where the manifests say that the skills are
HOSTS = 3
WAVES = ((1, 0), (2, 2), (3, 1), (4, 0))
"""Runs at once, and processes that burn the cores beside them."""

BURN = """
import random, sys, time
chance = random.Random(int(sys.argv[1]))
while True:
    until = time.perf_counter() + chance.uniform(0.02, 0.5)
    while time.perf_counter() < until:
        pass
    time.sleep(chance.uniform(0.02, 0.5))
"""
RUN_S = 180.0


@contextmanager
def _marketplace() -> Iterator[str]:
    command = [sys.executable, str(MARKETPLACE / "server.py"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().rpartition("/")[2].strip()
        finally:
            server.terminate()


@contextmanager
def _busy(processes: int) -> Iterator[None]:
    burning = [subprocess.Popen([sys.executable, "-c", BURN, str(number)]) for number in range(processes)]
    try:
        yield
    finally:
        for one in burning:
            one.kill()
            one.wait()


def _write(catalog: Path, addresses: Sequence[str]) -> None:
    """Write the manifests of the skills that can be called, once for each of *addresses*."""
    for number, address in enumerate(addresses):
        for path in sorted((MARKETPLACE / "catalog").glob("*/*.json")):
            text = path.read_text("utf-8").replace(WRITTEN, address)
            try:
                manifest = json.loads(text)
            except ValueError:
                continue
            if address not in text:
                continue
            folder = catalog / f"{path.parent.name}-{number}"
            folder.mkdir(parents=True)
            (folder / path.name).write_text(json.dumps({**manifest, "id": folder.name}), "utf-8")


def _certify(catalog: Path, out: Path) -> dict[str, dict[str, Any]]:
    """What one run says of each skill, by id."""
    command = [sys.executable, "-m", "coordinator.cli", "certify", str(catalog), "--allow-network", "127.0.0.0/8"]
    command += ["--store", f"sqlite:///{out}.db", "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_S)
    if not (out / "results.jsonl").exists():
        raise RuntimeError(f"certify ended with {done.returncode}: {done.stderr[-2000:]}")
    records = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    return {record["skill"]["id"]: record for record in records if record["skill"]["id"]}


def row(runs: Sequence[dict[str, dict[str, Any]]]) -> dict[str, Any]:
    """What *runs* have in common: whose verdict changed, and the spread (highest less lowest) of the scores."""
    names = sorted(runs[0])
    verdicts = {name: sorted({run[name]["verdict"] for run in runs}) for name in names}
    spreads: dict[str, dict[str, float]] = {}
    for pillar in ("functional", "security", "performance"):
        for name in names:
            scores = [run[name]["pillars"][pillar]["score"] for run in runs]
            known = [score for score in scores if score is not None]
            spreads.setdefault(pillar, {})[name] = max(known, default=0.0) - min(known, default=0.0)
    return {
        "row": "stability",
        "skills": len(names),
        "runs": len(runs),
        "changed_verdicts": {name: found for name, found in verdicts.items() if len(found) > 1},
        "spread": {
            pillar: {
                "median": round(percentile([*found.values()], 0.50), 3),
                "most": round(max(found.values()), 3),
                "of": max(found, key=found.__getitem__),
            }
            for pillar, found in spreads.items()
        },
    }


def measure(*, seconds: float = 240.0) -> dict[str, Any]:
    """The row of all `WAVES`, or of those that began within *seconds*."""
    found: list[dict[str, dict[str, Any]]] = []
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="stability-") as folder:
        for runs, busy in WAVES:
            if found and time.monotonic() - begun > seconds:
                break
            outs = [Path(folder) / f"run-{len(found) + number}" for number in range(runs)]
            with _busy(busy), ThreadPoolExecutor(runs) as pool:
                found += pool.map(_run, outs)
    return row(found)


def _run(out: Path) -> dict[str, dict[str, Any]]:
    with ExitStack() as open_:
        catalog = out.with_name(f"{out.name}-catalog")
        _write(catalog, [open_.enter_context(_marketplace()) for _ in range(HOSTS)])
        return _certify(catalog, out)


def main() -> None:
    """Print the row as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=240.0)
    chosen = parser.parse_args()
    print(json.dumps(measure(seconds=chosen.seconds), indent=2))


if __name__ == "__main__":
    main()
