from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from coordinator.catalog.skill import Skill
from coordinator.osv.advisories import Advisories
from coordinator.policy import Policy
from coordinator.static.checks import checks, weighed
from coordinator.static.dependencies import BROKEN, MISSING, PILLAR, UNVERIFIED, VULNERABLE, examine
from coordinator.static.evidence import Checked, Context, Deduction, Examined, Inapplicable, Unchecked
from coordinator.static.findings import unchecked
from tests.coordinator.osv.dumps import database, record, zip_bytes
from workers.wire.job import Pillar
from workers.wire.result import Outcome

NOW = datetime(2026, 1, 10, tzinfo=UTC)
CRITICAL = [{"type": "CVSS_V3", "score": "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"}]
RECORDS = (
    record("GHSA-jinja", "jinja2", "PyPI", events=[{"introduced": "0"}, {"fixed": "2.10.1"}], aliases=["CVE-1"],
           severity=CRITICAL),
    record("PYSEC-jinja", "Jinja2", "PyPI", events=[{"introduced": "0"}, {"fixed": "2.10.1"}], aliases=["CVE-1"]),
    record("GHSA-lodash", "lodash", "npm", events=[{"introduced": "0"}, {"fixed": "4.17.21"}],
           database_specific={"severity": "HIGH"}),
    record("MAL-evil", "evil", "npm"),
)  # fmt: skip


@pytest.fixture
def advisories(tmp_path: Path) -> Iterator[Advisories]:
    folder = tmp_path / "osv"
    folder.mkdir()
    found = database(folder, *RECORDS)
    yield found
    found.close()


def skill(folder: Path, **more: Any) -> Skill:
    stated: dict[str, Any] = {"id": "s", "name": "s", "version": "1.0.0", "digest": "sha256:0", "format": "sxm"}
    return Skill(**stated, source=str(folder / "sxm-manifest.json"), **more)


def examined(
    advisories: Advisories | str, rules: Policy, folder: Path, now: datetime = NOW, **more: Any
) -> dict[str, Examined]:
    context = Context(policy=rules, folder=folder, advisories=advisories, now=now)
    return {"dependencies": examine(skill(folder, **more), context)}


def deductions(one: Examined) -> tuple[Deduction, ...]:
    assert isinstance(one, Checked)
    return one.deductions


def told(one: Examined) -> list[tuple[str, str, float]]:
    return [(taken.rule, taken.field, taken.points) for taken in deductions(one)]


def test_the_check_is_found_by_listing_its_folder() -> None:
    """And its evidence is of the security pillar."""
    assert checks()["dependencies"].PILLAR is PILLAR is Pillar.SECURITY


def test_a_vulnerable_dependency_costs_its_severity_once(advisories: Advisories, rules: Policy, tmp_path: Path) -> None:
    """Under however many names it is known; the worst severity sets the ceiling."""
    found = examined(advisories, rules, tmp_path, dependencies=("jinja2==2.10", "pkg:npm/lodash@4.17.20"))

    assert told(found["dependencies"]) == [
        (VULNERABLE, "/dependencies/0", 60),
        (VULNERABLE, "/dependencies/1", 30),
    ]
    security = weighed(found, rules.static)[Pillar.SECURITY]
    assert (security.score, security.coverage) == (10, 1.0)
    (worst, _) = deductions(found["dependencies"])
    assert (worst.severity, worst.outcome) == ("critical", Outcome.FAIL)
    assert 'jinja2 (PyPI) "2.10" has a known vulnerability, CVE-1 = GHSA-jinja = PYSEC-jinja' in worst.reason


def test_fixed_and_unknown_packages_are_clean(advisories: Advisories, rules: Policy, tmp_path: Path) -> None:
    """A version with the fix, a package without advisories whatever its version, a range above the fix."""
    stated = ("jinja2==2.10.1", "pkg:npm/lodash@4.17.21", "pkg:pypi/nobody-knows", "pkg:npm/left-pad", "jinja2>=3")

    found = examined(advisories, rules, tmp_path, dependencies=stated)

    assert told(found["dependencies"]) == []
    assert weighed(found, rules.static)[Pillar.SECURITY].score == 100


