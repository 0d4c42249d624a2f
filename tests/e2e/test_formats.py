from __future__ import annotations

import base64
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command import Command, finished, lines, told, until
from tests.e2e.formats import TOKEN, Formats, served, write_catalog
from tests.e2e.test_fleet import Workers

LOOPBACK = ("--allow-network", "127.0.0.0/8")
GRANTED = ("--auth-env", "FORMATS_TOKEN@127.0.0.1")


@pytest.fixture
def formats() -> Iterator[Formats]:
    with served() as server:
        yield server


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch) -> str:
    """The secret in the environment of everything that a test starts."""
    monkeypatch.setenv("FORMATS_TOKEN", TOKEN)
    return TOKEN


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    """The policy as it is, but for a shorter sustained load: every entry of the catalog is on one host."""
    text = (Path(__file__).parents[2] / "coordinator" / "policies" / "default.toml").read_text("utf-8")
    assert "duration_s = 2.0" in text
    path = tmp_path / "policy.toml"
    path.write_text(text.replace("duration_s = 2.0", "duration_s = 0.5"), "utf-8")
    return path


def by_name(records: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {record["skill"]["name"]: record for record in records if record["skill"]["name"]}


def test_a_catalog_of_all_formats_is_certified_alike_embedded_and_by_a_fleet(
    token: str, formats: Formats, skillmark: Command, broker_url: str, policy: Path, tmp_path: Path
) -> None:
    """Every format is called its own way, with the same verdicts and findings by two workers behind RabbitMQ."""
    catalog, common = write_catalog(tmp_path / "catalog", formats.url), (*LOOPBACK, "--policy", policy)
    alone = finished(skillmark("certify", catalog, *common, *GRANTED, "--out", tmp_path / "embedded"))
    workers = Workers(skillmark("worker", "--broker", broker_url, "--processes", "2", *GRANTED))
    until(lambda: len(workers.pids()) == 2, "two workers are ready")

    fleet = ("--broker", broker_url, "--store", f"sqlite:///{tmp_path / 'fleet.sqlite'}", "--out", tmp_path / "fleet")
    together = finished(skillmark("certify", catalog, *common, *fleet))

    assert workers.stop() == 0
    embedded = lines(tmp_path / "embedded")
    assert told(lines(tmp_path / "fleet")) == told(embedded), together[2]
    assert alone[0] == together[0], alone[2] + together[2]
    records = by_name(embedded)
    talked = ("Talker", "New agent", "Plain agent", "Old agent")
    for name in ("Counter", "Lines", "Eval counter", "Guarded", *talked):
        functional = {one["probe"]: one for one in records[name]["findings"] if one["pillar"] == "functional"}
        assert functional["example"]["outcome"] == "pass", (name, functional["example"])
        assert records[name]["mode"] == "live"
        assert records[name]["pillars"]["performance"]["coverage"] == 1.0, (name, records[name]["reasons"])
        assert not [one for one in records[name]["findings"] if one["outcome"] in ("exploited", "unjudged")], name
    cases = [
        one for name in ("Counter", "Talker") for one in records[name]["findings"] if one["probe"] == "test_case/two"
    ]
    assert [one["outcome"] for one in cases] == ["pass", "pass"]
    assert records["word-counting"]["mode"] == "static"
    assert records["word-counting"]["verdict"] == "not_certified"
    rejected = [record for record in embedded if record["verdict"] == "rejected"]
    assert len(rejected) == 4
    assert all(len(record["reasons"][0]) > 20 for record in rejected)
    assert formats.tokens == {f"Bearer {TOKEN}"}


def test_a_token_that_nobody_granted_stays_here(
    token: str, formats: Formats, skillmark: Command, tmp_path: Path
) -> None:
    """A manifest names the variable, the operator does not: nothing is sent, and the report says what to set."""
    catalog = write_catalog(tmp_path / "catalog", formats.url) / "guarded"

    code, _, _ = finished(skillmark("certify", catalog, *LOOPBACK, "--out", tmp_path / "out"))

    (record,) = lines(tmp_path / "out")
    assert (code, record["verdict"]) == (4, "incomplete")
    assert "--auth-env FORMATS_TOKEN@127.0.0.1 allows it" in json.dumps(record)
    assert formats.tokens == set()


def test_a_token_that_the_skill_tells_is_kept_nowhere(
    token: str, formats: Formats, skillmark: Command, tmp_path: Path
) -> None:
    """The guarded skill repeats its caller's token in each answer: neither log nor ledger nor report has it."""
    catalog = write_catalog(tmp_path / "catalog", formats.url) / "guarded"
    store = tmp_path / "ledger.sqlite"

    _, stdout, stderr = finished(
        skillmark("certify", catalog, *LOOPBACK, *GRANTED, "--store", f"sqlite:///{store}", "--out", tmp_path / "out")
    )

    assert formats.tokens == {f"Bearer {TOKEN}"}
    with closing(sqlite3.connect(store)) as connection:
        everything = "\n".join(connection.iterdump())
    kept = [stdout, stderr, everything, *(path.read_text() for path in (tmp_path / "out").iterdir() if path.is_file())]
    for spelling in (TOKEN, TOKEN.replace("/", "%2F"), base64.b64encode(TOKEN.encode()).decode(), TOKEN.encode().hex()):
        assert not [text for text in kept if spelling in text]
