"""Two results, an older and a newer one, compared skill by skill and task by task.

A regression is evidence: a task or attack that ends worse than before, a verdict that fell. What could not be judged
this time is told and is none: no evidence is not zero. Nor is a latency that rose, which the machine may have done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

RESULTS = "results.jsonl"
MAX_LINE_BYTES = 64 << 20
RANKS = {
    "pass": 2, "resisted": 2, "partial": 1, "suspect": 1, "fail": 0, "timeout": 0, "error": 0, "exploited": 0,
    "certified": 2, "passed": 2, "not_certified": 1, "failed": 1, "rejected": 0,
}  # fmt: skip


class ResultsError(Exception):
    """A file that holds no results; the message names it, the line, what was expected and what was found."""


class Change(StrEnum):
    """How a task, or a skill's verdict, differs; *undecided* is what has no outcome on one of the two sides."""

    REGRESSED = "regressed"
    IMPROVED = "improved"
    UNDECIDED = "undecided"
    NEW = "new"
    GONE = "gone"


class Side(Struct, frozen=True, kw_only=True):
    """A skill in one of the results: the figures are None where there are none."""

    version: str | None
    verdict: str
    overall: float | None
    completion_rate: float | None
    p95_ms: float | None
    tasks: dict[str, tuple[str, float | None]]


class TaskChange(Struct, frozen=True, kw_only=True):
    """One task that ended otherwise; None on the side where there is no such task. Scores are 0 to 1."""

    task: str
    change: Change
    before: str | None
    after: str | None
    score_before: float | None = None
    score_after: float | None = None


class SkillChange(Struct, frozen=True, kw_only=True):
    """One skill; *verdict* tells how the verdict differs, None where it does not."""

    skill: str
    change: Change | None
    verdict: Change | None
    before: Side | None
    after: Side | None
    tasks: tuple[TaskChange, ...]

    @property
    def regressed(self) -> bool:
        """Whether the verdict or any task did."""
        return self.verdict is Change.REGRESSED or any(one.change is Change.REGRESSED for one in self.tasks)


class _Skill(Struct):
    id: str | None
    version: str | None
    source: str


class _Finding(Struct):
    probe: str
    outcome: str
    score: float | None = None
    pillar: str = ""


class _Latency(Struct):
    p95: float


class _Measures(Struct):
    completion_rate: float | None = None
    latency_ms: _Latency | None = None


class _Line(Struct):
    """What `certify` and `eval` write, as far as it is compared."""

    skill: _Skill
    verdict: str
    findings: list[_Finding]
    overall: float | None = None
    latency_ms: _Latency | None = None
    measures: _Measures | None = None


def sides(path: Path) -> dict[str, Side]:
    """The skills of the results at *path* by their id: a results.jsonl, or a folder that holds one.

    An entry without id goes by its source, a second version of a skill by id and version.

    Raises:
        ResultsError: If there are none, or a line is no record.
    """
    file = path / RESULTS if path.is_dir() else path
    found: dict[str, Side] = {}
    for line in _lines(file):
        key = line.skill.id or line.skill.source
        if key in found:
            key = f"{key} {line.skill.version}"
        found[key] = _side(line)
    return found


def command(skills: Mapping[str, Side]) -> str | None:
    """The command that these results are of, None where no verdict tells."""
    told = {one.verdict for one in skills.values()}
    return "certify" if told & {"certified", "not_certified"} else "eval" if told & {"passed", "failed"} else None


def compare(before: Mapping[str, Side], after: Mapping[str, Side]) -> Iterator[SkillChange]:
    """The skills that differ, those of *before* first, each in its order."""
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            change = Change.NEW if old is None else Change.GONE
            yield SkillChange(skill=name, change=change, verdict=None, before=old, after=new, tasks=())
            continue
        verdict = None if old.verdict == new.verdict else _change((old.verdict, None), (new.verdict, None))
        tasks = tuple(_tasks(old.tasks, new.tasks))
        if verdict or tasks:
            yield SkillChange(skill=name, change=None, verdict=verdict, before=old, after=new, tasks=tasks)


def _tasks(
    before: Mapping[str, tuple[str, float | None]], after: Mapping[str, tuple[str, float | None]]
) -> Iterator[TaskChange]:
    for task in dict.fromkeys((*before, *after)):
        old, new = before.get(task), after.get(task)
        if old == new:
            continue
        if old is None or new is None:
            change: Change | None = Change.NEW if old is None else Change.GONE
        else:
            change = _change(old, new)
        if change is not None:
            yield TaskChange(
                task=task,
                change=change,
                before=old[0] if old else None,
                after=new[0] if new else None,
                score_before=old[1] if old else None,
                score_after=new[1] if new else None,
            )


def _change(before: tuple[str, float | None], after: tuple[str, float | None]) -> Change | None:
    old, new = RANKS.get(before[0]), RANKS.get(after[0])
    if old is None or new is None:
        return None if before[0] == after[0] else Change.UNDECIDED
    worth = (old, before[1] or 0.0), (new, after[1] or 0.0)
    if worth[0] == worth[1]:
        return None
    return Change.REGRESSED if worth[1] < worth[0] else Change.IMPROVED


def _side(line: _Line) -> Side:
    tasks: dict[str, tuple[str, float | None]] = {}
    for one in line.findings:
        new = (one.outcome, one.score)
        # Several findings of one name, such as those on a manifest: the worst stands for them.
        tasks[one.probe] = min(tasks.get(one.probe, new), new, key=lambda each: (RANKS.get(each[0], 3), each[1] or 0.0))
    measures = line.measures or _Measures()
    latency = line.latency_ms or measures.latency_ms
    return Side(
        version=line.skill.version,
        verdict=line.verdict,
        overall=line.overall,
        completion_rate=measures.completion_rate,
        p95_ms=latency.p95 if latency else None,
        tasks=tasks,
    )


def _lines(file: Path) -> Iterator[_Line]:
    decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(_Line)
    try:
        with file.open("rb") as stream:
            number = 0
            while body := stream.readline(MAX_LINE_BYTES + 1):
                number += 1
                if len(body) > MAX_LINE_BYTES:
                    raise ResultsError(f"{file}:{number}: expected a line of at most {MAX_LINE_BYTES:,} bytes")
                if body.strip():
                    yield decoder.decode(body)
    except OSError as error:
        raise ResultsError(
            f"{file}: expected the {RESULTS} of a run, or its folder; found none that can be read: {error.strerror}"
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ResultsError(f"{file}:{number}: expected a record as `certify` or `eval` writes it: {error}") from error
