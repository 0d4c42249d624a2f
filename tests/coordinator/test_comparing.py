from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from coordinator.comparing import RANKS, Change, ResultsError, Side, SkillChange, compare, sides
from coordinator.report import changes


def side(verdict: str = "certified", **tasks: Any) -> Side:
    """A side with *tasks*, each an outcome or an outcome and a score."""
    return Side(
        version="1.0.0",
        verdict=verdict,
        overall=95.0,
        completion_rate=None,
        p95_ms=1.0,
        tasks={name: (one, None) if isinstance(one, str) else one for name, one in tasks.items()},
    )


def only(before: Side, after: Side) -> SkillChange:
    (change,) = compare({"s": before}, {"s": after})
    return change


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ("pass", "fail", Change.REGRESSED),
        ("pass", "timeout", Change.REGRESSED),
        ("resisted", "suspect", Change.REGRESSED),
        ("suspect", "exploited", Change.REGRESSED),
        (("partial", 0.8), ("partial", 0.5), Change.REGRESSED),
        ("error", "partial", Change.IMPROVED),
        ("exploited", "resisted", Change.IMPROVED),
        ("pass", "unjudged", Change.UNDECIDED),
        ("inconclusive", "resisted", Change.UNDECIDED),
        ("a new outcome", "pass", Change.UNDECIDED),
    ],
)
def test_a_task_is_worth_its_outcome_then_its_score(before: Any, after: Any, change: Change) -> None:
    """Worse is a regression, better an improvement, and what could not be judged is neither."""
    found = only(side(task=before), side(task=after))

    assert [one.change for one in found.tasks] == [change]
    assert found.regressed is (change is Change.REGRESSED)


def test_tasks_come_and_go() -> None:
    """A task on one side only is new or gone, and no regression."""
    found = only(side(old="pass"), side(new="fail"))

    assert {one.task: one.change for one in found.tasks} == {"old": Change.GONE, "new": Change.NEW}
    assert not found.regressed


def test_skills_come_and_go() -> None:
    """A skill on one side only is new or gone, in the order of the results."""
    found = list(compare({"a": side(), "b": side()}, {"b": side(), "c": side()}))

    assert [(one.skill, one.change) for one in found] == [("a", Change.GONE), ("c", Change.NEW)]
    assert not any(one.regressed for one in found)


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ("certified", "not_certified", Change.REGRESSED),
        ("passed", "failed", Change.REGRESSED),
        ("failed", "rejected", Change.REGRESSED),
        ("not_certified", "certified", Change.IMPROVED),
        ("certified", "incomplete", Change.UNDECIDED),
    ],
)
def test_a_verdict_that_falls_is_a_regression(before: str, after: str, change: Change) -> None:
    """One that is incomplete this time is not."""
    found = only(side(before), side(after))

    assert found.verdict is change
    assert found.regressed is (change is Change.REGRESSED)


OUTCOMES = st.sampled_from([*RANKS, "unjudged", "inconclusive", "not_applicable"])
SIDES = st.dictionaries(
    st.sampled_from("abc"),
    st.builds(
        lambda verdict, tasks: side(verdict, **tasks),
        OUTCOMES,
        st.dictionaries(st.sampled_from("xyz"), st.tuples(OUTCOMES, st.none() | st.floats(0, 1))),
    ),
)


@settings(deadline=None)  # a busy machine is no failure
@given(before=SIDES, after=SIDES)
def test_the_other_way_round_everything_is_the_opposite(before: dict[str, Side], after: dict[str, Side]) -> None:
    """What regressed improves, what is new is gone; the same results never differ."""
    opposite = {
        Change.REGRESSED: Change.IMPROVED,
        Change.IMPROVED: Change.REGRESSED,
        Change.NEW: Change.GONE,
        Change.GONE: Change.NEW,
        Change.UNDECIDED: Change.UNDECIDED,
        None: None,
    }

    there = {one.skill: one for one in compare(before, after)}
    back = {one.skill: one for one in compare(after, before)}

    assert not list(compare(before, before))
    assert there.keys() == back.keys()
    for name, one in there.items():
        assert back[name].change is opposite[one.change]
        assert back[name].verdict is opposite[one.verdict]
        assert {task.task: opposite[task.change] for task in one.tasks} == {
            task.task: task.change for task in back[name].tasks
        }


def line(skill: str | None, version: str = "1", **changes: Any) -> str:
    made = {
        "skill": {"id": skill, "version": version, "source": "catalog/x.json"},
        "verdict": "certified",
        "findings": [{"probe": "manifest", "outcome": "fail"}, {"probe": "manifest", "outcome": "pass"}],
        "latency_ms": {"p95": 3.0, "p50": 1.0},
    }
    return json.dumps({**made, **changes}) + "\n"


def test_results_are_read_from_a_file_or_its_folder(tmp_path: Path) -> None:
    """Skills go by id, a second version by both, an entry without id by its source; the worst of a name counts."""
    (tmp_path / "results.jsonl").write_text(line("a") + line("a", "2") + line(None) + "\n")

    found = sides(tmp_path)

    assert found == sides(tmp_path / "results.jsonl")
    assert list(found) == ["a", "a 2", "catalog/x.json"]
    assert found["a"].tasks == {"manifest": ("fail", None)}
    assert found["a"].p95_ms == 3.0


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"\xff\xfe", ":1: expected a record"),
        (line("a").encode() + b"{}", ":2: expected a record"),
        (b"[" * 100_000, ":1: expected a record"),
        (b'{"skill": {"id": "\xed\xa0\x80"}}', ":1: expected a record"),
    ],
)
def test_what_is_no_result_is_refused_with_its_line(tmp_path: Path, content: bytes, told: str) -> None:
    """Whatever the file holds, the message names file and line."""
    file = tmp_path / "r.jsonl"
    file.write_bytes(content)

    with pytest.raises(ResultsError, match=told):
        sides(file)


def test_results_that_are_not_there_are_refused(tmp_path: Path) -> None:
    """A folder without results is named with the file that was expected."""
    with pytest.raises(ResultsError, match=r"results\.jsonl"):
        sides(tmp_path)


def test_the_table_tells_regressions_first_and_escapes() -> None:
    """Names of tasks and skills are of others."""
    stream = io.StringIO()
    found = list(
        compare(
            {"a": side(x="fail"), "b\x1b[31m": side("certified", x="pass")},
            {"a": side(x="pass"), "b\x1b[31m": side("not_certified", x="fail")},
        )
    )

    changes.show(Console(file=stream, width=200), found)
    lines = stream.getvalue().splitlines()

    assert "\x1b" not in stream.getvalue()
    assert lines[3].startswith(r"regressed  b\x1b[31m  verdict: certified -> not_certified")
    assert lines[-1].startswith("improved   a  x: fail -> pass")


def test_no_difference_is_said() -> None:
    """An empty comparison says so."""
    stream = io.StringIO()

    changes.show(Console(file=stream), [])

    assert stream.getvalue() == "no difference\n"
