"""A skill's dependencies against the known vulnerabilities of their packages.

They are stated in the manifest, and in the lock and requirement files of the source. Where a lock file fixes the
version of a package, what else is said of the package adds nothing. A dependency without a fixed version is known where
its whole range is affected or none of it is; else it earns nothing (`inconclusive`): nobody could say which version
runs. A package that no advisory names is clean, whatever its version, but only in an ecosystem whose advisories we
have, and fresh: else that dependency is not judged, through our own fault, and lowers the coverage.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from coordinator.catalog.rejection import printable, shown
from coordinator.catalog.skill import Skill
from coordinator.osv.advisories import AdvisoriesError
from coordinator.osv.affected import Status
from coordinator.osv.ecosystem import NPM, PYPI, Package
from coordinator.osv.vulnerabilities import Vulnerability
from coordinator.policy import DependencyPolicy, Policy
from coordinator.static.dependency import Dependency, read
from coordinator.static.evidence import (
    SEVERITIES,
    Checked,
    Context,
    Deduction,
    Examined,
    Inapplicable,
    Unchecked,
    diminishing,
    graded,
)
from coordinator.static.source_place import NoSource, source_place
from workers.wire.job import Pillar
from workers.wire.result import Outcome

PILLAR = Pillar.SECURITY
VULNERABLE = "dependencies/vulnerable"
UNVERIFIED = "dependencies/unverified"
BROKEN = "dependencies/unreadable"
MISSING = "dependencies/no-advisories"
MAX_DEPENDENCIES = 20_000
MAX_TOLD = 50  # of each rule; what comes after would take next to nothing
MAX_BROKEN = 20  # places whose line is looked for
WORD_BREAK = re.compile(r"[\s/,;]+")
LANGUAGES = {
    PYPI: frozenset({"python", "python3", "pypi", "pip", "fastapi", "flask", "django"}),
    NPM: frozenset({"node", "nodejs", "node.js", "npm", "javascript", "typescript", "js", "ts", "deno", "bun"}),
}
MAKERS = {PYPI: ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"), NPM: ("package.json",)}


def examine(skill: Skill, context: Context) -> Examined:
    """The vulnerabilities of what *skill* depends on."""
    policy = context.policy.security.dependencies
    broken: list[Deduction] = []
    dependencies = _dependencies(skill, context, broken, policy)
    if not dependencies and not broken:
        # An empty list is a statement, which the source is held against; silence is none.
        return Checked() if "dependencies" in skill.stated else Inapplicable("nothing is stated of dependencies")
    try:
        missing = _missing(dependencies, context)
        found = [
            taken
            for one in dependencies
            if one.package is None or one.package.ecosystem not in missing
            for taken in _held_against(one, context)
        ]
    except AdvisoriesError as error:
        return Unchecked(str(error))
    unjudged = sum(one.package is not None and one.package.ecosystem in missing for one in dependencies)
    if dependencies and unjudged == len(dependencies):
        besides = [f"{one.field}: {one.reason}" for one in broken]
        return Unchecked("; ".join([*dict.fromkeys(missing[name] for name in sorted(missing)), *besides]))
    told = [
        Deduction("", f"{reason}: not judged", 0, MISSING, outcome=Outcome.UNJUDGED)
        for reason in dict.fromkeys(missing.values())
    ]
    worst_first = sorted([*found, *broken], key=lambda one: (-one.points, one.rule, one.field, one.reason))
    return Checked(
        (*_first(diminishing(worst_first, context.policy.static)), *told),
        coverage=1 - unjudged / len(dependencies) if dependencies else 1.0,
    )


def _dependencies(
    skill: Skill, context: Context, broken: list[Deduction], policy: DependencyPolicy
) -> list[Dependency]:
    """What *skill* depends on, each once; places that cannot be read go to *broken*."""
    found: list[Dependency] = []
    place: Path | None = None
    if skill.source_path is not None:
        try:
            place = source_place(skill, context.folder)
        except NoSource as no:
            broken.append(_unverified("/source_path", str(no), policy, BROKEN))
    if place is not None:
        # Not at the top: it brings the parsers of two languages along.
        from coordinator.static.lockfiles._find import stated

        for one in stated(place):
            if len(found) >= MAX_DEPENDENCIES:
                told = f"more than {MAX_DEPENDENCIES:,} dependencies"
                broken.append(_unverified("/source_path", told, policy, BROKEN))
                break
            if isinstance(one, Dependency):
                found.append(one)
            elif len(broken) < MAX_BROKEN:
                broken.append(_unverified(one.at, f"expected {one.expected}, found {one.found}", policy, BROKEN))
    ecosystem = _ecosystem(skill, place, found)
    for index, text in enumerate(skill.dependencies):
        if (named := read(text, f"/dependencies/{index}", ecosystem)) is not None:
            found.append(named)
    return _settled(found)


def _settled(stated: list[Dependency]) -> list[Dependency]:
    """*stated* without what adds nothing: repeats, constraints on what nobody asks for, ranges of fixed packages."""
    asked = {one.package for one in stated if not one.constraint}
    fixed = {one.package for one in stated if one.version and one.package is not None and one.package in asked}
    seen: dict[tuple[Package | None, str, str], Dependency] = {}
    for one in stated:
        if one.package not in asked or (one.constraint and not one.version):
            continue
        if one.package in fixed and not one.version:
            continue
        seen.setdefault((one.package, one.version or one.allowed, "" if one.package else one.stated), one)
    return list(seen.values())


def _ecosystem(skill: Skill, place: Path | None, stated: Iterable[Dependency]) -> str | None:
    """The ecosystem of names that do not say their own: by the manifest's platform, else by what makes the source.

    Else it is the only one of which anything is *stated* in the source.
    """
    words = {word.lower() for text in (skill.platform, *skill.tags) for word in WORD_BREAK.split(text)}
    named = [name for name, spoken in LANGUAGES.items() if words & spoken]
    if not named and place is not None:
        named = [name for name, files in MAKERS.items() if any((place / file).is_file() for file in files)]
    if not named:
        named = sorted({one.package.ecosystem for one in stated if one.package is not None})
    return named[0] if len(named) == 1 else None


def _missing(dependencies: Iterable[Dependency], context: Context) -> dict[str, str]:
    """The ecosystems whose advisories are missing or too old, and why."""
    most = context.policy.security.dependencies.max_age_days
    ecosystems = sorted({one.package.ecosystem for one in dependencies if one.package is not None})
    if isinstance(context.advisories, str):
        return dict.fromkeys(ecosystems, context.advisories)
    found = {}
    for ecosystem in ecosystems:
        as_of = context.advisories.as_of(ecosystem)
        if as_of is None:
            found[ecosystem] = f"there are no advisories on {ecosystem}; `skillmark osv update --ecosystem {ecosystem}`"
        elif (context.now - as_of).total_seconds() > most * 86_400:
            found[ecosystem] = (
                f"the advisories on {ecosystem} are of {as_of:%Y-%m-%d}, older than the {most:g} days that the policy "
                "allows; `skillmark osv update`"
            )
    return found


def _held_against(one: Dependency, context: Context) -> Iterator[Deduction]:
    advisories, policy = context.advisories, context.policy.security.dependencies
    if one.package is None or isinstance(advisories, str):
        yield _unverified(one.at, f"{shown(one.stated)}: {one.doubt}", policy)
        return
    found = advisories.found_in(one.package, one.version, one.allowed)
    unsure = [vulnerability for vulnerability, status in found if status is Status.UNKNOWN]
    for vulnerability, status in found:
        if status is Status.AFFECTED:
            yield _vulnerable(one, vulnerability, context.policy)
    if unsure:
        if one.version:
            why = f"whether version {shown(one.version)} is affected cannot be told"
        else:
            why = one.doubt or "its version is not fixed, and some that it allows are affected"
        names = ", ".join(vulnerability.ids[0] for vulnerability in unsure[:3])
        more = f" and {len(unsure) - 3} more" if len(unsure) > 3 else ""
        yield _unverified(one.at, f"{printable(str(one.package))}: {why} ({names}{more})", policy)


def _vulnerable(one: Dependency, found: Vulnerability, policy: Policy) -> Deduction:
    severity, unrated = found.severity, ""
    if severity not in SEVERITIES:
        severity = policy.security.dependencies.unrated
        unrated = f" (of no stated severity: counts as {severity})"
    names = " = ".join(found.ids[:3])
    version = shown(one.version) if one.version else "every version that is allowed"
    return graded(
        one.at,
        f"{printable(str(one.package))} {version} has a known vulnerability{unrated}, {names}: {found.summary}",
        VULNERABLE,
        severity,
        policy.static,
    )


def _unverified(at: str, reason: str, policy: DependencyPolicy, rule: str = UNVERIFIED) -> Deduction:
    return Deduction(at, reason, policy.unverified, rule, outcome=Outcome.INCONCLUSIVE)


def _first(deductions: Iterable[Deduction]) -> Iterator[Deduction]:
    told: dict[str, int] = {}
    for one in deductions:
        told[one.rule] = told.get(one.rule, 0) + 1
        if told[one.rule] <= MAX_TOLD:
            yield one
