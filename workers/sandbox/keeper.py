"""Keeps one program: started beside the worker, and not imported by it.

Reads from a socket what to run (one line of JSON), runs it in a session of its own under limits, says when it started
and how it ended, and ends with it everything that it left behind. The end of the socket is the order to stop, so a
worker that is killed takes its programs along, whatever thread of it had started them (PR_SET_PDEATHSIG, which follows
the thread, would not do). What the program starts and abandons becomes a child of the keeper (PR_SET_CHILD_SUBREAPER)
and is found there. Not done between fork and exec in the worker itself: with threads around, that may deadlock.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from typing import Any

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
SWEEP_S = 5.0
LINE_BYTES = 1 << 20


def main(descriptor: int) -> None:
    """Keep the program that the socket *descriptor* tells of."""
    control = socket.socket(fileno=descriptor)
    order = json.loads(_line(control))
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    wakeup, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    failed, failing = os.pipe2(os.O_CLOEXEC)
    child = os.fork()
    if child == 0:
        _become(order, failing)
    os.close(failing)
    for stream, nothing in zip((0, 1, 2), (os.O_RDONLY, os.O_WRONLY, os.O_WRONLY), strict=True):
        null = os.open(os.devnull, nothing)
        os.dup2(null, stream)
        os.close(null)
    reason = os.read(failed, 500).decode("utf-8", "replace")
    _tell(control, {"failed": reason} if reason else {"started": time.monotonic()})
    status = _wait(control, wakeup, child)
    _kill_group(child)
    _sweep()
    if order["home"]:
        _remove(order["home"])
    if status is not None and not reason:
        _tell(control, {"ended": os.waitstatus_to_exitcode(status)})


def _become(order: dict[str, Any], failing: int) -> None:
    """Turn into the program; never returns."""
    try:
        os.setsid()
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        for name, most in order["limits"].items():
            number = getattr(resource, name)
            if name == "RLIMIT_NPROC":
                most += _tasks()  # the limit counts all that the user runs
            hard = resource.getrlimit(number)[1]
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(number, (most, most))
        for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)  # Python ignores the last two, and a program would inherit that
        os.umask(0o077)
        os.chdir(order["folder"])
        os.execve(order["argv"][0], order["argv"], order["environment"])  # noqa: S606 - a shell would only add risk
    except (OSError, ValueError) as error:
        os.write(failing, (getattr(error, "strerror", None) or str(error)).encode())
    finally:
        os._exit(127)


def _wait(control: socket.socket, wakeup: int, child: int) -> int | None:
    """The wait status of *child*; None if the order to stop came first."""
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return status
        _reap(child)
        ready, _, _ = select.select([control.fileno(), wakeup], [], [])
        if wakeup in ready:
            os.read(wakeup, 4_096)
        if control.fileno() in ready and not control.recv(1):
            return None


def _reap(child: int) -> None:
    """Take leave of abandoned processes that ended by themselves."""
    for pid in _children():
        if pid != child:
            os.waitpid(pid, os.WNOHANG)


def _sweep() -> None:
    """Kill what is left, children and then what these leave, until nothing is; for `SWEEP_S` at most."""
    until = time.monotonic() + SWEEP_S
    while time.monotonic() < until:
        for pid in _children():
            _kill_group(pid)
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


def _kill_group(pid: int) -> None:
    with suppress(OSError):
        os.killpg(pid, signal.SIGKILL)


def _children() -> list[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        pass
    found, me = [], str(os.getpid())
    for pid in _processes():
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                parent = file.read().rpartition(")")[2].split()[1]
        except (OSError, IndexError):
            continue
        if parent == me:
            found.append(pid)
    return found


def _tasks() -> int:
    """How many threads this user runs."""
    count = 0
    for pid in _processes():
        try:
            if os.stat(f"/proc/{pid}").st_uid == os.getuid():
                count += len(os.listdir(f"/proc/{pid}/task"))
        except OSError:
            continue
    return count


def _processes() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:
        return []


def _remove(home: str) -> None:
    # By programs, since a tree may be nested deeper than Python's own removal can follow.
    for command in (["chmod", "-R", "u+rwX", "--", home], ["rm", "-rf", "--one-file-system", "--", home]):
        try:
            os.waitpid(os.posix_spawnp(command[0], command, {"PATH": os.defpath}), 0)
        except OSError:
            return


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _tell(control: socket.socket, report: dict[str, Any]) -> None:
    with suppress(OSError):  # the worker may have hung up
        control.sendall(json.dumps(report).encode() + b"\n")


def _line(control: socket.socket) -> bytes:
    data = b""
    while not data.endswith(b"\n"):
        piece = control.recv(65_536)
        if not piece or len(data) > LINE_BYTES:
            sys.exit(0)
        data += piece
    return data


if __name__ == "__main__":
    main(int(sys.argv[1]))