@pytest.mark.parametrize(
    ("stated", "rule"),
    [
        ("pkg:npm/lodash", UNVERIFIED),
        ("jinja2>=2", UNVERIFIED),
        ("jinja2==not-a-version!", UNVERIFIED),
        ("pkg:npm/lodash@latest", UNVERIFIED),
        ("lodash", UNVERIFIED),
        ("words, not a name", UNVERIFIED),
        ("jinja2<2.10", VULNERABLE),
        ("pkg:npm/evil", VULNERABLE),
    ],
)
def test_what_cannot_be_known_earns_nothing_and_condemns_nobody(
    advisories: Advisories, rules: Policy, tmp_path: Path, stated: str, rule: str
) -> None:
    """A version left open is unknown, unless all that is allowed is affected."""
    found = examined(advisories, rules, tmp_path, dependencies=(stated,))

    assert [one[0] for one in told(found["dependencies"])] == [rule]
    outcome = Outcome.INCONCLUSIVE if rule == UNVERIFIED else Outcome.FAIL
    assert [one.outcome for one in deductions(found["dependencies"])] == [outcome]


@pytest.mark.parametrize("platform", ["python", "Python / FastAPI", "PyPI"])
def test_the_platform_says_whose_a_plain_name_is(
    advisories: Advisories, rules: Policy, tmp_path: Path, platform: str
) -> None:
    """Else what makes the source does; where both or neither would, it is unknown."""
    named = examined(advisories, rules, tmp_path, dependencies=("jinja2@2.10",), platform=platform)
    both = examined(advisories, rules, tmp_path, dependencies=("jinja2@2.10",), platform="python node")

    assert [one[0] for one in told(named["dependencies"])] == [VULNERABLE]
    assert [one[0] for one in told(both["dependencies"])] == [UNVERIFIED]


