"""Every figure that README states, measured on this machine: one table, and the same as JSON in a file.

    python -m tests.perf.bench [--out FILE] [--only PART]...

Starts its own RabbitMQ, PostgreSQL, skills and workers, and ends them. Absolute figures are the machine's; what is
promised are shares, measured side by side in this one run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from tests import postgresql, rabbitmq
from tests.perf import scale, startup, throughput, trust, waiting
from tests.perf.row import Row, table
from workers.wire import logs
from workers.wire.garbage import collect_seldom


def machine() -> dict[str, Any]:
    """What the figures were taken on."""
    return {
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)),
        "system": platform.platform(),
        "python": platform.python_version(),
        "skillmark": version("skillmark"),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _cpu() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


def parts(folder: Path, rabbit: rabbitmq.PrivateRabbit, postgres: postgresql.PrivatePostgres) -> dict[str, Any]:
    """Each part of the bench by its name: a callable that gives its rows."""

    def stores(name: str) -> dict[str, str]:
        return {"SQLite": f"sqlite:///{folder}/{name}.sqlite", "PostgreSQL": postgres.database()}

    found: dict[str, Callable[[], Iterator[Row]]] = {
        "start-up": lambda: startup.rows(folder),
        "throughput": lambda: throughput.rows(folder, rabbit.vhost(), stores("throughput")),
        "waiting": lambda: waiting.rows(folder, rabbit.vhost(), stores("waiting")["SQLite"]),
        "scale": lambda: scale.rows(folder),
        "ledger": lambda: scale.ledger_rows(stores("ledger")),
        "latency": trust.latency_rows,
        "stability": trust.stability_rows,
    }
    return found


def main() -> int:
    """Run the bench; 1 if a promise was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("out/bench.json"))
    parser.add_argument("--only", action="append", help="one part; may be given several times")
    chosen = parser.parse_args()
    for why in (rabbitmq.missing(), postgresql.missing()):
        if why:
            sys.exit(why)
    logs.configure()  # to stderr: stdout has the table
    collect_seldom()  # as the command does
    fast = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    rows: list[Row] = []
    with (
        tempfile.TemporaryDirectory(prefix="bench-", dir=fast) as name,
        closing(rabbitmq.PrivateRabbit().start()) as rabbit,
        closing(postgresql.PrivatePostgres().start()) as postgres,
    ):
        found = parts(Path(name), rabbit, postgres)
        for part in chosen.only or found:
            for row in found[part]():
                rows.append(row)
                print(f"{row.part}: {row.name}: {row.figure:,.4g} {row.unit}", file=sys.stderr, flush=True)
    told = machine()
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    chosen.out.write_text(
        json.dumps({"machine": told, "rows": [msgspec.to_builtins(row) | {"held": row.held} for row in rows]}, indent=1)
    )
    print(f"{told['cpu']}, {told['cores']} cores, {told['system']}, Python {told['python']}, {told['at']}\n")
    print(table(rows))
    return int(any(row.held is False for row in rows))


if __name__ == "__main__":
    sys.exit(main())
