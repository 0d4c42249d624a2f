"""Markdown that starts with YAML between two lines of three hyphens: the YAML read strictly, the rest as it is."""

from __future__ import annotations

from typing import Any

from coordinator.catalog.documents import check
from coordinator.catalog.rejection import Rejected, shown

FENCE = "---"
FRONT, BODY = "frontmatter", "body"
MAX_FRONT_CHARS = 64 << 10


def front_matter(content: str) -> dict[str, Any]:
    """*content* as ``{"frontmatter": ..., "body": ...}``.

    Raises:
        Rejected: If there is no front matter, it is too long, or is no YAML that JSON has a word for; the pointer
            starts at it.
    """
    first, _, rest = content.partition("\n")
    if first.rstrip() != FENCE:
        raise Rejected("", f"front matter: a first line {FENCE}", shown(first))
    lines = rest[: MAX_FRONT_CHARS + len(FENCE) + 2].split("\n")
    end = next((index for index, line in enumerate(lines) if line.rstrip() == FENCE), None)
    if end is None:
        raise Rejected("", f"front matter of at most {MAX_FRONT_CHARS:,} characters, ended by a line {FENCE}", "more")
    front = "\n".join(lines[:end])
    from coordinator.catalog.yaml_documents import yaml_values  # not at the top: slow to import

    values = list(yaml_values(front))
    check(values[0] if values else None)
    consumed = sum(len(line) + 1 for line in lines[: end + 1])
    return {FRONT: values[0] if values else None, BODY: rest[consumed:]}
