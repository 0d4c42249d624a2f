from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from coordinator import policy


def skillmark(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line as a newcomer runs it, in *folder*, with state and data of their own."""
    mine = {"XDG_STATE_HOME": str(folder / "state"), "XDG_DATA_HOME": str(folder / "data")}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SKILLMARK_")} | mine
    return subprocess.run(
        [sys.executable, "-m", "coordinator.cli", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
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
