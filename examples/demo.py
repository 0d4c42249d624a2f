"""Certify the example marketplace: start it, run ``skillmark certify`` on its catalog, stop it.

Exit code: that of certify, but 0 where it is 4, since one entry of the catalog is there to be rejected.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

EXAMPLES = Path(__file__).resolve().parent
SERVER = EXAMPLES / "marketplace" / "server.py"
CATALOG = Path("examples") / "marketplace" / "catalog"
OUT = Path("out") / "demo"

WRITTEN = "127.0.0.1:8737"  # where the manifests say that the skills are
START_S = 10.0
STOP_S = 5.0

FINISHED_WITH_REJECTIONS = 4


def main() -> int:
    """Run the demo from the repository's root, so that the report's path is short."""
    signal.signal(signal.SIGTERM, _stop)
    os.chdir(EXAMPLES.parent)
    try:
        with marketplace() as address, tempfile.TemporaryDirectory(prefix="skillmark-demo-") as folder:
            # The copy only where it is needed: a rejection names its file, which should still be there afterwards.
            catalog = CATALOG if address == WRITTEN else copy_catalog(Path(folder) / "catalog", address)
            code = certify(catalog)
    except KeyboardInterrupt:
        return 130
    report = OUT / "report.md"
    if code in (0, FINISHED_WITH_REJECTIONS):
        print(f"\nWhy each skill got its scores: {report}", flush=True)
        return 0
    print(f"\nskillmark certify ended with exit code {code}", file=sys.stderr)
    return code


@contextmanager
def marketplace() -> Iterator[str]:
    """The example marketplace in a process of its own, as ``host:port``; ended by process id, whatever happens."""
    command = [sys.executable, str(SERVER), "--port", str(_port())]
    # A session of its own: Ctrl-C reaches certify and this script, which then stops the server last.
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as server:
        try:
            yield _address(server)
        finally:
            _end(server)


def copy_catalog(target: Path, address: str) -> Path:
    """The example catalog in *target*, with *address* as the place of its skills."""
    shutil.copytree(SERVER.parent / "catalog", target)
    for manifest in target.rglob("*.json"):
        manifest.write_text(manifest.read_text("utf-8").replace(WRITTEN, address), "utf-8")
    return target


def certify(catalog: Path) -> int:
    """Run the command line on *catalog*, straight to this terminal; its exit code."""
    command = [sys.executable, "-m", "coordinator.cli", "certify", str(catalog)]
    # A ledger of the demo's own: the operator's is for real runs.
    command += ["--allow-network", "127.0.0.0/8", "--out", str(OUT), "--store", f"sqlite:///{OUT / 'ledger.sqlite'}"]
    process = subprocess.Popen(command)
    try:
        return process.wait()
    except KeyboardInterrupt:
        # The terminal has sent the same signal to certify, which is writing down what it has.
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_S)
        raise
    finally:
        _end(process)


def _end(process: subprocess.Popen[Any]) -> None:
    """Make sure that *process* is over: asked first, killed after `STOP_S` seconds."""
    process.terminate()
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _port() -> int:
    """The port in the manifests, or 0 (a free one) where something else listens on it."""
    written = int(WRITTEN.rpartition(":")[2])
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", written))
        except OSError:
            return 0
    return written


def _address(server: subprocess.Popen[str]) -> str:
    assert server.stdout is not None
    ready, _, _ = select.select([server.stdout], [], [], START_S)
    line = server.stdout.readline() if ready else ""
    address = urlsplit(line.removeprefix("listening on ").strip()).netloc
    if not address:
        raise SystemExit(f"the example marketplace did not start within {START_S:g} s")
    return address


def _stop(number: int, frame: object) -> NoReturn:
    raise SystemExit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
