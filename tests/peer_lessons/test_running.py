"""What a peer gets wrong when it runs an evaluation, measured on it; each is a promise of ours."""

from __future__ import annotations

import json
import signal
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from coordinator import policy
from tests.e2e.command import Command, finished, lines, skillmark, until

__all__ = ["skillmark"]

LOOPBACK = ("--allow-network", "127.0.0.0/8")
TASKS = 60


class Host:
    """One host with skills good and bad: it counts its callers, and can hold those that bring a large number."""

    def __init__(self) -> None:
        self.calls: Counter[int] = Counter()
        self.most = 0
        self.held_from = TASKS
        self.release = threading.Event()
        self._now = 0
        self._lock = threading.Lock()
        host = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                with host:
                    getattr(host, self.path.strip("/"))(self, body)

            def log_message(self, *_: object) -> None:
                """Quiet."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                """Callers that hang up are part of the tests."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def stop(self) -> None:
        self.release.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def __enter__(self) -> None:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._now -= 1

    def double(self, request: BaseHTTPRequestHandler, body: bytes) -> None:
        """Twice the number, in JSON; from `held_from` on, as far as there are tasks, only after `release`."""
        try:
            number = json.loads(body)["number"]
            if not isinstance(number, int) or isinstance(number, bool):
                raise TypeError(number)
        except (ValueError, TypeError, KeyError, RecursionError):
            _answer(request, b'{"error": "number: expected a whole number"}', status=400)
            return
        with self._lock:
            self.calls[number] += 1
        if self.held_from <= number < TASKS:
            self.release.wait(60)
        _answer(request, json.dumps({"result": 2 * number}).encode())

    def hang(self, request: BaseHTTPRequestHandler, body: bytes) -> None:
        """No answer."""
        self.release.wait(60)
        request.close_connection = True

    def crash(self, request: BaseHTTPRequestHandler, body: bytes) -> None:
        """The connection dies in the middle of the header."""
        request.wfile.write(b"HTTP/1.1 200 O")
        request.close_connection = True

    def garbage(self, request: BaseHTTPRequestHandler, body: bytes) -> None:
        """Bytes that are no text."""
        _answer(request, bytes(range(256)))

    def bomb(self, request: BaseHTTPRequestHandler, body: bytes) -> None:
        """JSON nested deeper than a parser's stack."""
        _answer(request, b"[" * 200_000)

    def error(self, request: BaseHTTPRequestHandler, body: bytes) -> None:
        """A server error with a lone surrogate in it."""
        _answer(request, rb'{"error": "\ud800"}', status=500)


def _answer(request: BaseHTTPRequestHandler, body: bytes, status: int = 200) -> None:
    request.send_response(status)
    request.send_header("Content-Type", "application/json")
    request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    request.wfile.write(body)


@pytest.fixture
def host() -> Iterator[Host]:
    """A host that nobody has called yet."""
    serving = Host()
    yield serving
    serving.stop()


def manifest(folder: Path, host: Host, path: str = "double", *, name: str = "", **changes: Any) -> Path:
    """A skill of *host* in a folder of its own."""
    made = {
        "name": name or path,
        "version": "1.0.0",
        "description": "Doubles a number.",
        "inputs": [
            {"name": "number", "type": "integer", "required": True, "description": "A number.", "example": 1},
            {"name": "note", "type": "string", "required": False, "description": "Ignored.", "example": "a note"},
        ],
        "outputs": [{"name": "result", "type": "integer", "description": "Twice the number."}],
        "failure_modes": [
            {"condition": "The number is missing", "behaviour": "Answers 400"},
            {"condition": "The server is overloaded", "behaviour": "Closes the connection; try again"},
            {"condition": "Too many requests", "behaviour": "Answers 429"},
        ],
        "dependencies": [],
        "permissions": [],
        "data_handling": "Nothing is stored or passed on.",
        "scope": "Whole numbers.",
        "author": "Ada",
        "test_endpoint": f"{host.url}/{path}",
        "test_timeout_ms": 10_000,
        "test_cases": [{"name": "two", "input": {"number": 2}, "expected": {"result": 4}}],
    }
    place = folder / (name or path)
    place.mkdir(parents=True)
    (place / "sxm-manifest.json").write_text(json.dumps({**made, **changes}))
    return folder


