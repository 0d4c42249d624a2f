"""A private RabbitMQ for the tests: its own node, ports, cookie, epmd and data folder, started as any user.

The programs of Debian's package are run directly: the wrappers on the PATH refuse users other than root and rabbitmq.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

PROGRAMS = Path("/usr/lib/rabbitmq/bin")
BOOT_S = 90.0
STOP_S = 30.0


def missing() -> str | None:
    """Why no private server can be started here, or None if one can."""
    for program in (PROGRAMS / "rabbitmq-server", PROGRAMS / "rabbitmqctl"):
        if not os.access(program, os.X_OK):
            return f"{program} is missing; on Debian: apt-get install --no-install-recommends rabbitmq-server"
    return None if shutil.which("epmd") else "Erlang's epmd is missing"


def free_ports(count: int) -> list[int]:
    """Ports below 32768, where Linux picks none for outgoing connections, that nobody listens on."""
    found: list[int] = []
    first = 20_000 + os.getpid() * 7 % 10_000
    for port in range(first, 32_700):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            return found
    raise RuntimeError(f"no {count} free ports from {first} on")


class PrivateRabbit:
    """One server with the management API; `vhost` gives each test a world of its own."""

    def __init__(self) -> None:
        fast = Path("/dev/shm")
        self.folder = Path(tempfile.mkdtemp(prefix="rabbit-", dir=fast if os.access(fast, os.W_OK) else None))
        self.port, self.api_port, self._dist_port, self._epmd_port = free_ports(4)
        self._process: subprocess.Popen[bytes] | None = None
        self._vhosts = 0
        (self.folder / "plugins").write_text("[rabbitmq_management].\n")
        (self.folder / "rabbitmq.conf").write_text(
            f"management.tcp.ip = 127.0.0.1\nmanagement.tcp.port = {self.api_port}\n"
            "vm_memory_high_watermark.absolute = 1GB\ndisk_free_limit.absolute = 1MB\n"
            "management_agent.disable_metrics_collector = true\n"
        )

    @property
    def _env(self) -> dict[str, str]:
        folder = str(self.folder)
        return {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "LANG": "C.UTF-8",
            "HOME": folder,  # Erlang's cookie lies there
            "RABBITMQ_NODENAME": f"skillmark-{self.port}@localhost",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_DIST_PORT": str(self._dist_port),
            "RABBITMQ_MNESIA_BASE": f"{folder}/data",
            "RABBITMQ_LOG_BASE": f"{folder}/log",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{folder}/plugins",
            "RABBITMQ_CONFIG_FILE": f"{folder}/rabbitmq.conf",
            "RABBITMQ_PID_FILE": f"{folder}/pid",
            "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
            "ERL_EPMD_PORT": str(self._epmd_port),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "ERL_EPMD_RELAXED_COMMAND_CHECK": "true",  # it may be ended before it notices that the node has gone
        }

    def start(self) -> Self:
        """Boot the node and wait until it takes connections (3-6 s on an idle machine)."""
        output = (self.folder / "output").open("ab")
        with output:
            self._process = subprocess.Popen(
                [PROGRAMS / "rabbitmq-server"],
                env=self._env,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        deadline = time.monotonic() + BOOT_S
        while not self._is_up():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError("RabbitMQ did not boot:\n" + (self.folder / "output").read_text()[-4000:])
            time.sleep(0.05)
        return self

    def _is_up(self) -> bool:
        try:
            # The listeners open after the vhosts have recovered; the API's own listener may come before them.
            with socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return bool(self.api("GET", "/overview"))
        except OSError:
            return False

    def stop(self) -> None:
        """End the node as an operator's restart would; its data stay."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self.kill()
            self._process = None

    def kill(self) -> None:
        """End the node at once, with everything that it started."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def close(self) -> None:
        """End the node and its epmd, and remove the data."""
        self.kill()
        subprocess.run(["epmd", "-port", str(self._epmd_port), "-kill"], env=self._env, capture_output=True, timeout=30)
        shutil.rmtree(self.folder, ignore_errors=True)

    def api(self, method: str, path: str, body: Any = None) -> Any:
        """One call of the management API; *path* starts behind ``/api``."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.api_port}/api{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Content-Type": "application/json",
                "Authorization": "Basic " + base64.b64encode(b"guest:guest").decode(),
            },
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def vhost(self) -> str:
        """The URL of a new, empty vhost."""
        self._vhosts += 1
        name = f"test-{self._vhosts}"
        self.api("PUT", f"/vhosts/{name}", {})
        self.api("PUT", f"/permissions/{name}/guest", {"configure": ".*", "write": ".*", "read": ".*"})
        return f"amqp://guest:guest@127.0.0.1:{self.port}/{name}"

    def drop(self, url: str) -> None:
        """Remove a vhost with everything in it; its connections are closed by the server."""
        try:
            self.api("DELETE", f"/vhosts/{quote(url.rsplit('/', 1)[1])}")
        except urllib.error.HTTPError as error:
            error.close()
            if error.code != 404:
                raise

    def close_connections(self, url: str) -> None:
        """Close every connection to the vhost of *url* from the server's side."""
        vhost = url.rsplit("/", 1)[1]
        subprocess.run(
            [
                PROGRAMS / "rabbitmqctl",
                "--node",
                self._env["RABBITMQ_NODENAME"],
                "close_all_connections",
                "--vhost",
                vhost,
                "closed by a test",
            ],
            env=self._env,
            check=True,
            capture_output=True,
            timeout=60,
        )
