from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.e2e.command import Command, Marketplace, finished, lines, until
from tests.examples.expected import EXPECTED

LOOPBACK = ("--allow-network", "127.0.0.0/8")

SCORE = {"type": ["number", "null"], "minimum": 0, "maximum": 100}
PILLAR = {
    "type": "object",
    "required": ["score", "live", "static", "coverage"],
    "additionalProperties": False,
    "properties": {"score": SCORE, "live": SCORE, "static": SCORE, "coverage": {"minimum": 0, "maximum": 1}},
}
DIGEST = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
OUTCOMES = [
    "exploited",
    "suspect",
    "resisted",
    "inconclusive",
    "not_applicable",
    "error",
    "pass",
    "fail",
    "partial",
    "timeout",
    "unjudged",
]
CATEGORIES = [
    "prompt_injection",
    "data_exfiltration",
    "system_prompt_extraction",
    "role_manipulation",
    "encoding",
    None,
]
SKILL = {
    "type": "object",
    "required": ["id", "name", "version", "digest", "source"],
    "properties": {"digest": {"anyOf": [DIGEST, {"type": "null"}]}},
}
LATENCY = {
    "type": ["object", "null"],
    "required": ["p50", "p95", "p99", "samples", "uncertainty"],
    "additionalProperties": {"type": ["number", "array"]},
}
FINDING = {
    "type": "object",
    "required": ["probe", "pillar", "category", "severity", "outcome", "score", "evidence"],
    "additionalProperties": False,
    "properties": {
        "probe": {"type": "string"},
        "pillar": {"enum": ["functional", "security", "performance"]},
        "category": {"enum": CATEGORIES},
        "severity": {"enum": ["critical", "high", "medium", "low", None]},
        "outcome": {"enum": OUTCOMES},
        "score": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
        "evidence": {"type": "string"},
        "location": {"type": "string"},
        "points": {"type": "number", "minimum": 0, "maximum": 100},
    },
}
STAMPS = {
    "type": "object",
    "required": ["engine", "policy", "corpus", "benchmarks"],
    "properties": {"policy": DIGEST, "corpus": DIGEST, "benchmarks": {"additionalProperties": DIGEST}},
}
PROPERTIES = {
    "skill": SKILL,
    "run_id": {"type": "string"},
    "mode": {"enum": ["live", "static"]},
    "verdict": {"enum": ["certified", "not_certified", "incomplete", "rejected"]},
    "reasons": {"type": "array", "items": {"type": "string"}, "minItems": 1},
    "overall": SCORE,
    "band": {"enum": ["Exceptional", "Strong", "Good", "Needs work", "Substantial concerns", None]},
    "pillars": {
        "propertyNames": {"enum": ["functional", "security", "performance"]},
        "additionalProperties": PILLAR,
    },
    "latency_ms": LATENCY,
    "findings": {"type": "array", "items": FINDING},
    "stamps": STAMPS,
}
CONTRACT = {
    "type": "object",
    "required": list(PROPERTIES),
    "additionalProperties": False,
    "properties": PROPERTIES,
}


def named(record: dict[str, Any]) -> str:
    """The skill's id, or the folder of an entry that has none."""
    return record["skill"]["id"] or Path(record["skill"]["source"].partition("#")[0]).parent.name


def test_every_example_skill_gets_the_verdict_it_was_made_for(
    marketplace: Marketplace, skillmark: Command, tmp_path: Path
) -> None:
    """The whole example catalog, embedded: verdicts, failing pillars, reports, exit code."""
    catalog, out = marketplace.catalog("catalog"), tmp_path / "out"

    code, stdout, _ = finished(skillmark("certify", catalog, *LOOPBACK, "--out", out))
    records = lines(out)

    assert code == 4, stdout  # one entry is there to be rejected
    assert {named(one): one["verdict"] for one in records} == {name: verdict for name, (verdict, _) in EXPECTED.items()}
    for one in records:
        jsonschema.Draft202012Validator(CONTRACT).validate(one)
        failing = EXPECTED[named(one)][1]
        if failing is not None:
            assert one["pillars"][failing]["score"] < 85, one["reasons"]
            assert any(reason.startswith((failing, "PI-", "SP-", "DX-")) for reason in one["reasons"])
        assert f" {one['verdict'].replace('_', ' ')}" in stdout
    report = (out / "report.md").read_text("utf-8")
    assert "**certified**" in report
    assert "TEST-CANARY" not in report


def test_json_is_one_object_on_stdout(marketplace: Marketplace, skillmark: Command) -> None:
    """--json prints counts and records and nothing else; the logs go elsewhere."""
    catalog = marketplace.catalog("catalog", "calculator", "invoice-reader")

    code, stdout, _ = finished(skillmark("certify", catalog, *LOOPBACK, "--json"))
    printed = json.loads(stdout)

    assert code == 4
    assert printed["counts"] == {"certified": 1, "not_certified": 0, "incomplete": 0, "rejected": 1}
    assert [one["verdict"] for one in printed["results"]] == ["certified", "rejected"]


def test_a_gate_that_fails_exits_with_one(marketplace: Marketplace, skillmark: Command) -> None:
    """--exit-on-fail and --fail-under turn a refused certificate into exit code 1; without them it is 0."""
    catalog = marketplace.catalog("catalog", "helpdesk")

    codes = [
        finished(skillmark("certify", catalog, *LOOPBACK, *gate))[0]
        for gate in ((), ("--exit-on-fail",), ("--fail-under", "99"), ("--fail-under", "50"))
    ]

    assert codes == [0, 1, 1, 0]