def test_the_source_says_whose_a_plain_name_is_and_which_version_runs(
    advisories: Advisories, rules: Policy, tmp_path: Path
) -> None:
    """A lock file settles the ranges of all others, constraints fix what is asked for and ask for nothing."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "requirements.txt").write_text("Jinja2>=2\n-c pins.txt\n")
    (tmp_path / "src" / "pins.txt").write_text("jinja2==2.10\nnobody-asks==1.0\n")

    found = examined(advisories, rules, tmp_path, dependencies=("jinja2",), source_path="src")

    assert told(found["dependencies"]) == [(VULNERABLE, "pins.txt:1", 60)]


def test_rubbish_in_a_lock_file_is_a_finding_and_hides_nothing(
    advisories: Advisories, rules: Policy, tmp_path: Path
) -> None:
    """With file and line."""
    (tmp_path / "requirements.txt").write_text("???\njinja2==2.10\n")

    found = examined(advisories, rules, tmp_path, source_path=".")

    assert told(found["dependencies"]) == [(VULNERABLE, "requirements.txt:2", 60), (BROKEN, "requirements.txt:1", 5)]


def test_a_source_outside_the_catalog_is_a_finding(advisories: Advisories, rules: Policy, tmp_path: Path) -> None:
    """And is not looked at."""
    found = examined(advisories, rules, tmp_path / "catalog", source_path="..")

    assert told(found["dependencies"]) == [(BROKEN, "/source_path", 5)]


def test_no_database_never_reads_as_clean(rules: Policy, tmp_path: Path) -> None:
    """The check is unjudged, the coverage falls, and it is said what to do."""
    found = examined("there is no database; make one", rules, tmp_path, dependencies=("pkg:npm/lodash@1.0.0",))

    assert found["dependencies"] == Unchecked("there is no database; make one")
    security = weighed(found, rules.static)[Pillar.SECURITY]
    assert (security.score, security.coverage, security.ceiling) == (None, 0.0, 100.0)
    assert unchecked(found) == ["dependencies: there is no database; make one"]


def test_a_broken_lock_file_is_told_without_a_database(rules: Policy, tmp_path: Path) -> None:
    """It needs none to be found; beside dependencies that do, it is told with the reason why they are unjudged."""
    (tmp_path / "requirements.txt").write_text("???\n")

    alone = examined("no database", rules, tmp_path, source_path=".")
    beside = examined("no database", rules, tmp_path, source_path=".", dependencies=("pkg:npm/x@1.0.0",))

    assert told(alone["dependencies"]) == [(BROKEN, "requirements.txt:1", 5)]
    assert isinstance(beside["dependencies"], Unchecked)
    assert beside["dependencies"].reason.startswith("no database; requirements.txt:1: expected a requirement")


def test_an_old_database_never_reads_as_clean(advisories: Advisories, rules: Policy, tmp_path: Path) -> None:
    """As old as its newest record; the policy says how old it may be."""
    later = datetime(2026, 2, 2, tzinfo=UTC)

    found = examined(advisories, rules, tmp_path, now=later, dependencies=("pkg:npm/lodash@1.0.0",))

    assert isinstance(found["dependencies"], Unchecked)
    assert "2026-01-02, older than the 30 days" in found["dependencies"].reason


def test_missing_ecosystems_lower_the_coverage_by_their_share(
    advisories: Advisories, rules: Policy, tmp_path: Path
) -> None:
    """What can be looked up is."""
    stated = ("pkg:npm/lodash@4.17.20", "pkg:golang/a/b@1.0.0", "pkg:npm/x@1.0.0", "pkg:golang/a/c@1.0.0")

    found = examined(advisories, rules, tmp_path, dependencies=stated)

    assert [one[0] for one in told(found["dependencies"])] == [VULNERABLE, MISSING]
    security = weighed(found, rules.static)[Pillar.SECURITY]
    assert (security.score, security.coverage) == (69, 0.5)
    assert [reason for reason in unchecked(found) if "there are no advisories on Go" in reason]


def test_a_skill_without_dependencies_is_not_concerned(rules: Policy, tmp_path: Path) -> None:
    """With or without a database."""
    found = examined("there is no database", rules, tmp_path)

    assert isinstance(found["dependencies"], Inapplicable)
    assert weighed(found, rules.static) == {}


def test_many_findings_are_told_in_part_and_the_same_each_time(
    advisories: Advisories, rules: Policy, tmp_path: Path
) -> None:
    """The order of the dependencies changes nothing but the places."""
    stated = tuple(f"words number {number}" for number in range(500))

    first = examined(advisories, rules, tmp_path, dependencies=stated)
    again = examined(advisories, rules, tmp_path, dependencies=stated)

    assert first == again
    assert 1 < len(told(first["dependencies"])) <= 50
    assert weighed(first, rules.static)[Pillar.SECURITY].score == pytest.approx(90)


def test_lock_files_of_an_archive_count(advisories: Advisories, rules: Policy, tmp_path: Path) -> None:
    """As those beside the manifest do."""
    (tmp_path / "source.zip").write_bytes(zip_bytes({"s/requirements.txt": b"jinja2==2.10\n"}))

    found = examined(advisories, rules, tmp_path, source_path="source.zip", dependencies=())

    assert told(found["dependencies"]) == [(VULNERABLE, "s/requirements.txt:1", 60)]


def test_a_vulnerability_without_a_severity_counts_as_the_policy_says(rules: Policy, tmp_path: Path) -> None:
    """Its points and its ceiling are those of that severity, and the finding says that it is an assumption."""
    known = database(tmp_path, record("OSV-1", "plain", "PyPI", events=[{"introduced": "0"}]))
    strict = msgspec.structs.replace(rules.security.dependencies, unrated="high")
    stricter = msgspec.structs.replace(rules, security=msgspec.structs.replace(rules.security, dependencies=strict))

    usual, other = (
        deductions(examined(known, policy, tmp_path, dependencies=("plain==1",))["dependencies"])[0]
        for policy in (rules, stricter)
    )
    known.close()

    assert (usual.severity, usual.points, usual.ceiling) == ("medium", 10, 84)
    assert (other.severity, other.points, other.ceiling) == ("high", 30, 69)
    assert "of no stated severity: counts as medium" in usual.reason
