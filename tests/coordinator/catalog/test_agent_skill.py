from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.catalog.front_matter import front_matter
from coordinator.catalog.index import entries
from coordinator.catalog.rejection import Rejected
from coordinator.catalog.skill import Entry, Rejection, Skill

FULL = """---
name: pdf-forms
description: >-
  Fills forms in PDF files. Use it when
  somebody wants a form filled.
license: Apache-2.0
compatibility: Needs Python 3.11
metadata:
  author: example-org
  version: 1.0
  tools: {nested: [1]}
allowed-tools: Bash(git status:*) Read, Write
x-own: kept
---
# Forms

Run scripts/fill.py.
---
Not a fence any more.
"""


def entry(root: Path, content: str, folder: str = "pdf-forms", name: str = "SKILL.md") -> Entry:
    (root / folder).mkdir()
    (root / folder / name).write_text(content, "utf-8")
    (one,) = entries(root)
    return one


def test_a_skill_is_read_whole(tmp_path: Path) -> None:
    """The six fields, and the Markdown below as it is."""
    skill = entry(tmp_path, FULL)

    assert isinstance(skill, Skill), str(skill)
    assert (skill.id, skill.name, skill.format) == ("pdf-forms", "pdf-forms", "agent_skill")
    assert skill.description == "Fills forms in PDF files. Use it when somebody wants a form filled."
    assert (skill.license, skill.author, skill.version) == ("Apache-2.0", "example-org", "1.0")
    assert skill.permissions == ("Bash(git status:*)", "Read", "Write")
    assert skill.instructions == "# Forms\n\nRun scripts/fill.py.\n---\nNot a fence any more.\n"
    assert skill.access is None


def test_a_list_of_tools_is_one(tmp_path: Path) -> None:
    """The specification has both shapes."""
    skill = entry(tmp_path, "---\nname: a\ndescription: b\nallowed-tools:\n  - Bash(jq:*)\n  - Read\n---\n", "a")

    assert isinstance(skill, Skill), str(skill)
    assert skill.permissions == ("Bash(jq:*)", "Read")


def test_the_digest_covers_the_instructions(tmp_path: Path) -> None:
    """A changed body is another skill, and so is judged again."""
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()

    first, second = entry(tmp_path / "one", FULL), entry(tmp_path / "two", FULL + "And more.\n")

    assert isinstance(first, Skill)
    assert isinstance(second, Skill)
    assert first.digest != second.digest


@pytest.mark.parametrize(
    ("front", "pointer", "expected"),
    [
        ("description: b", "/name", "a text"),
        ("name: a", "/description", "a text"),
        ("name: a\ndescription: ''", "/description", "not empty"),
        (f"name: a\ndescription: {'x' * 1025}", "/description", "at most 1,024 characters"),
        (f"name: {'a' * 65}\ndescription: b", "/name", "at most 64 characters"),
        ("name: PDF-Forms\ndescription: b", "/name", "lower-case"),
        ("name: pdf_forms\ndescription: b", "/name", "lower-case"),
        ("name: -a\ndescription: b", "/name", "single hyphens"),
        ("name: a-\ndescription: b", "/name", "single hyphens"),
        ("name: a--b\ndescription: b", "/name", "single hyphens"),
        ("name: other\ndescription: b", "/name", "the name of its folder"),
        ("name: a\ndescription: 7", "/description", "a text"),
        (f"name: a\ndescription: b\ncompatibility: {'x' * 501}", "/compatibility", "at most 500 characters"),
        ("name: a\ndescription: b\ncompatibility: ''", "/compatibility", "not empty"),
        ("name: a\ndescription: b\nmetadata: [1]", "/metadata", "an object"),
        ("name: a\ndescription: b\nlicense: [1]", "/license", "a text"),
        ("name: a\ndescription: b\nallowed-tools: Bash(", "/allowed-tools", "names of tools"),
        ("name: a\ndescription: b\nallowed-tools: [1]", "/allowed-tools/0", "a text"),
        ("- a\n- b", "", "front matter with name"),
        ("", "", "front matter with name"),
        ("name: a\nname: b", "", "each name once"),
        ("name: *a", "", "an alias of an anchor before it"),
        ("name: !!python/object:os.system a", "", "values that JSON has"),
        ("a: " + "[" * 200, "", "levels"),
        ("a: [", "", "YAML"),
    ],
)
def test_what_breaks_the_specification_is_refused(tmp_path: Path, front: str, pointer: str, expected: str) -> None:
    """Each refusal names the field and what the specification has there."""
    rejection = entry(tmp_path, f"---\n{front}\n---\nbody\n", "a")

    assert isinstance(rejection, Rejection), rejection
    assert rejection.pointer == pointer
    assert expected in rejection.expected


@pytest.mark.parametrize("content", ["", "# Title\n", "---\nname: a\n", "name: a\n---\n", "---\n" + "x: y\n" * 30_000])
def test_a_file_without_front_matter_is_refused(tmp_path: Path, content: str) -> None:
    """There is a first fence and a second one, not too far from it."""
    rejection = entry(tmp_path, content, "a")

    assert isinstance(rejection, Rejection)
    assert "front matter" in rejection.expected


def test_an_alias_bomb_is_counted_and_refused(tmp_path: Path) -> None:
    """Aliases share their value; what they would expand to is bounded."""
    bomb = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9))

    rejection = entry(tmp_path, f"---\nname: a\ndescription: b\n{bomb}---\n", "a")

    assert isinstance(rejection, Rejection)
    assert "values in one manifest" in rejection.expected


def test_other_markdown_is_left_alone(tmp_path: Path) -> None:
    """A README is no manifest, however it starts."""
    (tmp_path / "README.md").write_text("---\nname: a\n---\n")

    skill = entry(tmp_path, FULL.replace("\n", "\r\n"))

    assert isinstance(skill, Skill), str(skill)


@given(st.text(alphabet=st.sampled_from("-\n\r ab:[]{}*&!'\"#|>,é")))
def test_any_text_is_read_or_refused(content: str) -> None:
    """Whatever the file holds, there is a value or a reason."""
    try:
        found = front_matter("---\n" + content)
    except Rejected:
        return
    assert isinstance(found["body"], str)
    assert content.endswith(found["body"])
