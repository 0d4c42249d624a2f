from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coordinator.certifying import Request as Certify
from coordinator.certifying import certify_catalog
from coordinator.ledger.ledger import Ledger
from coordinator.rejudging import NOT_SENT, Request, rejudge_run
from coordinator.settings import Settings, SettingsError
from payloads import loader
from tests.coordinator.cli.test_corpus import MINE
from tests.range.guilty import obedient
from tests.range.harmless import echoes
from tests.range.server import Range
from workers.rejudging import STANDS, UNDECIDED

POLICY = Path("coordinator/policies/default.toml")


class Stored:
    """A run that certified an echo and a skill that obeys documents; nobody listens at their addresses any more."""

    def __init__(self, folder: Path) -> None:
        policy = (Path(__file__).parents[2] / POLICY).read_text("utf-8")
        (folder / "policy.toml").write_text(policy.replace("duration_s = 2.0", "duration_s = 0.2"))
        self.folder = folder
        self.catalog = folder / "catalog"
        self.settings = Settings(
            store=f"sqlite:///{folder / 'ledger.sqlite'}",
            policy=str(folder / "policy.toml"),
            allow_network=("127.0.0.0/8",),
        )
        skills = [one for one in (*echoes.SKILLS, *obedient.SKILLS) if one.name in ("echo", "obeys documents")]
        (folder / "skills").mkdir()
        with Range(skills, folder / "skills") as served:
            for skill in skills:
                self._describe(skill.name.replace(" ", "-"), served.ref(skill).access.endpoint)
            self.run, self.first = self._certify(Certify(catalog=self.catalog))
            self.partial, self.part = self._certify(Certify(catalog=self.catalog, only=("PI-02",)))
            self.calls = sum(served.calls.values())
            self.served = served

    def _describe(self, name: str, endpoint: str) -> None:
        place = self.catalog / name
        place.mkdir(parents=True)
        manifest = {
            "name": name,
            "version": "1.0.0",
            "description": "Says something about a text.",
            "inputs": [
                {
                    "name": "text",
                    "type": "string",
                    "required": True,
                    "description": "Any text.",
                    "example": "A short and friendly note about tea.",
                }
            ],
            "outputs": [{"name": "result", "type": "string", "description": "What is said."}],
            "author": "Ada",
            "scope": "Short texts.",
            "failure_modes": [
                {"condition": "The text is missing", "behaviour": "Answers 400"},
                {"condition": "The server is overloaded", "behaviour": "Closes the connection; try again"},
                {"condition": "Too many requests", "behaviour": "Answers 429"},
            ],
            "dependencies": [],
            "permissions": [],
            "data_handling": "Nothing is stored or passed on.",
            "test_endpoint": endpoint,
            "test_timeout_ms": 5000,
        }
        (place / "sxm-manifest.json").write_text(json.dumps(manifest))

    def _certify(self, request: Certify) -> tuple[str, dict[str, Any]]:
        with certify_catalog(request, self.settings) as outcome:
            return outcome.report.run_id, _told(outcome.report.lines())

    def again(self, run: str = "", **changes: Any) -> dict[str, Any]:
        """The records of *run* judged again, by skill; *changes* are of the settings, or the catalog's place."""
        request = Request(run=run or self.run, catalog=changes.pop("catalog", None))
        settings = Settings(**{**{name: getattr(self.settings, name) for name in ("store", "policy")}, **changes})
        with rejudge_run(request, settings) as outcome:
            return _told(outcome.report.lines())


def _told(lines: Iterator[bytes]) -> dict[str, Any]:
    return {one["skill"]["id"]: one for one in map(json.loads, lines)}


def outcomes(record: dict[str, Any]) -> dict[str, str]:
    """Of the attacks and what goes with them, by id."""
    found = [one for one in record["findings"] if one["pillar"] == "security" and "location" not in one]
    return {one["probe"]: one["outcome"] for one in found}


def evidence(record: dict[str, Any], probe: str) -> str:
    return next(one["evidence"] for one in record["findings"] if one["probe"] == probe)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    return Stored(tmp_path_factory.mktemp("stored"))


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A corpus that may be changed."""
    return shutil.copytree(
        Path(loader.__file__).parent, tmp_path / "corpus", ignore=shutil.ignore_patterns("*.py", "__pycache__")
    )


def test_the_same_corpus_gives_the_same_records_without_a_call(stored: Stored) -> None:
    """Nothing but the run's id and its origin differs, and no skill is there to be asked."""
    found = stored.again()

    for skill, record in stored.first.items():
        assert found[skill].pop("run_id") != record["run_id"]
        assert found[skill]["stamps"].pop("origin") == stored.run
        assert found[skill] == {name: value for name, value in record.items() if name != "run_id"}
    assert outcomes(found["obeys-documents"])["PI-02"] == "exploited"
    assert sum(stored.served.calls.values()) == stored.calls


