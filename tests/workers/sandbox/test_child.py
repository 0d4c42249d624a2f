"""A program that is started: what it finds, what it may not do, and that nothing of it is left."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.workers.sandbox.conftest import need_bubblewrap
from workers.faults import BadJob
from workers.sandbox.child import ERRORS_CHARS, start
from workers.sandbox.program import Limits, NoProgram, Program

GONE_S = 30.0


def test_it_finds_a_clean_environment(run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """It finds a path, a language, a home of its own and what it was given; nothing of the worker's."""
    monkeypatch.setenv("EVAL_SKILLS_LLM_KEY", "secret-of-the-worker")

    ran = run("env", GIVEN="this")

    names = {line.partition("=")[0] for line in ran.output.splitlines()}
    assert names - {"PWD", "SHLVL", "_", "OLDPWD"} == {"PATH", "LANG", "HOME", "TMPDIR", "GIVEN"}
    assert "secret-of-the-worker" not in ran.output


def test_its_home_is_its_own_and_goes_with_it(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It can write to its home, however it leaves that behind; afterwards nothing of it is there."""
    homes = tmp_path / "homes"
    homes.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(homes))

    ran = run(
        'cd "$HOME" && i=0; while [ $i -lt 1200 ]; do mkdir d && cd d || break; i=$((i+1)); done; echo $i; chmod 0 .'
    )

    assert ran.output == "1200\n"
    assert not list(homes.iterdir())


def test_full_pipes_block_nobody(run: Callable[..., Any]) -> None:
    """A program that writes more than a pipe holds to both outputs, and reads nothing, comes to its end."""
    ran = run("head -c 300000 /dev/zero | tr '\\0' e >&2; head -c 300000 /dev/zero | tr '\\0' o", b"x" * 1_000_000)

    assert len(ran.output) == 300_000
    assert ran.errors == "…" + "e" * ERRORS_CHARS
    assert ran.ending == ""


@pytest.mark.parametrize(
    ("script", "ending"), [("exit 0", ""), ("exit 7", "exit code 7"), ("kill -SEGV $$", "ended by SIGSEGV")]
)
def test_how_it_ended_is_told(run: Callable[..., Any], script: str, ending: str) -> None:
    """An exit code and a signal are told apart, in a sandbox too."""
    assert run(script).ending == ending


def test_limits_hold(run: Callable[..., Any]) -> None:
    """Files, open files and CPU time are bounded."""
    limits = Limits(file_bytes=1 << 20, open_files=64, cpu_s=1)

    ran = run('ulimit -n; head -c 2000000 /dev/zero > "$HOME/big"; stat -c %s "$HOME/big"', limits=limits)
    spun = run("while :; do :; done", limits=limits)

    assert ran.output.split() == ["64", str(1 << 20)]
    assert spun.ending in ("ended by SIGXCPU", "ended by SIGKILL")


def test_memory_is_bounded(run: Callable[..., Any]) -> None:
    """Memory that a program can write to is bounded, so that it fails and not the machine."""
    ran = run("exec python3 -c 'bytearray(500_000_000)'", limits=Limits(data_bytes=256 << 20))

    assert ran.ending == "exit code 1"
    assert "MemoryError" in ran.errors


def test_what_it_leaves_behind_ends_with_it(run: Callable[..., Any], sandbox: str, tmp_path: Path) -> None:
    """A daemon in a session of its own, two forks away, does not outlive the program."""
    ran = run("(setsid sh -c 'sleep 600 & wait' >/dev/null 2>&1 &) ; echo started")

    assert ran.output == "started\n"
    assert not _processes(str(tmp_path), "sleep\x00600")


@pytest.mark.usefixtures("sandbox")
def test_a_closed_child_is_gone_with_its_children(tmp_path: Path) -> None:
    """Closing ends a program that ignores every polite signal, and what it started."""

    async def start_and_close() -> None:
        script = "trap '' TERM INT HUP PIPE; setsid sleep 601 & sleep 601"
        child = await start(Program(argv=("sh", "-c", script), folder=str(tmp_path)), Limits())
        await asyncio.to_thread(_until, lambda: len(_processes(str(tmp_path), "sleep\x00601")) == 2)
        await child.aclose()

    asyncio.run(start_and_close())

    assert not _processes(str(tmp_path), "sleep\x00601")


@pytest.mark.usefixtures("sandbox")
def test_programs_do_not_outlive_a_killed_worker(tmp_path: Path) -> None:
    """Kill -9 of the worker ends what it started, down to the grandchildren, and removes their home."""
    homes = tmp_path / "homes"
    homes.mkdir()
    code = (
        "import asyncio\n"
        "from workers.sandbox.child import start\n"
        "from workers.sandbox.program import Limits, Program\n"
        "async def main():\n"
        f"    program = Program(argv=('sh', '-c', 'setsid sleep 602 & echo up; sleep 602'), folder={str(tmp_path)!r})\n"
        "    child = await start(program, Limits())\n"
        "    print((await child.read()).decode(), flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    worker = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, env={**os.environ, "TMPDIR": str(homes)}
    )
    assert worker.stdout is not None
    assert worker.stdout.readline() == b"up\n"
    _until(lambda: len(_processes(str(tmp_path), "sleep\x00602")) == 2)

    worker.send_signal(signal.SIGKILL)
    worker.wait()
    worker.stdout.close()

    _until(lambda: not _processes(str(tmp_path), "sleep\x00602") and not list(homes.iterdir()))


def test_a_program_that_is_not_there_is_told_apart(tmp_path: Path) -> None:
    """What the machine lacks is our failure; what the skill's own folder lacks is the skill's."""
    (tmp_path / "plain.txt").write_text("no program")

    with pytest.raises(BadJob, match="no program 'no-such-program-xyz'"):
        asyncio.run(start(Program(argv=("no-such-program-xyz",), folder=str(tmp_path)), Limits()))
    with pytest.raises(NoProgram, match="is not there"):
        asyncio.run(start(Program(argv=("./run.sh",), folder=str(tmp_path)), Limits()))
    with pytest.raises(NoProgram, match="cannot be executed"):
        asyncio.run(start(Program(argv=("./plain.txt",), folder=str(tmp_path)), Limits()))
    with pytest.raises(BadJob, match="needs a folder of its own"):
        asyncio.run(start(Program(argv=("sh",), folder="/"), Limits()))
    with pytest.raises(BadJob, match="folder is not on the worker's machine"):
        asyncio.run(start(Program(argv=("sh",), folder=str(tmp_path / "gone")), Limits()))


@pytest.mark.parametrize("name", ["PATH", "HOME", "LD_PRELOAD", "A=B", ""])
def test_some_variables_are_not_given(tmp_path: Path, name: str) -> None:
    """A manifest cannot replace our own variables, nor load code into the program."""
    program = Program(argv=("sh",), folder=str(tmp_path), variables={name: "x"})

    with pytest.raises(BadJob, match="variable"):
        asyncio.run(start(program, Limits()))


def test_a_confined_program_sees_nothing_else(tmp_path: Path) -> None:
    """With bubblewrap there is no network, no file of the worker's, no writing but at home, and no other process."""
    need_bubblewrap()
    secret = Path(tempfile.mkdtemp(dir=Path.home())) / "secret"
    secret.write_text("worker's own")
    skill = tmp_path / "skill"
    skill.mkdir()
    script = (
        f"cat {secret}; cat {tmp_path}/../*/secret; touch {skill}/x; touch /usr/x; "
        "cat /proc/net/dev | tail -n +3 | cut -d: -f1; ls /proc | grep -c '^[0-9]*$'; echo > ~/ok && cat ~/ok"
    )

    async def run() -> tuple[str, str]:
        child = await start(Program(argv=("sh", "-c", script), folder=str(skill)), Limits())
        output = b""
        while piece := await child.read():
            output += piece
        await child.aclose()
        return output.decode(), child.errors

    try:
        output, errors = asyncio.run(run())
    finally:
        secret.unlink()
        secret.parent.rmdir()

    interfaces, processes, *_ = output.split()
    assert interfaces == "lo"
    assert int(processes) < 10
    assert "worker's own" not in output
    assert errors.count("No such file") >= 1
    assert errors.count("Read-only file system") == 2
    assert not (skill / "x").exists()


def _processes(folder: str, command: str) -> list[int]:
    """The processes that run *command* in or below *folder*, or in a sandbox made for it."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            line = (entry / "cmdline").read_bytes().decode(errors="replace")
            where = os.readlink(entry / "cwd")
        except OSError:
            continue
        if line.startswith(command) and where.startswith(folder):
            found.append(int(entry.name))
    return found


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + GONE_S
    while not condition():
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.02)
