"""The process that parses: one file in, its facts out. A file that ends it has only itself to blame.

Python's and tree-sitter's parsers are C code that a hostile file can keep busy, or make ask for all memory; so they
run in a process of their own (``python -m coordinator.source.parsing``) with limits for processor time and memory, and
nothing of a stranger is ever imported or run, there either.
"""

from __future__ import annotations

import math
import resource
import struct
import sys
import time
from typing import BinaryIO

import msgspec
from msgspec import Struct

from coordinator.source import javascript, python
from coordinator.source.apis import JAVASCRIPT, PYTHON
from coordinator.source.facts import FileFacts
from coordinator.source.uses import facts

MAX_MEMORY_BYTES = 1 << 30
FILE_CPU_S = 10
HEADER = struct.Struct("!I")


class Asked(Struct, frozen=True):
    """One file to be parsed; *suffix* tells its language."""

    suffix: str
    data: bytes


class Answer(Struct, frozen=True):
    """Its facts, or why there are none."""

    facts: FileFacts | None = None
    reason: str = ""


def parse(asked: Asked) -> Answer:
    """What the file does."""
    try:
        if asked.suffix in python.SUFFIXES:
            return Answer(facts(python.program(asked.data), PYTHON))
        return Answer(facts(javascript.program(asked.data, asked.suffix), JAVASCRIPT))
    except (SyntaxError, ValueError, javascript.Broken) as error:
        line = f" (line {error.lineno})" if isinstance(error, SyntaxError) and error.lineno else ""
        return Answer(reason=f"cannot be parsed{line}")
    except (RecursionError, MemoryError):
        return Answer(reason="is nested too deeply, or too large, to be parsed")


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer each of *requests* until they end."""
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while header := requests.read(HEADER.size):
        (size,) = HEADER.unpack(header)
        asked = msgspec.msgpack.decode(requests.read(size), type=Asked)
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time()) + FILE_CPU_S, hard))
        answer = msgspec.msgpack.encode(parse(asked))
        answers.write(HEADER.pack(len(answer)) + answer)
        answers.flush()


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
