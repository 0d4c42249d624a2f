"""One program that runs: what is written to it, what it says, how it ended."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import structlog

from workers.faults import BadJob, FleetFault
from workers.sandbox import bubblewrap, keeper
from workers.sandbox.program import Limits, Program, environment, resolved

ERRORS_CHARS = 2_000
PIECE_BYTES = 65_536
STOP_S = 20.0
START_S = 30.0

log = structlog.get_logger(__name__)


class Child:
    """A program that was started (`start`). *started* is when, on the monotonic clock; *confined* tells of bubblewrap.

    Belongs to one event loop. Must be closed, however it ended.
    """

    def __init__(self, process: asyncio.subprocess.Process, control: Control, home: str, *, confined: bool) -> None:
        self.confined = confined
        self.started = 0.0
        self._process = process
        self._control = control
        self._home = home
        self._errors = bytearray()
        self._cut = False
        self._draining = asyncio.ensure_future(self._drain())

    async def read(self) -> bytes:
        """The next piece of its output; empty at the end."""
        assert self._process.stdout is not None  # noqa: S101 - started with pipes
        return await self._process.stdout.read(PIECE_BYTES)

    async def write(self, data: bytes, *, last: bool = False) -> None:
        """Give it *data* to read; *last*: and nothing after that. A program that does not want it is no error."""
        stdin = self._process.stdin
        assert stdin is not None  # noqa: S101 - started with pipes
        with suppress(ConnectionError, BrokenPipeError):
            stdin.write(data)
            await stdin.drain()
            if last:
                stdin.close()

    async def ending(self) -> str:
        """How it ended, once it has: empty for exit code 0."""
        code = await asyncio.shield(self._control.ended)  # whoever stops waiting leaves it to others
        if self.confined and code > 128:
            code = 128 - code  # how bubblewrap tells of a signal
        return "" if code == 0 else f"exit code {code}" if code > 0 else f"ended by {_signal(-code)}"

    @property
    def errors(self) -> str:
        """The end of what it wrote to stderr, at most `ERRORS_CHARS`."""
        text = self._errors[-4 * ERRORS_CHARS :].decode("utf-8", "replace")
        return f"…{text[-ERRORS_CHARS:]}" if self._cut or len(text) > ERRORS_CHARS else text

    async def aclose(self) -> None:
        """End it, and everything that it started; its home is gone afterwards."""
        self._control.close()
        with suppress(ConnectionError, BrokenPipeError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        try:
            async with asyncio.timeout(STOP_S):
                while await self.read():
                    pass  # else the pipe would stay open
                await self._draining
                await self._process.wait()
        except TimeoutError:
            log.error("a program's keeper did not stop, killed", pid=self._process.pid)
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        finally:
            self._draining.cancel()
            _remove(self._home)

    async def _drain(self) -> None:
        assert self._process.stderr is not None  # noqa: S101 - started with pipes
        while piece := await self._process.stderr.read(PIECE_BYTES):
            self._errors += piece
            if len(self._errors) > 16 * ERRORS_CHARS:
                del self._errors[: -4 * ERRORS_CHARS]
                self._cut = True


class Control:
    """The worker's end of the socket to a keeper."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.started: asyncio.Future[float | str] = asyncio.get_running_loop().create_future()
        self.ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._listening = asyncio.ensure_future(self._listen())

    def order(self, order: dict[str, Any]) -> None:
        """Tell the keeper what to run."""
        self._writer.write(json.dumps(order).encode() + b"\n")

    def close(self) -> None:
        """Tell it to stop. At once: whoever is cancelled while he waits for the end has told it all the same."""
        self._listening.cancel()
        self._writer.close()
        for future in (self.started, self.ended):
            future.cancel()

    async def _listen(self) -> None:
        with suppress(ConnectionError, ValueError):
            while line := await self._reader.readline():
                match json.loads(line):
                    case {"started": when}:
                        _set(self.started, when)
                    case {"failed": reason}:
                        _set(self.started, reason)
                    case {"ended": code}:
                        _set(self.ended, code)
        fault = FleetFault("the keeper of a program was lost")
        for future in (self.started, self.ended):
            if not future.done():
                future.set_exception(fault)
                future.exception()  # nobody may be waiting for it


async def start(program: Program, limits: Limits) -> Child:
    """Start *program*, in bubblewrap where that works.

    Raises:
        NoProgram: If it should stand in the skill's folder, and does not.
        BadJob: If it can never be started here.
        FleetFault: If our machine cannot start anything now.
    """
    found = resolved(program)
    wrapper = await bubblewrap.usable()
    home = tempfile.mkdtemp(prefix="skillmark-")
    try:
        argv, folder = list(found.argv), found.folder or home
        if wrapper:
            inside = found.folder or bubblewrap.HOME
            argv = bubblewrap.wrapped(wrapper, argv, folder=inside, home=home, places=[*found.needs, found.folder])
            folder = "/"
        order = {
            "argv": argv,
            "environment": environment(program, bubblewrap.HOME if wrapper else home),
            "folder": folder,
            "home": home,
            "limits": limits.named(),
        }
        child = await _kept(order, confined=bool(wrapper))
    except BaseException:
        _remove(home)
        raise
    try:
        async with asyncio.timeout(START_S):
            begun = await child._control.started
    except TimeoutError as error:
        await child.aclose()
        raise FleetFault(f"a program was not started within {START_S:.0f} s") from error
    except BaseException:
        await child.aclose()
        raise
    if isinstance(begun, str):
        await child.aclose()
        raise BadJob(f"the program {program.argv[0][:200]} cannot be started: {begun}")
    child.started = begun
    return child


async def _kept(order: dict[str, Any], *, confined: bool) -> Child:
    ours, theirs = socket.socketpair()
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", str(Path(keeper.__file__)), str(theirs.fileno())),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,  # a Ctrl-C at the terminal is for the worker
            env={name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ},
        )
    except OSError as error:
        ours.close()
        raise FleetFault(f"no program can be started here: {error.strerror}") from error
    finally:
        theirs.close()
    control = Control(*await asyncio.open_connection(sock=ours))
    control.order(order)
    return Child(process, control, order["home"], confined=confined)


def _remove(home: str) -> None:
    """Remove *home* where its keeper could not; a tree too deep for that stays."""
    with suppress(RecursionError):
        shutil.rmtree(home, ignore_errors=True)


def _set(future: asyncio.Future[Any], value: Any) -> None:
    if not future.done():
        future.set_result(value)


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
