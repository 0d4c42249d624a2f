"""The judge, asked for real: a server process that speaks its protocol."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judge import JudgeProcess, judging
from workers import registry
from workers.evaluators import _judge, llm_judge
from workers.evaluators._evaluator import Score
from workers.evaluators._judge import Unfit
from workers.evaluators.llm_judge import Question
from workers.faults import BadExpectation, BadJob, Exhausted

KEY = "judge-key-1234567890"
PROMPT = "Rate how well this greets, from 0 to 10."


@pytest.fixture(scope="module")
def judge() -> Iterator[JudgeProcess]:
    """One judge for all tests of this file."""
    with judging() as process:
        yield process


@pytest.fixture(autouse=True)
def _asked(judge: JudgeProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVAL_SKILLS_LLM_KEY", KEY)
    monkeypatch.setenv("SKILLMARK_LLM_BASE_URL", judge.base_url)
    monkeypatch.setattr(_judge, "PAUSE_S", 0.001)
    monkeypatch.setattr(llm_judge, "_marks", llm_judge._Marks())


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Chooses how the judge answers."""
    return lambda name: monkeypatch.setenv("SKILLMARK_LLM_MODEL", name)


def mark(*replies: Any, prompt: str = PROMPT) -> list[Score]:
    """What the judge makes of *replies*, asked all at once."""
    ask = llm_judge.prepare({"type": "llm_judge", "judgePrompt": prompt}, {})

    async def run() -> list[Score]:
        return await asyncio.gather(*(ask(reply) for reply in replies))

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("given", "score"), [("7", 0.7), ("10", 1.0), ("0", 0.0), ("12", 1.0), ("-3", 0.0), ("1e300", 1.0), ("3.5", 0.35)]
)
def test_a_mark_is_a_tenth_of_the_scale(model: Any, given: str, score: float) -> None:
    """0 to 10 become 0 to 1; what lies beyond the scale counts as its end."""
    model(f"marks:{given}")

    (found,) = mark({"text": "Hello!"})

    assert found.value == score
    assert found.evidence.endswith("of 10: as told")


def test_the_judge_is_asked_as_its_protocol_wants(model: Any, judge: JudgeProcess) -> None:
    """The author's instructions and the output, the output between marks, at temperature 0, with the key."""
    model("marks:1")

    mark("Good morning, unique-output")

    (asked,) = judge.asked("marks:1")
    system, user = (message["content"] for message in asked["messages"])
    assert asked["path"] == "/v1/chat/completions"
    assert asked["authorization"] == f"Bearer {KEY}"
    assert asked["temperature"] == 0
    assert PROMPT in user
    fence = user.splitlines()[-1]
    assert fence in system
    assert user.count(fence) == 2
    assert user.index(fence) < user.index("unique-output") < user.rindex(fence)


def test_equal_answers_are_asked_about_once(model: Any, judge: JudgeProcess) -> None:
    """The same content costs one request, side by side and later; other content another."""
    model("marks:2")

    scores = mark({"a": 1}, {"a": 1}, "other", {"a": 1})
    again = mark({"a": 1})

    assert [score.value for score in (*scores, *again)] == [0.2] * 5
    assert len(judge.asked("marks:2")) == 2


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_passes_is_tried_again(model: Any, judge: JudgeProcess, status: int) -> None:
    """A busy or broken judge is asked again, and its answer counts as if it were the first."""
    model(f"later:{status}")

    (score,) = mark("Hello")

    assert score.value == 0.8
    assert len(judge.asked(f"later:{status}")) == 3


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("never:503", "the judge answers HTTP 503"),
        ("talks:I would say 7", "no JSON: 'I would say 7'"),
        ("talks:[7]", "no JSON object"),
        ('talks:{"score": "7"}', "no number as its score"),
        ('talks:{"score": true}', "no number as its score"),
        ("raw:<html>", "no JSON"),
        ('raw:{"choices": []}', "no choices"),
        ("obeys", "does not repeat the word from its instructions"),
    ],
)
def test_a_judge_that_keeps_failing_is_our_failure(model: Any, judge: JudgeProcess, name: str, reason: str) -> None:
    """An answer that is not in form is asked for again, and at last the answer stays unjudged; no score is made up."""
    model(name)

    with pytest.raises(Exhausted, match=reason):
        mark("Hello")

    assert len(judge.asked(name)) == _judge.TRIES