def test_judging_a_second_time_starts_from_the_same_answers(stored: Stored) -> None:
    """A run that was judged again can be judged again, and names the run that made the calls."""
    first = stored.again()

    second = stored.again(run=first["echo"]["run_id"])

    assert second["echo"]["stamps"]["origin"] == stored.run
    assert outcomes(second["echo"]) == outcomes(stored.first["echo"])


def test_an_attack_that_was_not_sent_is_missing_evidence(stored: Stored, corpus: Path) -> None:
    """A new attack is unjudged: it lowers the coverage and neither clears nor accuses."""
    (corpus / "prompt_injection" / "PI-90.yaml").write_text(MINE)

    found = stored.again(corpus=str(corpus))

    assert outcomes(found["echo"])["PI-90"] == "unjudged"
    assert evidence(found["echo"], "PI-90") == NOT_SENT
    assert found["echo"]["pillars"]["security"]["coverage"] < 1
    assert found["echo"]["stamps"]["corpus"] != stored.first["echo"]["stamps"]["corpus"]


def test_a_changed_attack_is_never_taken_for_resisted(stored: Stored, corpus: Path) -> None:
    """The answers to other texts decide nothing: inconclusive where it was resisted, an exploit stands."""
    file = corpus / "prompt_injection" / "PI-02.yaml"
    file.write_text(file.read_text().replace("Reviewer's note", "Editor's note"))

    found = stored.again(corpus=str(corpus))

    assert outcomes(found["echo"])["PI-02"] == "inconclusive"
    assert evidence(found["echo"], "PI-02").endswith(UNDECIDED)
    assert found["echo"]["verdict"] == "incomplete"
    assert found["echo"]["reasons"][0].endswith("PI-02")
    assert outcomes(found["obeys-documents"])["PI-02"] == "exploited"
    assert evidence(found["obeys-documents"], "PI-02").endswith(STANDS)


def test_a_new_severity_counts_at_once(stored: Stored, corpus: Path) -> None:
    """A revision that changes what an attack weighs changes the score on the same answers."""
    file = corpus / "prompt_injection" / "PI-02.yaml"
    file.write_text(file.read_text().replace("severity: high", "severity: critical"))

    found = stored.again(corpus=str(corpus))

    security = [one["obeys-documents"]["pillars"]["security"]["score"] for one in (stored.first, found)]
    assert security[1] < security[0]


def test_what_was_left_out_stays_left_out(stored: Stored) -> None:
    """A run of one attack certified nobody, and judging it again does not either."""
    found = stored.again(run=stored.partial)

    for records in (stored.part, found):
        assert {name for name, one in outcomes(records["echo"]).items() if one != "unjudged"} == {"PI-02"}
        assert records["echo"]["verdict"] == "incomplete"


def test_a_catalog_that_moved_can_be_named(stored: Stored, tmp_path: Path) -> None:
    """The catalog may stand elsewhere as long as it is the same."""
    moved = shutil.copytree(stored.catalog, tmp_path / "moved")

    found = stored.again(catalog=moved)

    assert outcomes(found["echo"]) == outcomes(stored.first["echo"])


def test_another_catalog_is_refused(stored: Stored, tmp_path: Path) -> None:
    """Answers of one catalog are not judged as another's."""
    other = shutil.copytree(stored.catalog, tmp_path / "other")
    manifest = other / "echo" / "sxm-manifest.json"
    manifest.write_text(manifest.read_text().replace("Any text.", "A text."))

    with pytest.raises(SettingsError, match=r"^catalog: expected"):
        stored.again(catalog=other)


@pytest.mark.parametrize(("run", "message"), [("no-such-run", "this store knows"), ("static", "attacked nobody")])
def test_a_run_without_attacks_is_refused(stored: Stored, run: str, message: str) -> None:
    """There is nothing to judge in a run that is not there, or that called nobody."""
    ledger = Ledger.open(stored.settings.store)
    if ledger.summary("static") is None:
        ledger.begin("static", mode="static", catalog=str(stored.catalog), stamps={"command": "certify"})
    ledger.close()

    with pytest.raises(SettingsError, match=message):
        stored.again(run=run)
