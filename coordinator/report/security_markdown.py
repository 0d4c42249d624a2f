"""The security section of report.md."""

from __future__ import annotations

from collections.abc import Iterator

from coordinator.report.escape import cut, markdown
from coordinator.report.security import WHY, SecuritySection

EVIDENCE_CHARS = 1_200


def lines(section: SecuritySection) -> Iterator[str]:
    """Attack by attack, with the evidence; text of skills is escaped."""
    yield ""
    yield "### Security"
    yield ""
    yield section.total
    if section.accuses:
        yield ""
        yield WHY
    for category in section.categories:
        yield ""
        yield f"**{category.name}.** {category.advice}".rstrip()
        yield ""
        for one in category.findings:
            yield (
                f"- `{one.outcome.value}` **{markdown(one.probe)}** ({one.severity or '-'}): "
                f"{markdown(cut(one.evidence, EVIDENCE_CHARS))}"
            )
