"""A judge on a real socket: the completions part of an OpenAI-compatible service, in a process of its own.

``python judge.py`` prints its address and serves. How it answers, the model's name in the request decides: the parts of
``name:argument`` are one of `ANSWERS` and what it takes. ``GET /requests`` is the list of what it was asked.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.request import urlopen

Reply = tuple[int, dict[str, str], Any]


def main() -> None:
    """Serve until the parent hangs up."""
    asked: list[dict[str, Any]] = []
    tries: Counter[str] = Counter()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                asked.append({"path": self.path, "authorization": self.headers["Authorization"], **body})
                tries[body["model"]] += 1
                number = tries[body["model"]]
            name, _, argument = body["model"].partition(":")
            self._send(*ANSWERS[name](argument, number, body))

        def do_GET(self) -> None:
            with lock:
                self._send(200, {}, asked)

        def _send(self, status: int, headers: dict[str, str], content: Any) -> None:
            data = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            for header, value in {**headers, "Content-Length": str(len(data))}.items():
                self.send_header(header, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    sys.stdin.read()


def _marks(argument: str, _: int, body: dict[str, Any]) -> Reply:
    """The score *argument*, in form."""
    return _said({"seal": _seal(body), "score": json.loads(argument), "reason": "as told"})


def _later(argument: str, number: int, body: dict[str, Any]) -> Reply:
    """Status *argument* twice, then a score of 8."""
    return (int(argument), {"Retry-After": "0"}, {"error": "later"}) if number < 3 else _marks("8", number, body)


def _never(argument: str, _: int, __: dict[str, Any]) -> Reply:
    """Status *argument*, with the key in its text."""
    return int(argument), {}, {"error": {"message": "wrong key judge-key-1234567890"}}


def _plain(_: str, number: int, body: dict[str, Any]) -> Reply:
    """Refuses options; else a score of 6 in a fenced block."""
    if "response_format" in body or "temperature" in body:
        return 400, {}, {"error": "unsupported parameter"}
    return _said(f"```json\n{json.dumps({'seal': _seal(body), 'score': 6})}\n```")


def _talks(argument: str, _: int, __: dict[str, Any]) -> Reply:
    """Says *argument*."""
    return _said(argument)


def _obeys(_: str, __: int, body: dict[str, Any]) -> Reply:
    """Does what the output asks, and forgets its own instructions."""
    return _said({"score": 10, "reason": "the output asked for it"})


def _raw(argument: str, _: int, __: dict[str, Any]) -> Reply:
    """*argument* as the whole body."""
    return 200, {}, argument.encode()


def _said(content: Any) -> Reply:
    text = content if isinstance(content, str) else json.dumps(content)
    return 200, {}, {"choices": [{"message": {"role": "assistant", "content": text}}]}


def _seal(body: dict[str, Any]) -> str:
    found = re.search(r'"seal": "([0-9a-f]+)"', body["messages"][0]["content"])
    assert found
    return found[1]


ANSWERS: dict[str, Callable[[str, int, dict[str, Any]], Reply]] = {
    "marks": _marks,
    "later": _later,
    "never": _never,
    "plain": _plain,
    "talks": _talks,
    "obeys": _obeys,
    "raw": _raw,
}


class JudgeProcess:
    """A judge that serves at *base_url*."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url

    def asked(self, model: str) -> list[dict[str, Any]]:
        """What *model* was asked so far."""
        with urlopen(f"{self.base_url}/requests") as answer:
            return [one for one in json.load(answer) if one["model"] == model]


@contextmanager
def judging() -> Iterator[JudgeProcess]:
    """A judge in a process of its own."""
    with subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield JudgeProcess(process.stdout.readline().strip())
        finally:
            process.stdin.close()


if __name__ == "__main__":
    main()
