"""Programs and judges as a user meets them: the flag that allows them, the key that they need."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command import WAIT_S, Command
from tests.judge import judging

PROGRAMS = Path(__file__).parents[1] / "programs"
TASKS = PROGRAMS / "calculator" / "tests" / "basic.eval.json"

Evaluate = Callable[..., tuple[int, dict[str, Any], str]]


@pytest.fixture
def evaluate(tmp_path: Path) -> Evaluate:
    """Runs `skillmark eval --json` in an environment of its own: exit code, what it wrote, and its messages."""

    def run(*arguments: str | Path, **variables: str) -> tuple[int, dict[str, Any], str]:
        environment = {"PATH": os.environ["PATH"], "XDG_STATE_HOME": str(tmp_path / "state"), **variables}
        done = subprocess.run(
            [sys.executable, "-m", "coordinator.cli", "eval", "--json", *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment,
            timeout=WAIT_S,
            check=False,
        )
        return done.returncode, json.loads(done.stdout or "{}"), done.stderr

    return run


def test_a_program_is_started_with_leave_only(evaluate: Evaluate) -> None:
    """Without the flag the skill is counted and explained, and not started; with it its own tasks pass."""
    given = ("--skills", PROGRAMS / "calculator", "--tasks", TASKS)

    refused_code, refused, _ = evaluate(*given)
    code, done, _ = evaluate(*given, "--allow-exec")

    assert refused_code == 4
    assert refused["results"][0]["verdict"] == "incomplete"
    assert refused["results"][0]["reasons"] == ["it would have to be started as a program; --allow-exec allows that"]
    assert code == 0
    assert done["results"][0]["verdict"] == "passed"
    assert [one["outcome"] for one in done["results"][0]["findings"]] == ["pass", "pass"]


@pytest.fixture
def judged_tasks(tmp_path: Path) -> Path:
    """A file with one task for a judge."""
    task = {
        "id": "kind",
        "description": "Is kind",
        "inputData": {"text": "Good Morning"},
        "expectedOutput": {"type": "llm_judge", "judgePrompt": "Rate how well this names a page."},
        "evaluator": {"type": "llm_judge"},
        "timeoutMs": 10000,
    }
    path = tmp_path / "judged.json"
    path.write_text(json.dumps([task]))
    return path


def test_a_judge_without_key_is_refused_before_anything_is_called(evaluate: Evaluate, judged_tasks: Path) -> None:
    """The message names the variable and the task; nothing was started."""
    code, done, errors = evaluate("--skills", PROGRAMS / "slugify", "--tasks", judged_tasks, "--allow-exec")

    assert code == 2
    assert done == {}
    assert "EVAL_SKILLS_LLM_KEY" in errors
    assert "/tasks/0/evaluator" in errors


@pytest.mark.parametrize(
    ("model", "verdict", "outcome", "code"),
    [
        ("marks:9", "passed", "partial", 0),
        ("never:500", "incomplete", "unjudged", 4),
    ],
)
def test_a_judges_mark_is_the_tasks_score(
    evaluate: Evaluate, judged_tasks: Path, model: str, verdict: str, outcome: str, code: int
) -> None:
    """A judge that answers gives the score; one that fails leaves the task unjudged, whatever the skill answered."""
    with judging() as judge:
        ended, done, _ = evaluate(
            "--skills",
            PROGRAMS / "slugify",
            "--tasks",
            judged_tasks,
            "--allow-exec",
            "--min-completion",
            "0",
            EVAL_SKILLS_LLM_KEY="judge-key-1234567890",
            SKILLMARK_LLM_BASE_URL=judge.base_url,
            SKILLMARK_LLM_MODEL=model,
        )
        asked = judge.asked(model)

    (result,) = done["results"]
    (finding,) = result["findings"]
    assert (ended, result["verdict"], finding["outcome"]) == (code, verdict, outcome)
    assert "good-morning" in asked[0]["messages"][1]["content"]
    assert "judge-key" not in json.dumps(done)


@pytest.mark.parametrize(
    ("leave", "outcome", "evidence"),
    [
        ((), "unjudged", "this worker starts no programs; start it with --allow-exec"),
        (("--allow-exec",), "pass", ""),
    ],
)
def test_a_worker_starts_programs_with_leave_only(
    evaluate: Evaluate, skillmark: Command, broker_url: str, leave: tuple[str, ...], outcome: str, evidence: str
) -> None:
    """In a fleet the worker's own operator must allow it as well: a message alone starts nothing."""
    skillmark("worker", "--broker", broker_url, *leave)

    _, done, _ = evaluate("--skills", PROGRAMS / "calculator", "--tasks", TASKS, "--allow-exec", "--broker", broker_url)

    findings = done["results"][0]["findings"]
    assert [one["outcome"] for one in findings] == [outcome] * 2
    assert all(evidence in one["evidence"] for one in findings)
