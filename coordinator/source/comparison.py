"""A skill's source against its manifest: what each has that the other does not."""

from __future__ import annotations

from collections.abc import Iterator

from coordinator.catalog.index import formats
from coordinator.catalog.skill import Skill
from coordinator.source.absent import absent_inputs, absent_tool, unknown_reads, unused_permissions
from coordinator.source.discrepancy import Discrepancy, hidden_text
from coordinator.source.permissions import grants
from coordinator.source.reading import Source
from coordinator.source.requirements import imported, undeclared_packages, unused_packages
from coordinator.source.undeclared import undeclared


def discrepancies(skill: Skill, source: Source) -> Iterator[Discrepancy]:
    """All in which *source* and *skill*'s manifest differ, and what should not be in *source*."""
    lacks = lacking(skill)
    if "permissions" not in lacks:
        allowed = grants(skill.permissions)
        yield from undeclared(source, allowed)
        yield from unused_permissions(source, allowed, imported(source))
        yield from undeclared_packages(source, skill.dependencies)
        yield from unused_packages(source, skill.dependencies)
    if "inputs" not in lacks:
        yield from unknown_reads(source, skill)
        yield from absent_inputs(source, skill)
        yield from absent_tool(source, skill)
    for name, secret in source.secrets:
        severity = "high" if secret.sure else "medium"
        yield Discrepancy("source/secret", severity, f"{name}:{secret.line}", f"{secret.kind}: {secret.shown}")
    for name, text in source.hidden:
        yield hidden_text(f"{name}:{text.line}", text)
    for gap in source.gaps:
        if gap.opaque and "permissions" in lacks:
            continue  # what it does is compared with nothing, and its text has been read
        at = gap.name or "/source_path"
        yield Discrepancy("source/unread", "medium", at, f"{gap.reason}: not verified", open=True)


def lacking(skill: Skill) -> frozenset[str]:
    """What the format of *skill* has no place for."""
    return frozenset(formats()[skill.format].LACKS) if skill.format in formats() else frozenset()
