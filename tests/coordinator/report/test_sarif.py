from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from coordinator.certify import Decision
from coordinator.record import Record
from coordinator.report import sarif
from coordinator.report.places import Place, Places
from coordinator.report.report import Report
from coordinator.tally import Finding
from tests.coordinator.report.test_renderers import REPORTS, hostile, report_of
from workers.wire.job import Pillar
from workers.wire.result import Outcome

PUBLISHED = Path(__file__).parents[3] / ".mcp-peers/sarif/node_modules/@microsoft/jest-sarif/lib/schemas"
MANIFEST = '{\n "name": "x",\n "inputs": [\n  {"name": "a"}\n ]\n}\n'


def found(
    location: str, outcome: Outcome = Outcome.FAIL, severity: str | None = None, rule: str = "rule/one"
) -> Finding:
    return Finding(
        probe=rule, pillar=Pillar.SECURITY, category=None, severity=severity, outcome=outcome, score=None,
        evidence="why", location=location, points=3.0,
    )  # fmt: skip


def record_of(folder: Path, *findings: Finding, **changes: Any) -> Record:
    place = folder / "catalog" / "x" / "skillmark.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(MANIFEST)
    skill = msgspec.structs.replace(hostile().skill, id="x", name="x", source=str(changes.pop("source", place)))
    return msgspec.structs.replace(hostile(), skill=skill, findings=findings, **changes)


def log(report: Report) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads("".join(sarif.render(report)))
    return parsed


def results(*records: Record) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = log(report_of(*records))["runs"][0]["results"]
    return found


@pytest.fixture
def published() -> dict[str, Any]:
    """The schema of SARIF 2.1.0 as its publisher gives it out."""
    files = list(PUBLISHED.glob("sarif-2.1.0*.json"))
    if not files:
        reason = "the schema of SARIF is not installed: sh tests/install_mcp_peers.sh python3 .mcp-peers"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    schema: dict[str, Any] = json.loads(files[0].read_text("utf-8"))
    return schema


def test_logs_are_valid_by_the_published_schema(published: dict[str, Any], tmp_path: Path) -> None:
    """Hostile or empty, of certifications and evaluations, with every outcome and kind of place."""
    findings = [found(place, outcome) for outcome in Outcome for place in ("", "/inputs/0", "lib/a.py:7", "a#/b")]
    rejected = record_of(tmp_path, verdict=Decision.REJECTED)
    reports = (*REPORTS, report_of(), report_of(record_of(tmp_path, *findings), rejected, interrupted=True))

    for report in reports:
        jsonschema.validators.validator_for(published)(published).validate(log(report))


def test_results_lead_to_file_and_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the working folder, with forward slashes; a member of the manifest at its line, the source at its own."""
    monkeypatch.chdir(tmp_path)
    one = record_of(tmp_path, found("/inputs/0/example"), found("src/a b.py:7"), found(""))

    places = [result["locations"][0]["physicalLocation"] for result in results(one)]

    assert [(place["artifactLocation"]["uri"], place["region"]["startLine"]) for place in places] == [
        ("catalog/x/skillmark.json", 4),
        ("catalog/x/src/a%20b.py", 7),
        ("catalog/x/skillmark.json", 1),
    ]


def test_files_outside_the_working_folder_are_named_from_the_root(tmp_path: Path) -> None:
    """The URI stays relative, to a base of its own."""
    (result,) = results(record_of(tmp_path, found("")))

    location = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location["uriBaseId"] == "ROOT"
    assert not location["uri"].startswith(("/", "file:"))


@pytest.mark.parametrize(
    ("source", "location", "place"),
    [
        ("c/list.jsonl:12", "/inputs", Place("c/list.jsonl", 12, pointer="/inputs")),
        ("c/list.json#/skills/3", "", Place("c/list.json", 1, pointer="/skills/3")),
        ("c/x/SKILL.md", "scripts/run.sh:3", Place("c/x/scripts/run.sh", 3)),
        ("c/x/skill.json", "package.json#/dependencies/a", Place("c/x/package.json", 1, pointer="/dependencies/a")),
    ],
)
def test_places_of_other_catalogs(source: str, location: str, place: Place) -> None:
    """Lines of a JSON Lines file, members of a list, files of the source; a manifest that is gone is still named."""
    assert Places().of(source, location) == place


def test_level_is_by_severity_and_what_nobody_decided_has_a_kind() -> None:
    """Unverified is for review, unjudged is open; neither is a fault of the skill."""
    graded = {"critical": "error", "high": "error", "medium": "warning", "low": "note"}

    for severity, level in graded.items():
        (result,) = results(msgspec.structs.replace(hostile(), findings=(found("", severity=severity),)))
        assert (result["level"], "kind" in result) == (level, False)
    for outcome, kind in ((Outcome.INCONCLUSIVE, "review"), (Outcome.UNJUDGED, "open")):
        (result,) = results(msgspec.structs.replace(hostile(), findings=(found("", outcome),)))
        assert (result["level"], result["kind"]) == ("none", kind)


def test_what_was_passed_is_no_result() -> None:
    """Code scanning lists faults."""
    quiet = [found("", outcome) for outcome in (Outcome.PASS, Outcome.RESISTED, Outcome.NOT_APPLICABLE)]

    assert results(msgspec.structs.replace(hostile(), findings=tuple(quiet))) == []


def test_fingerprints_last_over_runs_and_tell_results_apart(tmp_path: Path) -> None:
    """Another run, another line of the same file: the same; another rule, member or file, or a second one: another."""
    findings = [found("a.py:1"), found("a.py:1"), found("b.py:1"), found("a.py:1", rule="rule/two"), found("/inputs")]
    before = record_of(tmp_path, *findings)
    moved = [msgspec.structs.replace(one, location=one.location.replace(":1", ":9")) for one in findings]  # type: ignore[union-attr]
    after = record_of(tmp_path, *moved, run_id="another")

    first, second = ([one["partialFingerprints"]["skillmark/v1"] for one in results(each)] for each in (before, after))

    assert first == second
    assert len(set(first)) == len(first)


def test_rules_are_told_once_with_what_they_mean() -> None:
    """Every result's rule is among them, attacks with advice and a figure that code scanning sorts by."""
    run = log(report_of(hostile(), hostile()))["runs"][0]

    (rule,) = run["tool"]["driver"]["rules"]
    assert {result["ruleId"] for result in run["results"]} == {rule["id"]}
    assert rule["properties"]["security-severity"] == "8.0"
    assert rule["help"]["text"]


def test_hostile_text_makes_no_link_and_no_control_character() -> None:
    """Messages may hold links; a skill's text may not."""
    run = log(report_of(hostile()))["runs"][0]

    texts = [one["message"]["text"] for one in run["results"]]
    texts += [rule["shortDescription"]["text"] for rule in run["tool"]["driver"]["rules"]]
    assert len(texts) == 2
    assert all("](" not in text and text.isprintable() for text in texts)