def tasks(folder: Path) -> Path:
    """A file of `TASKS` tasks, one a number."""
    file = folder / "tasks.json"
    file.write_text(
        json.dumps(
            [
                {
                    "id": f"number-{number:02}",
                    "description": "Doubles.",
                    "inputData": {"number": number},
                    "expectedOutput": {"type": "exact", "value": 2 * number},
                    "evaluator": "exact",
                }
                for number in range(TASKS)
            ]
        )
    )
    return file


def count(store: Path, table: str) -> int:
    """How many rows of *table* the ledger has."""
    if not store.exists():
        return 0
    with closing(sqlite3.connect(store, timeout=30)) as connection:
        try:
            return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
        except sqlite3.OperationalError:
            return 0


@pytest.mark.parametrize("command", [("eval", "--skills"), ("certify",)])
def test_one_bad_skill_never_ends_the_run(
    host: Host, skillmark: Command, tmp_path: Path, command: tuple[str, ...]
) -> None:
    """Skills that hang, crash and answer garbage are judged, what is no manifest is rejected, the good one is fine."""
    catalog = tmp_path / "catalog"
    bad = ("hang", "crash", "garbage", "bomb", "error")
    for path in bad:
        manifest(catalog, host, path, test_timeout_ms=60)
    manifest(catalog, host, "double", name="the-good-one")
    for name, content in (("bytes", b"\xff\xfe\x00"), ("deep", b"[" * 100_000), ("list", b"[1]"), ("empty", b"")):
        (catalog / name).mkdir()
        (catalog / name / "sxm-manifest.json").write_bytes(content)

    code, _, stderr = finished(skillmark(*command, catalog, *LOOPBACK, "--out", tmp_path / "out"))
    records = {
        one["skill"]["id"] or Path(one["skill"]["source"].partition("#")[0]).parent.name: one
        for one in lines(tmp_path / "out")
    }

    assert code == 4, stderr  # some are rejected
    assert len(records) == 10
    assert {name for name, one in records.items() if one["verdict"] == "rejected"} == {"bytes", "deep", "list", "empty"}
    assert {records[name]["verdict"] for name in bad} <= {"failed", "not_certified"}
    assert all(records[name]["reasons"] for name in bad)
    assert records["the-good-one"]["verdict"] in ("passed", "certified")
    assert "Traceback" not in stderr


def test_a_run_that_was_cut_short_goes_on_and_reports_everything(
    host: Host, skillmark: Command, tmp_path: Path
) -> None:
    """SIGINT: exit code 130 with what it has. Resumed: what was judged is not asked again, and the report is whole."""
    store, out, catalog = tmp_path / "l.sqlite", tmp_path / "out", tmp_path / "catalog"
    manifest(catalog, host, name="a-first")
    manifest(catalog, host, name="b-second", version="2.0.0")
    evaluate = ("eval", "--skills", catalog, "--tasks", tasks(tmp_path), *LOOPBACK, "--store", f"sqlite:///{store}")
    host.held_from = 50
    run = skillmark(*evaluate, "--out", out)

    until(lambda: host.calls[50] and count(store, "results") >= 40, "the run is under way")
    run.send_signal(signal.SIGINT)
    code, _, stderr = finished(run)
    first, judged = lines(out), count(store, "results")
    run_id = stderr.partition("--resume ")[2].partition('"')[0]
    before, host.held_from = Counter(host.calls), TASKS
    host.release.set()
    resumed, _, _ = finished(skillmark(*evaluate, "--out", out, "--resume", run_id))
    again = sum((host.calls - before).values())

    assert code == 130
    assert len(first) < 2
    assert resumed == 0
    assert again == 2 * TASKS - judged
    assert [one["skill"]["id"] for one in lines(out)] == ["a-first", "b-second"]
    assert all(one["measures"]["passed"] == one["measures"]["planned"] == TASKS for one in lines(out))
    assert {one["run_id"] for one in lines(out)} == {run_id}


