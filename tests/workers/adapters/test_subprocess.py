"""Programs that are started for each call, one JSON-RPC line in and one out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from workers import secrets
from workers.adapters import subprocess
from workers.adapters._adapter import NoHttpRequest
from workers.adapters._body import BODY_BYTES
from workers.faults import BadJob
from workers.observation import Answered, Broke, Failed, Malformed, Observation, Refused, TimedOut, Value
from workers.sandbox import consent
from workers.wire.skill import Access, SkillRef

CALCULATOR = Path(__file__).parents[2] / "programs" / "calculator"
ANSWER = 'printf \'{"jsonrpc": "2.0", "result": {"ok": true}, "id": 1}\\n\''


@pytest.fixture(autouse=True)
def _consent() -> Iterator[None]:
    consent.give(True)
    yield
    consent.give(False)
    secrets.grant(())


def program(*command: str, folder: Path | str = CALCULATOR, allow_exec: bool = True, **options: Any) -> SkillRef:
    """A skill that is *command* in *folder*."""
    return SkillRef(
        id="tool",
        name="Tool",
        version="1.0.0",
        digest="sha256:0",
        access=Access(
            adapter="subprocess",
            endpoint="stdio://tool",
            options={"command": list(command), "folder": str(folder), **options},
        ),
        input_schema={},
        allow_exec=allow_exec,
    )


def call(skill: SkillRef, inputs: dict[str, Any] | None = None, *, deadline_s: float = 30.0) -> Observation:
    async def run() -> Observation:
        adapter = subprocess.open()
        try:
            return await adapter.call(skill, inputs or {}, deadline_s=deadline_s)
        finally:
            await adapter.aclose()

    return asyncio.run(run())


def said(script: str, **options: Any) -> Answered:
    """What comes of a call of a shell script."""
    observation = call(program("sh", "-c", script, **options))
    assert isinstance(observation, Answered), observation
    return observation


@pytest.mark.parametrize(
    ("inputs", "reply"),
    [
        ({"expression": "2 + 3 * 4"}, Value({"result": "14"})),
        ({"expression": "2 +"}, Refused("JSON-RPC error -32602: cannot work that out: SyntaxError")),
    ],
)
def test_a_program_that_reads_all_of_its_input_answers(inputs: dict[str, Any], reply: Any) -> None:
    """The published template waits for the end of its input, and says a word before the answer."""
    observation = call(program("python3", "skill.py", folder=CALCULATOR), inputs)

    assert isinstance(observation, Answered)
    assert observation.reply == reply
    assert observation.body.startswith(b"calculator ready\n")


def test_the_request_is_one_json_rpc_line() -> None:
    """The program gets the inputs as params of invoke, on one line that ends."""
    observation = call(program("sh", "-c", "head -n 1 >&2; " + ANSWER), {"text": "a\nb", "n": 1})

    assert isinstance(observation, Answered)
    sent = json.loads(dict(observation.headers)["stderr"])
    assert sent == {"jsonrpc": "2.0", "method": "invoke", "params": {"text": "a\nb", "n": 1}, "id": 1}


@pytest.mark.parametrize(
    "script",
    [
        f"echo noise; echo '{{\"level\": \"info\"}}'; echo '[1]'; {ANSWER}",
        f"{ANSWER}; sleep 600",
        'printf \'{"jsonrpc": "2.0", "result": {"ok": true}, "id": 1}\'',
        'printf \'{\\n "jsonrpc": "2.0",\\n "result": {"ok": true},\\n "id": 1\\n}\\n\'',
        f"exec < /dev/null; {ANSWER}",
    ],
    ids=["noise before", "stays after", "no line end", "several lines", "reads nothing"],
)
def test_an_answer_is_found(script: str) -> None:
    """Noise before the answer, a program that stays, a line without an end, and one not read from are all fine."""
    assert said(script).reply == Value({"ok": True})


@pytest.mark.parametrize(
    ("script", "reply", "reason"),
    [
        ("echo oops >&2; exit 3", Failed, "no answer, and exit code 3; stderr ends with: oops"),
        ("kill -SEGV $$", Failed, "no answer, and ended by SIGSEGV"),
        (f"{ANSWER}; echo late >&2; exit 1", Failed, "it answered, but exit code 1; stderr ends with: late"),
        ("echo hello", Malformed, "no JSON-RPC response among the lines of its output; it wrote 'hello'"),
        ("true", Malformed, "no JSON-RPC response among the lines of its output; it wrote nothing"),
        ('echo \'{"jsonrpc": "2.0", "result": 1, "id": 2}\'', Malformed, "the result answers another request"),
        (
            'echo \'{"jsonrpc": "2.0", "error": {"code": -32603, "message": "boom"}, "id": 1}\'',
            Failed,
            "JSON-RPC error -32603: boom",
        ),
        (
            'echo \'{"jsonrpc": "2.0", "error": {"code": 42, "message": "no such city"}, "id": 1}\'',
            Refused,
            "JSON-RPC error 42: no such city",
        ),
        (
            'echo \'{"jsonrpc": "2.0", "error": {"code": 500, "message": "boom"}, "id": 1}\'',
            Failed,
            "JSON-RPC error 500: boom",
        ),
    ],
)
def test_what_is_no_answer_says_why(script: str, reply: type, reason: str) -> None:
    """Exit codes, signals, noise and errors are told apart, with the end of stderr as evidence."""
    observation = said(script)

    assert isinstance(observation.reply, reply)
    assert getattr(observation.reply, "reason") == reason  # noqa: B009 - each of the types has one


def test_silence_is_a_time_out() -> None:
    """A program that says nothing until the deadline has timed out."""
    observation = call(program("sh", "-c", "sleep 600"), deadline_s=0.3)

    assert isinstance(observation, TimedOut)
    assert observation.deadline_ms == 300


def test_endless_output_is_cut() -> None:
    """A program that writes without end is stopped at the limit."""
    observation = call(program("sh", "-c", "yes"))

    assert isinstance(observation, Broke)
    assert observation.reason == f"an output of more than {BODY_BYTES} bytes"


def test_a_missing_program_of_its_own_is_the_skills(tmp_path: Path) -> None:
    """A manifest that names a file which its folder does not have is to blame for it."""
    observation = call(program("./run.sh", folder=tmp_path))

    assert observation == Broke(reason="its program ./run.sh is not there", elapsed_ms=0.0)


def test_both_sides_must_allow_it() -> None:
    """Nothing is started unless the one who sent the job and the worker's operator both allow it."""
    with pytest.raises(BadJob, match="--allow-exec allows that"):
        call(program("true", allow_exec=False))
    consent.give(False)
    with pytest.raises(BadJob, match="this worker starts no programs"):
        call(program("true"))


