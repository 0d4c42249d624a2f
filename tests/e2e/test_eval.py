from __future__ import annotations

import json
from csv import DictReader
from pathlib import Path
from typing import Any

from tests.e2e.command import Command, Marketplace, finished, lines

LOOPBACK = ("--allow-network", "127.0.0.0/8")


def task(name: str, expression: str, value: str) -> dict[str, Any]:
    return {
        "id": name,
        "description": "Works it out.",
        "inputData": {"expression": expression},
        "expectedOutput": {"type": "exact", "value": value},
        "evaluator": {"type": "exact"},
    }


def written(folder: Path, *tasks: dict[str, Any]) -> Path:
    file = folder / "tasks.json"
    file.write_text(json.dumps(list(tasks)))
    return file


def test_a_skill_is_evaluated_on_a_benchmark(marketplace: Marketplace, skillmark: Command, tmp_path: Path) -> None:
    """Only its tasks, so often; every report that was asked for is written, and they agree."""
    catalog, out = marketplace.catalog("catalog", "calculator", "text-tool"), tmp_path / "out"

    code, stdout, _ = finished(
        skillmark(
            "eval", "--skills", catalog / "calculator" / "sxm-manifest.json", catalog / "text-tool",
            "--benchmark", "coding-easy", "--runs", "2", *LOOPBACK,
            "--format", "json", "markdown", "html", "csv", "--out", out,
        )
    )  # fmt: skip
    cards = lines(out)

    assert code == 0, stdout
    assert [(one["skill"]["id"], one["verdict"]) for one in cards] == [
        ("calculator", "passed"),
        ("text-tool", "passed"),
    ]
    assert all(one["probe"].startswith("coding-easy/") for card in cards for one in card["findings"])
    assert all(card["measures"]["runs"] == 2 and card["measures"]["consistency"] == 1.0 for card in cards)
    assert set(cards[0]["stamps"]["benchmarks"]) == {"coding-easy"}
    assert json.loads((out / "results.json").read_text("ascii"))["results"] == cards
    with (out / "results.csv").open(newline="") as file:
        assert [float(row["completion_rate"]) for row in DictReader(file)] == [1.0, 1.0]
    assert {path.name for path in out.iterdir()} == {
        "results.jsonl", "results.json", "report.md", "report.html", "results.csv",
    }  # fmt: skip


def test_tasks_of_ones_own_decide_the_gate(marketplace: Marketplace, skillmark: Command, tmp_path: Path) -> None:
    """One of two passes: a completion of 0.5 passes at 0.5 and fails the gate at 0.6."""
    catalog = marketplace.catalog("catalog", "calculator")
    tasks = written(tmp_path, task("right", "2+3", "5"), task("wrong", "2+3", "6"))

    ends = [
        finished(skillmark("eval", "--skills", catalog, "--tasks", tasks, *LOOPBACK, *gate))
        for gate in (
            ("--min-completion", "0.5", "--exit-on-fail"),
            ("--min-completion", "0.6", "--exit-on-fail"),
            ("--min-completion", "0.6"),
        )
    ]

    assert [code for code, _, _ in ends] == [0, 1, 0]
    assert "completion 50% is below 60%" in ends[1][1]
    assert "tasks/wrong" in ends[1][1]


def test_a_format_without_a_folder_goes_to_stdout(marketplace: Marketplace, skillmark: Command, tmp_path: Path) -> None:
    """JSON can be piped, and so can the others, one after another."""
    catalog = marketplace.catalog("catalog", "calculator")
    evaluate = ("eval", "--skills", catalog, "--tasks", written(tmp_path, task("add", "2+3", "5")), *LOOPBACK)

    _, alone, _ = finished(skillmark(*evaluate, "--format", "json"))
    _, both, _ = finished(skillmark(*evaluate, "--format", "markdown", "csv"))

    assert json.loads(alone)["counts"] == {"passed": 1, "failed": 0, "incomplete": 0, "rejected": 0}
    assert both.startswith("# Evaluation report")
    assert "id,name,version" in both


def test_a_dry_run_checks_everything_and_calls_nobody(
    marketplace: Marketplace, skillmark: Command, tmp_path: Path
) -> None:
    """Jobs and requests are told, the rejected are named; the skills need not even be there."""
    catalog = marketplace.catalog("catalog", "calculator", "invoice-reader")
    marketplace.stop()
    evaluate = ("eval", "--skills", catalog, "--tasks", written(tmp_path, task("add", "2+3", "5")), "--runs", "3")

    code, stdout, _ = finished(skillmark(*evaluate, "--dry-run"))
    _, told, _ = finished(skillmark(*evaluate, "--dry-run", "--json"))

    assert code == 4  # one entry is there to be rejected
    assert "3 jobs, each task 3 times; nothing was called" in stdout
    assert json.loads(told)["requests_by_host"] == {marketplace.address: 3}
    assert "invoice-reader" in json.loads(told)["rejected"][0]
    assert not (tmp_path / "state").exists()


def test_an_evaluation_runs_on_a_fleet_as_alone(
    marketplace: Marketplace, skillmark: Command, broker_url: str, tmp_path: Path
) -> None:
    """The same scorecards over RabbitMQ, but for latencies and ids."""
    catalog = marketplace.catalog("catalog", "calculator", "text-tool")
    evaluate = ("eval", "--skills", catalog, "--benchmark", "coding-easy", *LOOPBACK)
    skillmark("worker", "--broker", broker_url)

    finished(skillmark(*evaluate, "--out", tmp_path / "alone"))
    code, _, stderr = finished(skillmark(*evaluate, "--out", tmp_path / "fleet", "--broker", broker_url))

    assert code == 0, stderr
    alone, fleet = (
        [{**card, "run_id": "", "measures": _timeless(card)} for card in lines(tmp_path / of)]
        for of in ("alone", "fleet")
    )
    assert alone == fleet


def _timeless(card: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in card["measures"].items() if name not in ("latency_ms", "composite")}


def test_two_runs_are_compared(marketplace: Marketplace, skillmark: Command, tmp_path: Path) -> None:
    """The same results do not differ; a task that fails now is a regression: in the table, in JSON, as exit code."""
    catalog = marketplace.catalog("catalog", "calculator")
    for name, value in (("before", "5"), ("after", "6")):
        tasks = written(tmp_path, task("add", "2+3", value), task("two", "1+1", "2"))
        finished(skillmark("eval", "--skills", catalog, "--tasks", tasks, *LOOPBACK, "--out", tmp_path / name))

    same, _, _ = finished(skillmark("report", "diff", tmp_path / "before", tmp_path / "before"))
    code, stdout, _ = finished(skillmark("report", "diff", tmp_path / "before", tmp_path / "after"))
    _, told, _ = finished(skillmark("report", "diff", tmp_path / "before", tmp_path / "after", "--json"))
    back, _, _ = finished(skillmark("report", "diff", tmp_path / "after", tmp_path / "before"))

    assert (same, code, back) == (0, 1, 0)
    assert "tasks/add: pass -> fail" in stdout
    assert "100% -> 50%" in stdout
    assert json.loads(told)["tasks"]["regressed"] == 1
    assert json.loads(told)["skills"][0]["verdict"] == "regressed"
