"""A private PostgreSQL for the tests: its own data folder and port, stopped by process id.

The server refuses to run as root, so root hands it to the package's own user.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Self

import psycopg

from tests.rabbitmq import free_ports

BOOT_S = 60.0
STOP_S = 30.0


def programs() -> Path | None:
    """The folder of the newest installed server's programs."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return found[-1].parent if found else None


def missing() -> str | None:
    """Why no private server can be started here, or None if one can."""
    if programs() is None:
        return "PostgreSQL's programs are missing; on Debian: apt-get install --no-install-recommends postgresql"
    return None


class PrivatePostgres:
    """One server; `database` gives each test a world of its own."""

    def __init__(self) -> None:
        folder = programs()
        assert folder is not None, "asked for `missing` first"
        self._programs = folder
        fast = Path("/dev/shm")
        self.folder = Path(tempfile.mkdtemp(prefix="postgres-", dir=fast if os.access(fast, os.W_OK) else None))
        (self.port,) = free_ports(1)
        self._process: subprocess.Popen[bytes] | None = None
        self._databases = 0
        self._user: dict[str, Any] = {}
        if os.geteuid() == 0:
            account = pwd.getpwnam("postgres")
            os.chown(self.folder, account.pw_uid, account.pw_gid)
            self._user = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}

    def start(self) -> Self:
        """Make the cluster, boot the server and wait until it takes connections (about 2 s)."""
        output = self.folder / "output"
        common = {"env": {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}, "cwd": self.folder, **self._user}
        subprocess.run(
            [self._programs / "initdb", "--pgdata=data", "--username=tests", "--auth=trust", "--no-sync"],
            check=True,
            capture_output=True,
            timeout=BOOT_S,
            **common,
        )
        with output.open("ab") as log:
            self._process = subprocess.Popen(
                [
                    self._programs / "postgres",
                    *("-D", "data", "-p", str(self.port), "-k", str(self.folder)),
                    *("-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "max_connections=30"),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **common,
            )
        deadline = time.monotonic() + BOOT_S
        while True:
            try:
                psycopg.connect(self._where("postgres"), connect_timeout=2).close()
            except psycopg.OperationalError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    text = output.read_text()[-4000:]
                    self.close()
                    raise RuntimeError("PostgreSQL did not boot:\n" + text) from None
                time.sleep(0.05)
            else:
                return self

    def _where(self, database: str) -> str:
        return f"host=127.0.0.1 port={self.port} user=tests dbname={database}"

    def database(self) -> str:
        """The URL of a new, empty database."""
        self._databases += 1
        name = f"test_{self._databases}"
        with psycopg.connect(self._where("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return f"postgresql://tests@127.0.0.1:{self.port}/{name}"

    def close(self) -> None:
        """End the server at once and remove its data."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
        shutil.rmtree(self.folder, ignore_errors=True)