def test_a_secret_is_given_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A granted secret reaches the program; wherever that shows it, it is taken out."""
    monkeypatch.setenv("TOOL_KEY", "hush-hush-hush-1")
    secrets.grant(["TOOL_KEY@program"])
    script = 'echo "key $TOOL_KEY" >&2; printf \'{"jsonrpc": "2.0", "result": "%s", "id": 1}\\n\' "$TOOL_KEY"'

    observation = said(script, variables={"TOOL_KEY": "env:TOOL_KEY", "PLAIN": "text"})

    assert observation.reply == Value("[redacted]")
    assert b"hush" not in observation.body
    assert observation.headers == (("stderr", "key [redacted]\n"),)


def test_a_secret_that_is_not_granted_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """A manifest cannot name any variable of the worker; the refusal says what would allow it."""
    monkeypatch.setenv("TOOL_KEY", "hush-hush-hush-1")

    with pytest.raises(BadJob, match="--auth-env TOOL_KEY@program"):
        call(program("true", variables={"TOOL_KEY": "env:TOOL_KEY"}))


def test_there_is_no_http_request() -> None:
    """The latency probe is told that it has to time calls itself."""
    with pytest.raises(NoHttpRequest):
        subprocess.open().request(program("true"), {})


@pytest.mark.parametrize("options", [{"command": "true"}, {"command": ["true"], "folder": "/", "shell": True}])
def test_unknown_options_are_no_job(options: dict[str, Any]) -> None:
    """What the adapter does not know it refuses."""
    skill = SkillRef(
        id="tool",
        name="Tool",
        version="1.0.0",
        digest="sha256:0",
        access=Access(adapter="subprocess", endpoint="stdio://tool", options=options),
        input_schema={},
        allow_exec=True,
    )

    with pytest.raises(BadJob, match="subprocess access options"):
        call(skill)


def test_an_empty_command_is_no_job() -> None:
    """A job without a command cannot be run anywhere."""
    with pytest.raises(BadJob, match="names no program"):
        call(program())