def test_without_leave_no_private_address_is_called(marketplace: Marketplace, skillmark: Command) -> None:
    """A skill on a private address is not judged, not blamed, and the remedy is named."""
    catalog = marketplace.catalog("catalog", "calculator")

    code, stdout, _ = finished(skillmark("certify", catalog))

    assert code == 4
    assert "incomplete" in stdout
    assert "--allow-network 127.0.0.0/8" in stdout


def test_static_mode_calls_nobody_and_certifies_nobody(skillmark: Command, tmp_path: Path) -> None:
    """--mode static judges manifests alone, capped at 85, whether anything listens or not."""
    catalog = Path(__file__).parents[2] / "examples" / "marketplace" / "catalog"

    code, _, _ = finished(skillmark("certify", catalog, "--mode", "static", "--out", tmp_path / "out"))
    records = [one for one in lines(tmp_path / "out") if one["verdict"] != "rejected"]

    assert code == 4
    assert {one["verdict"] for one in records} == {"not_certified"}
    assert all(one["overall"] <= 85 and one["mode"] == "static" for one in records)


def test_a_benchmark_is_run_and_stamped(marketplace: Marketplace, skillmark: Command, tmp_path: Path) -> None:
    """--benchmark by id adds its tasks to the functional pillar and its digest to the stamps."""
    catalog = marketplace.catalog("catalog", "calculator")

    finished(skillmark("certify", catalog, *LOOPBACK, "--benchmark", "coding-easy", "--out", tmp_path / "out"))
    (record,) = lines(tmp_path / "out")

    assert set(record["stamps"]["benchmarks"]) == {"coding-easy"}
    assert sum(one["probe"].startswith("coding-easy/") for one in record["findings"]) == 20


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("nowhere",), "nowhere"),
        (("catalog", "--benchmark", "coding-esy"), "coding-easy"),
        (("catalog", "--benchmark", "wrong.json"), "/tasks/0/evaluator"),
        (("catalog", "--policy", "none.toml"), "none.toml"),
        (("catalog", "--allow-network", "everywhere"), "127.0.0.0/8"),
        (("catalog", "--mode", "dead"), "live"),
        (("catalog", "--concurrency", "0"), "concurrency"),
    ],
)
def test_bad_input_is_refused_before_any_traffic(
    marketplace: Marketplace, skillmark: Command, tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    """Exit code 2, one clear message on stderr, nothing on stdout."""
    marketplace.catalog("catalog", "calculator")
    task = {"id": "t", "description": "d", "inputData": {}, "expectedOutput": {"type": "magic"}, "evaluator": "magic"}
    (tmp_path / "wrong.json").write_text(
        json.dumps(
            {"id": "wrong", "name": "n", "version": "1.0.0", "domain": "d", "scoringMethod": "mean", "tasks": [task]}
        )
    )

    code, stdout, stderr = finished(skillmark("certify", *arguments))

    assert (code, stdout) == (2, "")
    assert told in stderr
    assert "Traceback" not in stderr


@pytest.mark.parametrize(
    ("option", "value"),
    [("--broker", "amqp://me:hush@127.0.0.1:1/"), ("--store", "postgresql://me:hush@127.0.0.1:1/x")],
)
def test_a_broker_or_store_that_is_not_there_exits_with_three(
    marketplace: Marketplace, skillmark: Command, option: str, value: str
) -> None:
    """Exit code 3, and the password stays out of the message."""
    catalog = marketplace.catalog("catalog", "calculator")

    code, stdout, stderr = finished(skillmark("certify", catalog, option, value))

    assert (code, stdout) == (3, "")
    assert "127.0.0.1" in stderr
    assert "hush" not in stderr


def test_an_interrupted_run_exits_with_130_and_keeps_what_it_has(
    marketplace: Marketplace, skillmark: Command, tmp_path: Path
) -> None:
    """SIGINT in mid-run: what was judged is written, the rest is left out."""
    catalog, out = marketplace.catalog("catalog", "calculator", "capital-finder"), tmp_path / "out"
    process = skillmark("certify", catalog, *LOOPBACK, "--out", out, "--store", f"sqlite:///{tmp_path / 'l.sqlite'}")

    until(lambda: _concluded(tmp_path / "l.sqlite"), "the quick skill is judged")
    process.send_signal(signal.SIGINT)
    code, _, _ = finished(process)

    assert code == 130
    assert [one["skill"]["id"] for one in lines(out)] == ["calculator"]


def _concluded(store: Path) -> int:
    import sqlite3
    from contextlib import closing

    if not store.exists():
        return 0
    with closing(sqlite3.connect(store)) as connection:
        try:
            return int(connection.execute("SELECT count(*) FROM records").fetchone()[0])
        except sqlite3.OperationalError:
            return 0


def test_progress_is_drawn_on_a_terminal_only(marketplace: Marketplace, tmp_path: Path) -> None:
    """With stderr on a terminal there is a bar with jobs and skills; the table on stdout stays clean."""
    catalog = marketplace.catalog("catalog", "calculator", "text-tool")
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "coordinator.cli", "certify", str(catalog), *LOOPBACK],
        stdout=subprocess.PIPE,
        stderr=terminal,
        text=True,
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path), "TERM": "xterm", "COLUMNS": "120"},
    )
    os.close(terminal)
    drawn = b""
    while True:
        try:
            drawn += os.read(controller, 65536)
        except OSError:  # the other side is closed
            break
    stdout, _ = process.communicate(timeout=60)
    os.close(controller)

    assert process.returncode == 0
    assert b"jobs/s" in drawn
    assert re.search(rb"2 of 2 skills", drawn)
    assert "\x1b" not in stdout
