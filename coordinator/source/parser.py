"""Asking the process that parses (`parsing`): started when first needed, and again when a file has ended it."""

from __future__ import annotations

import atexit
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import cache

import msgspec

from coordinator.source.facts import FileFacts
from coordinator.source.parsing import HEADER, Answer, Asked

WAIT_S = 120.0  # far beyond the processor time that a file is given: only a machine in trouble gets there
MAX_ANSWER_BYTES = 64 << 20
FILES = 2_000  # by one process: what its memory is worn with goes with it


class Unparsed(Exception):
    """A file without facts, and why. *ours*: through our own fault."""

    def __init__(self, reason: str, *, ours: bool = False) -> None:
        super().__init__(reason)
        self.ours = ours


class Parser:
    """One parsing process, for one caller at a time."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._files = 0
        self._lock = threading.Lock()

    def facts(self, suffix: str, data: bytes) -> FileFacts:
        """The facts of a file with this *suffix*.

        Raises:
            Unparsed: If there are none.
        """
        with self._lock:
            try:
                answer = self._ask(Asked(suffix, data))
            except OSError as error:
                self._stop()
                raise Unparsed(f"the parsing process could not be started: {error.strerror}", ours=True) from None
        if answer.facts is None:
            raise Unparsed(answer.reason)
        return answer.facts

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._stop()

    def _ask(self, asked: Asked) -> Answer:
        if self._owner != os.getpid() or self._files >= FILES:  # after a fork the process is our parent's
            if self._owner == os.getpid():
                self._stop()
            self._process = None
        process = self._process or self._start()
        self._files += 1
        assert process.stdin is not None  # noqa: S101 - started with pipes
        message = msgspec.msgpack.encode(asked)
        try:
            process.stdin.write(HEADER.pack(len(message)) + message)
            process.stdin.flush()
            deadline = time.monotonic() + WAIT_S
            (size,) = HEADER.unpack(self._read(process, HEADER.size, deadline))
            if size > MAX_ANSWER_BYTES:
                raise Unparsed("has more facts than can be told")
            return msgspec.msgpack.decode(self._read(process, size, deadline), type=Answer)
        except (BrokenPipeError, EOFError):
            raise self._ended(process) from None
        except Unparsed:
            self._stop()
            raise

    def _start(self) -> subprocess.Popen[bytes]:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "coordinator.source.parsing"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PYTHONPATH": os.pathsep.join(one for one in sys.path if one), "PYTHONWARNINGS": "ignore"},
            start_new_session=True,  # an interrupt of ours must not leave half an answer
        )
        self._owner, self._files = os.getpid(), 0
        return self._process

    @staticmethod
    def _read(process: subprocess.Popen[bytes], size: int, deadline: float) -> bytes:
        assert process.stdout is not None  # noqa: S101 - started with pipes
        data = bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while len(data) < size:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise Unparsed("the machine was too busy to parse it", ours=True)
                piece = os.read(process.stdout.fileno(), min(size - len(data), 1 << 20))
                if not piece:
                    raise EOFError
                data += piece
        return bytes(data)

    def _ended(self, process: subprocess.Popen[bytes]) -> Unparsed:
        code = process.wait()
        self._stop()
        if code == -signal.SIGXCPU:
            return Unparsed("takes too long to be parsed")
        if code in (-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS):
            return Unparsed("ends the parser")
        return Unparsed(f"the parsing process ended with status {code}", ours=True)

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()


@cache
def parser() -> Parser:
    """The parser of this process."""
    made = Parser()
    atexit.register(made.close)
    return made
