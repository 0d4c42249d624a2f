from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from coordinator import policy


def skillmark(
    folder: Path, *arguments: str, stdout: int | IO[str] = subprocess.PIPE, **variables: str
) -> subprocess.CompletedProcess[str]:
    """The command line as a newcomer runs it, in *folder*, with state and data of their own."""
    mine = {"XDG_STATE_HOME": str(folder / "state"), "XDG_DATA_HOME": str(folder / "data"), **variables}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SKILLMARK_")} | mine
    return subprocess.run(
        [sys.executable, "-m", "coordinator.cli", *arguments],
        cwd=folder,
        env=environment,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
    )


@pytest.fixture
def catalog(tmp_path: Path) -> str:
    """A catalog of one skill, in the folder that the commands run in."""
    (tmp_path / "catalog").mkdir()
    (tmp_path / "catalog" / "skillmark.json").write_text(
        '{"name": "A", "version": "1.0.0", "description": "d", "inputs": ["text"], "outputs": ["text"]}'
    )
    return "catalog"


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["certfy", "catalog"], 2, "No such command 'certfy'. Did you mean 'certify'?"),
        (["certify", "nowhere"], 2, "expected a folder of manifests or a JSON"),
        (["certify", "state"], 2, "expected at least one manifest, found none"),
        (["certify", "catalog", "--policy", "none.toml"], 2, "expected a readable policy file"),
        (["certify", "catalog", "--policy", "typo.toml"], 2, "`skillmark config policy` prints the built-in one"),
        (["certify", "catalog", "--allow-netwrk", "10.0.0.0/8"], 2, "--allow-network"),
        (["certify", "catalog", "--broker", "localhost"], 2, "expected a URL such as amqp://"),
        (["certify", "catalog", "--broker", "amqp://127.0.0.1:1/"], 3, "no RabbitMQ at 127.0.0.1:1"),
        (["certify", "catalog", "--store", "ledger.sqlite"], 2, "expected a URL such as sqlite:///"),
        (["worker"], 2, "give --broker URL or set SKILLMARK_BROKER"),
        (["worker", "--broker", "amqp://127.0.0.1:1/", "--queues", "fast"], 2, "expected some of functional"),
        (["worker", "--broker", "amqp://127.0.0.1:1/", "--queues", "latency,static"], 3, "no RabbitMQ at"),
        (["osv", "status"], 2, "`skillmark osv update`"),
        (["run", "rejudge", "none"], 2, "expected a run that this store knows"),
        (["run", "export", "none"], 2, "`skillmark run list` tells which"),
        (["certify", "catalog", "--resume", "none"], 2, "`skillmark run list` tells which"),
        (["certify", "catalog", "--out", "typo.toml"], 2, "expected a folder that can be written"),
    ],
)
def test_a_mistake_is_told_with_its_remedy(
    tmp_path: Path, catalog: str, arguments: list[str], code: int, told: str
) -> None:
    """Each ends with the documented exit code and one message, without a traceback."""
    (tmp_path / "state").mkdir()
    (tmp_path / "typo.toml").write_text(policy.built_in().decode().replace("min_overall", "min_overal"))

    ended = skillmark(tmp_path, *arguments)

    assert (ended.returncode, ended.stdout) == (code, "")
    assert told in ended.stderr
    assert "Traceback" not in ended.stderr


def test_metrics_where_another_listens_are_bad_input(tmp_path: Path, catalog: str) -> None:
    """A port that is taken is told before any skill is called."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"

        ended = skillmark(tmp_path, "certify", catalog, "--metrics", address)

    assert ended.returncode == 2
    assert f"metrics: expected an address to listen on, found {address}" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_built_in_policy_can_be_copied(tmp_path: Path) -> None:
    """What is printed is a policy, with the same figures."""
    printed = skillmark(tmp_path, "config", "policy").stdout
    (tmp_path / "mine.toml").write_text(printed)

    assert policy.load(tmp_path / "mine.toml").digest == policy.load().digest


def test_a_mistyped_variable_is_told_and_the_command_goes_on(tmp_path: Path) -> None:
    """On stderr, so that what reads stdout is not disturbed."""
    ended = skillmark(tmp_path, "config", "show", "--json", SKILLMARK_BROKR="amqp://host/")

    assert (ended.returncode, json.loads(ended.stdout)["broker"]) == (0, "")
    assert "did you mean SKILLMARK_BROKER?" in ended.stderr


def test_reports_that_the_disk_does_not_take_can_be_written_again(tmp_path: Path, catalog: str) -> None:
    """The message names the file and the command, and no verdict is lost."""
    (tmp_path / "out" / "report.html").mkdir(parents=True)
    failed = skillmark(tmp_path, "certify", catalog, "--mode", "static", "--out", "out")
    listed = skillmark(tmp_path, "run", "list", "--json")
    run = json.loads(listed.stdout)["id"]

    again = skillmark(tmp_path, "run", "export", run, "--out", "elsewhere", "--format", "csv")
    printed = skillmark(tmp_path, "run", "export", run, "--json")

    assert failed.returncode == 3
    assert "out/report.html: expected a file that can be written" in failed.stderr
    assert f"`skillmark run export {run} --out DIR`" in failed.stderr
    assert again.returncode == printed.returncode == 0
    assert (tmp_path / "elsewhere" / "results.csv").is_file()
    assert json.loads(printed.stdout)["counts"]["not_certified"] == 1


def test_a_report_by_another_policy_is_refused(tmp_path: Path, catalog: str) -> None:
    """Its thresholds would stand beside verdicts that they did not decide."""
    (tmp_path / "mine.toml").write_text(policy.built_in().decode().replace("min_overall = 90.0", "min_overall = 91.0"))
    skillmark(tmp_path, "certify", catalog, "--mode", "static")
    run = json.loads(skillmark(tmp_path, "run", "list", "--json").stdout)["id"]

    ended = skillmark(tmp_path, "run", "export", run, "--policy", "mine.toml")

    assert (ended.returncode, ended.stdout) == (2, "")
    assert f"policy: expected the one that {run} was judged by" in ended.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_behind_stdout_is_no_failed_gate(tmp_path: Path, catalog: str) -> None:
    """A script that reads the exit code must not take it for a verdict."""
    with Path("/dev/full").open("w") as full:
        ended = skillmark(tmp_path, "catalog", "check", catalog, stdout=full)

    assert ended.returncode == 3
    assert "standard output: expected room for what is written there" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_reader_that_went_away_is_no_failed_gate(tmp_path: Path, catalog: str) -> None:
    """As behind ``| head``: what such programs end with, and not a word."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as unread:
        ended = skillmark(tmp_path, "catalog", "check", catalog, stdout=unread)

    assert (ended.returncode, ended.stderr) == (141, "")


def test_results_of_two_commands_are_not_compared(tmp_path: Path) -> None:
    """A certificate is no better or worse than a pass; the message says which is which."""
    for name, verdict in (("certified", "not_certified"), ("evaluated", "passed")):
        one = {"skill": {"id": "a", "version": "1", "source": "x"}, "verdict": verdict, "findings": []}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(one))

    ended = skillmark(tmp_path, "report", "diff", "certified.jsonl", "evaluated.jsonl")

    assert (ended.returncode, ended.stdout) == (2, "")
    assert "evaluated.jsonl: expected results of certify, as certified.jsonl has them, found eval's" in ended.stderr
