"""A skill's source against its manifest, in both directions; secrets and hidden text that came with it.

The source is a folder or an archive of the catalog, and is read, never run (`coordinator.source`). What could not be
read earns nothing and is no accusation (`inconclusive`); without a source that is the whole check. A claim that
something is missing from the source is made only where all of it was understood. A ``source_url`` is not downloaded:
what it answers tomorrow is not what was certified today.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from coordinator.catalog.rejection import child, printable
from coordinator.catalog.skill import Skill
from coordinator.policy import StaticPolicy
from coordinator.source.discrepancy import Discrepancy, hidden_text
from coordinator.source.hidden_text import hidden
from coordinator.static.evidence import (
    Checked,
    Context,
    Deduction,
    Examined,
    Inapplicable,
    diminishing,
    graded,
    unverified,
)
from workers.wire.job import Pillar
from workers.wire.result import Outcome

if TYPE_CHECKING:
    from coordinator.source.reading import Source

PILLAR = Pillar.SECURITY
WITH_SOURCE = frozenset({"sxm", "agent_skill"})  # the formats that have a place for it
MAX_TOLD = 50  # of each rule; what comes after would take next to nothing


def examine(skill: Skill, context: Context) -> Examined:
    """What *skill*'s source shows, and the hidden text of its manifest."""
    policy = context.policy.static
    told = [graded(one.at, one.reason, one.rule, one.severity, policy) for one in _hidden_in_manifest(skill)]
    if skill.source_path is None:
        if skill.format in WITH_SOURCE:
            reason = "no source is given; a source_url is not downloaded" if skill.source_url else "no source is given"
            return Checked((unverified("/source_path", reason, "source/missing", policy), *told))
        return Checked(diminishing(told, policy)) if told else Inapplicable("the format has no place for a source")
    # Not at the top: the parsers of two languages take a while to import, and few catalogs come with sources.
    from coordinator.source.comparison import discrepancies, lacking
    from coordinator.source.reading import read
    from coordinator.static.source_place import NoSource, source_place

    try:
        place = source_place(skill, context.folder)
    except NoSource as no:
        return Checked((unverified("/source_path", str(no), "source/missing", policy), *told))
    planted = tuple(one for one in (skill.planted.canary, skill.planted.system_prompt) if one)
    source = read(place, planted=planted)
    told += [_deduction(one, policy) for one in discrepancies(skill, source)]
    told.sort(key=lambda one: (-one.points, one.rule, one.field, one.reason))
    compared = "permissions" not in lacking(skill)
    if compared and source.gaps and not source.files:
        told.insert(0, unverified("/source_path", "none of the source could be analysed", "source/missing", policy))
    if compared and not source.files and not source.gaps and not source.ours:
        told.insert(0, unverified("/source_path", "the source has no code", "source/missing", policy))
    ours = [
        Deduction(one.name, f"{one.reason}: not judged", 0, "source/unread", outcome=Outcome.UNJUDGED)
        for one in source.ours[:MAX_TOLD]
    ]
    return Checked((*_first(diminishing(told, policy)), *ours), coverage=_coverage(source))


def _hidden_in_manifest(skill: Skill) -> Iterator[Discrepancy]:
    """Test cases and examples are left out: a skill that finds hidden text has to be tried with some."""
    texts: list[tuple[str, str]] = [
        ("/name", skill.name), ("/description", skill.description), ("/scope", skill.scope), ("/author", skill.author),
        ("/data_handling", skill.data_handling), ("/category", skill.category), ("", skill.instructions),
    ]  # fmt: skip
    for group, parameters in (("/inputs", skill.inputs), ("/outputs", skill.outputs)):
        for place, one in enumerate(parameters):
            texts.append((child(group, place), f"{one.name}\n{one.description}\n{one.schema.get('description', '')}"))
    for place, mode in enumerate(skill.failure_modes):
        texts.append((child("/failure_modes", place), f"{mode.condition}\n{mode.behaviour}"))
    for group, lines in (("/permissions", skill.permissions), ("/dependencies", skill.dependencies)):
        texts += [(child(group, place), line) for place, line in enumerate(lines)]
    for at, text in texts:
        for found in hidden(text):
            yield hidden_text(at, found)


def _deduction(one: Discrepancy, policy: StaticPolicy) -> Deduction:
    if not one.open:
        return graded(printable(one.at), printable(one.reason), one.rule, one.severity, policy)
    points = policy.points.of(one.severity)
    return Deduction(printable(one.at), printable(one.reason), points, one.rule, outcome=Outcome.INCONCLUSIVE)


def _coverage(source: Source) -> float:
    unread = len(source.ours)
    return 1 - unread / (len(source.files) + len(source.gaps) + unread) if unread else 1.0


def _first(deductions: Iterable[Deduction]) -> Iterator[Deduction]:
    told: dict[str, int] = {}
    for one in deductions:
        told[one.rule] = told.get(one.rule, 0) + 1
        if told[one.rule] <= MAX_TOLD:
            yield one