@pytest.mark.parametrize(("status", "variable"), [(401, "EVAL_SKILLS_LLM_KEY"), (404, "SKILLMARK_LLM_MODEL")])
def test_what_cannot_pass_is_not_tried_again(model: Any, judge: JudgeProcess, status: int, variable: str) -> None:
    """A wrong key or model is told at once, with the variable to look at and without the key."""
    model(f"never:{status}")

    with pytest.raises(BadJob, match=variable) as raised:
        mark("Hello")

    assert KEY not in str(raised.value)
    assert len(judge.asked(f"never:{status}")) == 1


def test_a_model_without_options_is_asked_plainly(model: Any) -> None:
    """One that refuses temperature and format is asked without; a fenced block of JSON is taken."""
    model("plain")

    assert mark("Hello")[0].value == 0.6


def test_a_judge_that_is_not_there_is_our_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused connection leaves the answer unjudged."""
    monkeypatch.setenv("SKILLMARK_LLM_BASE_URL", "http://127.0.0.1:1/v1")

    with pytest.raises(Exhausted, match="cannot be reached"):
        mark("Hello")


@pytest.mark.parametrize("url", ["gopher://x/", "not a url", "http://[::"])
def test_a_wrong_address_is_told(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """An address that is none names its variable."""
    monkeypatch.setenv("SKILLMARK_LLM_BASE_URL", url)

    with pytest.raises(BadJob, match="SKILLMARK_LLM_BASE_URL"):
        mark("Hello")


def test_without_a_key_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The missing key is told by name, before any traffic and by the job itself."""
    monkeypatch.delenv("EVAL_SKILLS_LLM_KEY")

    assert registry.lacks("llm_judge") == "EVAL_SKILLS_LLM_KEY"
    assert registry.lacks("exact") == ""
    with pytest.raises(BadJob, match="EVAL_SKILLS_LLM_KEY"):
        mark("Hello")


@pytest.mark.parametrize(
    ("expected", "options", "pointer"),
    [
        ({}, {}, "/expected/judgePrompt"),
        ({"judgePrompt": "  "}, {}, "/expected/judgePrompt"),
        ({"judgePrompt": "x" * 20_001}, {}, "/expected/judgePrompt"),
        ({"type": "exact", "judgePrompt": "x"}, {}, "/expected/type"),
        ({"judgePrompt": "x"}, {"model": "y"}, "/options/model"),
    ],
)
def test_an_expectation_that_cannot_be_judged_is_refused(
    expected: dict[str, Any], options: dict[str, Any], pointer: str
) -> None:
    """The benchmark's mistakes are found before anything is called."""
    with pytest.raises(BadExpectation) as raised:
        llm_judge.prepare(expected, options)

    assert raised.value.pointer == pointer


@given(st.text(), st.text())
def test_nothing_in_an_output_closes_its_marks(prompt: str, output: str) -> None:
    """Whatever the output, its marks stand in the question twice, and the word of the instructions not at all."""
    question = Question(prompt, output)

    user = question.messages[1]["content"]
    assert user.count(question.fence) == 2
    assert user.endswith(question.fence)
    assert question.seal not in user
    json.dumps(question.messages).encode("utf-8")


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=5))
def test_an_answer_is_a_score_or_unfit(score: Any) -> None:
    """Whatever stands where the score should: a figure from 0 to 1, or no figure."""
    question = Question("p", "o")

    try:
        found = question.read(json.dumps({"seal": question.seal, "score": score}))
    except Unfit:
        assert isinstance(score, bool) or not isinstance(score, int | float) or score != score or abs(score) > 1e15
    else:
        assert 0.0 <= found.value <= 1.0
