"""results.sarif: what was found, where it stands, for code scanning. SARIF 2.1.0 (OASIS).

One result a finding that lost points or could not be decided; what a skill passed is not in it. What was found against
a skill has a level by its severity; what nobody could decide has a kind instead (`review` for what the author left
unverifiable, `open` for what we failed to judge). A result's fingerprint is made of skill, rule and place without its
line, so it is the same in the next run.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from msgspec import UNSET

from coordinator.record import Record
from coordinator.report.escape import cut, terminal
from coordinator.report.places import Place, Places
from coordinator.report.report import Report
from coordinator.report.security import ADVICE
from coordinator.scorecard import Scorecard
from coordinator.tally import Finding
from workers.wire.job import Pillar
from workers.wire.result import Outcome
from workers.wire.version import __version__

FILE = "results.sarif"
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "ROOT"
MESSAGE_CHARS = 1_000
REJECTED = "catalog/rejected"
UNDECIDED = {Outcome.INCONCLUSIVE: "review", Outcome.UNJUDGED: "open"}
QUIET = frozenset({Outcome.PASS, Outcome.RESISTED, Outcome.NOT_APPLICABLE})
LEVELS = {"critical": "error", "high": "error", "medium": "warning", "low": "note"}
# As code scanning sorts them: 9 and more is critical, 7 high, 4 medium.
SECURITY_SEVERITY = {"critical": "9.5", "high": "8.0", "medium": "5.5", "low": "2.0"}


def render(report: Report) -> Iterator[str]:
    """One log with one run. The results come first, so that a large catalog is never held in memory."""
    places, rules = Places(), dict[str, dict[str, Any]]()
    begun = False
    yield f'{{"version": "2.1.0", "$schema": "{SCHEMA}", "runs": [{{"results": ['
    for one in report.records():
        for result in _results(one, places, rules):
            yield (",\n" if begun else "\n") + json.dumps(result)
            begun = True
    driver = {
        "name": "skillmark",
        "semanticVersion": __version__,
        "rules": sorted(rules.values(), key=lambda rule: str(rule["id"])),
    }
    rest = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "automationDetails": {"id": "skillmark/"},
        "invocations": [{"executionSuccessful": not report.interrupted}],
        "originalUriBaseIds": {ROOT: {"description": {"text": "The root of the file system."}}},
        "properties": {"runId": report.run_id, "policy": report.policy.digest},
    }
    yield "\n], " + json.dumps(rest)[1:-1] + "}]}\n"


def _results(one: Record | Scorecard, places: Places, rules: dict[str, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    seen: Counter[str] = Counter()
    if one.verdict.value == "rejected":
        rules.setdefault(REJECTED, _rule(REJECTED, "error"))
        text = "; ".join(one.reasons)
        yield _result(one, REJECTED, places.of(one.skill.source), text, {"level": "error"}, seen)
    for finding in one.findings:
        if finding.outcome in QUIET:
            continue
        id_ = _rule_id(finding)
        rules.setdefault(id_, _rule(id_, _level(finding), finding))
        graded = _graded(finding)
        location = finding.location if finding.location is not UNSET else ""
        text = finding.evidence if finding.location is not UNSET else f"{finding.probe}: {finding.evidence}"
        yield _result(one, id_, places.of(one.skill.source, location), text, graded, seen, finding.probe)


def _result(
    one: Record | Scorecard,
    rule: str,
    place: Place,
    text: str,
    graded: dict[str, str],
    seen: Counter[str],
    probe: str = "",
) -> dict[str, Any]:
    skill = one.skill.id or one.skill.name or one.skill.source
    what = "\0".join((one.skill.id or place.file, rule, probe, place.file, place.pointer))
    seen[what] += 1
    fingerprint = hashlib.sha256(f"{what}\0{seen[what]}".encode(errors="replace")).hexdigest()
    return {
        "ruleId": rule,
        **graded,
        "message": {"text": _text(f"{skill}: {text}")},
        "locations": [_location(place)],
        "partialFingerprints": {"skillmark/v1": fingerprint},
        "properties": {"skill": terminal(skill), "verdict": one.verdict.value},
    }


def _location(place: Place) -> dict[str, Any]:
    artifact = {"uri": quote(place.file, safe="/", errors="replace")}
    if place.rooted:
        artifact["uriBaseId"] = ROOT
    located: dict[str, Any] = {"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": place.line}}}
    if place.pointer:
        located["logicalLocations"] = [{"fullyQualifiedName": terminal(place.pointer), "kind": "member"}]
    return located


def _rule_id(finding: Finding) -> str:
    """The rule of *finding*: that of a static check or an attack, or the group of its functional task."""
    if finding.location is UNSET and finding.pillar is not Pillar.SECURITY:
        return terminal(finding.probe.partition("/")[0])
    return terminal(finding.probe)


def _rule(id_: str, level: str, finding: Finding | None = None) -> dict[str, Any]:
    words = id_.replace("/", ": ").replace("-", " ").replace("_", " ") if finding is None or "/" in id_ else id_
    rule: dict[str, Any] = {
        "id": id_,
        "shortDescription": {"text": _text(words)},
        "defaultConfiguration": {"level": level},
        "properties": {"tags": ["skillmark"]},
    }
    if finding is not None:
        rule["properties"]["tags"] += [finding.pillar.value, *([finding.category] if finding.category else [])]
        if finding.pillar is Pillar.SECURITY:
            rule["properties"]["security-severity"] = SECURITY_SEVERITY[finding.severity or "low"]
        if finding.category in ADVICE:
            rule["help"] = {"text": ADVICE[finding.category]}
    return rule


def _graded(finding: Finding) -> dict[str, str]:
    """Level or kind of a result; one without a fault to grade has a kind, and then the level is `none`."""
    if finding.outcome in UNDECIDED:
        return {"kind": UNDECIDED[finding.outcome], "level": "none"}
    return {"level": _level(finding)}


def _level(finding: Finding) -> str:
    if finding.severity:
        level = LEVELS[finding.severity]
        return "warning" if finding.outcome is Outcome.SUSPECT and level == "error" else level
    lost = finding.points if finding.points is not UNSET else 10
    return "warning" if lost >= 10 else "note"


def _text(text: str) -> str:
    """*text* for a message, in which ``[words](target)`` would be a link."""
    return cut(terminal(text), MESSAGE_CHARS).replace("](", "] (")