def test_a_certification_that_was_cut_short_goes_on(host: Host, skillmark: Command, tmp_path: Path) -> None:
    """The records that were entered stay as they were, the others are added, in the catalog's order."""
    store, out, catalog = tmp_path / "l.sqlite", tmp_path / "out", tmp_path / "catalog"
    manifest(catalog, host, name="a-good")
    manifest(catalog, host, name="b-held", test_cases=[{"name": "held", "input": {"number": 50}, "expected": 100}])
    certify = ("certify", catalog, *LOOPBACK, "--store", f"sqlite:///{store}", "--out", out)
    host.held_from = 50
    run = skillmark(*certify)

    until(lambda: host.calls[50] and count(store, "records") == 1, "the first skill is done with, the second waits")
    run.send_signal(signal.SIGINT)
    code, _, _ = finished(run)
    first, told = lines(out), (out / "report.html").read_text("utf-8")
    host.release.set()
    resumed, _, _ = finished(skillmark(*certify, "--resume", first[0]["run_id"]))

    assert code == 130
    assert [one["skill"]["id"] for one in first] == ["a-good"]
    assert "cut short" in told
    assert "cut short" not in (out / "report.html").read_text("utf-8")
    assert resumed == 0
    assert lines(out)[0] == first[0]
    assert [one["skill"]["id"] for one in lines(out)] == ["a-good", "b-held"]


def test_a_run_is_not_resumed_on_other_terms(host: Host, skillmark: Command, tmp_path: Path) -> None:
    """Half of the report would be about something else: exit code 2, what changed is named, and nobody is called."""
    catalog, store = tmp_path / "catalog", tmp_path / "l.sqlite"
    manifest(catalog, host)
    evaluate = ("eval", "--skills", catalog, *LOOPBACK, "--store", f"sqlite:///{store}")
    host.held_from = 0
    run = skillmark(*evaluate)
    until(lambda: sum(host.calls.values()), "the run is under way")
    run.send_signal(signal.SIGINT)
    _, _, stderr = finished(run)
    run_id = stderr.partition("--resume ")[2].partition('"')[0]
    calls = sum(host.calls.values())

    for change, told in (
        (("--min-completion", "0.9"), "min_completion"),
        (("--runs", "2"), "repeats"),
        (("--benchmark", "coding-easy"), "benchmarks"),
        (("--allow-network", "10.0.0.0/8"), "allow-network"),
        (("--skills", manifest(tmp_path / "more", host)), "catalog"),
    ):
        code, stdout, stderr = finished(skillmark(*evaluate, *change, "--resume", run_id))

        assert (code, stdout) == (2, "")
        assert told in stderr
    assert sum(host.calls.values()) == calls


def test_a_skill_that_is_there_twice_counts_once(host: Host, skillmark: Command, tmp_path: Path) -> None:
    """The second of an id and version is rejected, counted, and told where the first is; also across places."""
    manifest(tmp_path / "one", host, name="same", id="same")
    manifest(tmp_path / "one", host, name="twin", id="same")
    manifest(tmp_path / "two", host, name="other", id="same")

    code, _, _ = finished(
        skillmark("eval", "--skills", tmp_path / "one", tmp_path / "two", *LOOPBACK, "--out", tmp_path / "out")
    )
    first, *others = lines(tmp_path / "out")

    assert code == 4
    assert first["verdict"] == "passed"
    assert [one["verdict"] for one in others] == ["rejected", "rejected"]
    assert all("one/same" in one["reasons"][0] for one in others)


def test_a_hosts_skills_never_run_beyond_its_cap(host: Host, skillmark: Command, tmp_path: Path) -> None:
    """Sixty tasks for each of four skills of one host: no more in flight than the policy allows, yet not one by one."""
    catalog = tmp_path / "catalog"
    for number in range(4):
        manifest(catalog, host, name=f"skill-{number}")

    code, _, stderr = finished(
        skillmark("eval", "--skills", catalog, "--tasks", tasks(tmp_path), *LOOPBACK, "--concurrency", "64")
    )

    assert code == 0, stderr
    assert sum(host.calls.values()) == 4 * TASKS
    assert 1 < host.most <= policy.load().limits.host_in_flight


def test_a_skills_own_limit_is_kept(host: Host, skillmark: Command, tmp_path: Path) -> None:
    """A publisher that asks for a pace is called one by one."""
    catalog = manifest(tmp_path / "catalog", host, max_requests_per_second=200)

    code, _, stderr = finished(skillmark("eval", "--skills", catalog, "--tasks", tasks(tmp_path), *LOOPBACK))

    assert code == 0, stderr
    assert host.most == 1
