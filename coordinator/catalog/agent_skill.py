"""Agent Skills: a folder with a ``SKILL.md``, whose front matter has six fields. Static only: nobody answers a call.

What the specification demands of the fields is demanded here; members that it does not know are left alone, as
publishers add their own. Version and author are by custom members of ``metadata``. The tools that the skill is allowed
to use are its permissions, and the Markdown below is its `Skill.instructions`.

Source: Agent Skills specification (agentskills.io).
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from typing import Any

from coordinator.catalog.canonical import digest
from coordinator.catalog.fields import MAX_LINE_CHARS, Fields
from coordinator.catalog.front_matter import BODY, FRONT
from coordinator.catalog.rejection import Rejected, child, shown
from coordinator.catalog.skill import Skill

FILE_NAMES = ("SKILL.md", "skill.md")
DESCRIBED = "SKILL.md (front matter with name and description)"
LACKS = frozenset(
    {"author", "data_handling", "failure_modes", "inputs", "outputs", "permissions", "scope", "test_cases", "version"}
)
MAX_NAME_CHARS = 64
MAX_DESCRIPTION_CHARS = 1_024
MAX_COMPATIBILITY_CHARS = 500
MAX_TOOLS = 200
MAX_TOOL_CHARS = 200

# A tool may be narrowed by what stands in brackets, blanks included: Bash(git status:*).
_TOOL = re.compile(r"[^\s,()]+(?:\([^()]*\))?")


def recognises(document: dict[str, Any]) -> bool:
    """Whether *document* is a SKILL.md that has been read."""
    return document.keys() == {FRONT, BODY}


def read(document: dict[str, Any], *, source: str, pointer: str, folder: Path | None) -> Skill:
    """The skill that *document* describes; it stands at *pointer* of *source*, in *folder*.

    Raises:
        Rejected: If it is not as the specification has it.
    """
    fields = Fields(document.get(FRONT), "", expected="front matter with name and description")
    name = _name(fields, folder if Path(source).name in FILE_NAMES else None)
    description = fields.text("description", required=True)
    _at_most(fields, "description", description, MAX_DESCRIPTION_CHARS)
    compatibility = fields.text("compatibility", required=fields.get("compatibility") is not None)
    _at_most(fields, "compatibility", compatibility, MAX_COMPATIBILITY_CHARS)
    metadata = fields.inner("metadata") or Fields({}, "")
    body = document.get(BODY)
    return Skill(
        id=name,
        name=name,
        version=_told(metadata, "version"),
        digest=digest(document),
        format="agent_skill",
        source=source,
        pointer=pointer,
        description=description,
        author=_told(metadata, "author"),
        license=fields.line("license"),
        permissions=_tools(fields),
        instructions=body if isinstance(body, str) else "",
        source_path="." if folder is not None else None,
        stated=fields.stated(),
    )


def _name(fields: Fields, folder: Path | None) -> str:
    name = unicodedata.normalize("NFKC", fields.text("name", required=True).strip())
    at = fields.at("name")
    _at_most(fields, "name", name, MAX_NAME_CHARS)
    if name != name.lower() or not all(character.isalnum() or character == "-" for character in name):
        raise Rejected(at, "lower-case letters, digits and hyphens", shown(name))
    if name.startswith("-") or name.endswith("-") or "--" in name:
        raise Rejected(at, "single hyphens, between letters and digits", shown(name))
    if folder is not None and (called := unicodedata.normalize("NFKC", folder.resolve().name)) != name:
        raise Rejected(at, f"the name of its folder, {shown(called)}", shown(name))
    return name


def _at_most(fields: Fields, name: str, text: str, most: int) -> None:
    if len(text) > most:
        raise Rejected(fields.at(name), f"at most {most:,} characters", f"{len(text):,}")


def _told(metadata: Fields, name: str) -> str:
    """The line that *metadata* has under *name*; numbers, which YAML makes of 1.0, as they are written."""
    value = metadata.value.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    told = value.strip() if isinstance(value, str) else ""
    return told if len(told) <= MAX_LINE_CHARS and told.isprintable() else ""


def _tools(fields: Fields) -> tuple[str, ...]:
    declared, at = fields.get("allowed-tools"), fields.at("allowed-tools")
    if declared is None:
        return ()
    if isinstance(declared, str):
        tools = _TOOL.findall(declared)
        if re.sub(r"[\s,]", "", _TOOL.sub("", declared)):
            raise Rejected(at, "the names of tools, separated by blanks", shown(declared))
    else:
        tools = list(fields.texts("allowed-tools", most=MAX_TOOLS))
    if len(tools) > MAX_TOOLS:
        raise Rejected(at, f"at most {MAX_TOOLS} tools", str(len(tools)))
    for index, tool in enumerate(tools):
        if len(tool) > MAX_TOOL_CHARS or not tool.isprintable():
            raise Rejected(child(at, index), f"a printable name of at most {MAX_TOOL_CHARS} characters", shown(tool))
    return tuple(tools)
