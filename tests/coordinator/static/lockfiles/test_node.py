from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.static.lockfiles import _node
from coordinator.static.lockfiles._broken import Broken
from coordinator.static.lockfiles._find import is_lock_file, stated
from coordinator.static.lockfiles._lines import Steps, json_line, yaml_line, yaml_tree
from coordinator.static.lockfiles._node import Node, json_node, toml_node, yaml_node
from coordinator.static.lockfiles._place import Folder
from coordinator.static.lockfiles._source import SourceFile
from tests.coordinator.static.lockfiles.sources import found, source

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('ab"/~\\ é', max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('xyz"', max_size=3), inner, max_size=4),
    max_leaves=20,
)


def places(value: Any, path: Steps = ()) -> list[Steps]:
    """The way to every value that is inside of *value*."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(way for step, one in inner for way in places(one, (*path, step)))]


@given(VALUES, st.sampled_from([1, "\t"]))
def test_every_value_is_found_in_its_line(value: Any, indent: int | str) -> None:
    """Printed one value a line, the lines are those of the values, in order."""
    content = json.dumps(value, indent=indent)

    lines = [json_line(content, path) for path in places(value)]

    assert lines == sorted(lines)
    closing = sum(line.strip() in ("]", "}", "],", "},") for line in content.splitlines())
    assert len(set(lines)) == len(lines) == content.count("\n") + 1 - closing


@given(VALUES)
def test_yaml_lines_are_those_of_json(value: Any) -> None:
    """JSON is YAML, so both searches must agree where a value of a member or item stands alone in its line."""
    content = json.dumps(value, indent=1)
    tree = yaml_tree(content)

    assert all(yaml_line(tree, path) == json_line(content, path) for path in places(value))


def test_what_the_search_cannot_bear_is_at_line_one() -> None:
    """A number of ten thousand digits before the place, say."""
    assert json_line('{"a": ' + "1" * 10_000 + ',\n"b": 1}', ("b",)) == 1


@pytest.mark.parametrize("read", [json_node, toml_node, yaml_node])
@given(content=st.text(max_size=100))
def test_no_text_is_too_odd(tmp_path_factory: pytest.TempPathFactory, read: Any, content: str) -> None:
    """It is a document, or broken at a line."""
    root = source(tmp_path_factory.mktemp("source"))
    (root / "file").write_bytes(content.encode("utf-8", "surrogatepass"))
    try:
        made = read(SourceFile(Folder(root, is_lock_file), "file"))
    except Broken as no:
        made = no

    assert isinstance(made, Node) or (isinstance(made, Broken) and made.at.startswith("file:"))


def test_a_hundred_thousand_broken_entries_are_not_searched_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line is looked for when it is asked for, and only then."""
    searched: list[Steps] = []
    monkeypatch.setattr(_node, "json_line", lambda _, path: searched.append(path) or 1)
    content = json.dumps({"dependencies": {f"a{number}": 7 for number in range(1_000)}})
    root = source(tmp_path, package__json=content)

    _, broken = found(root)

    assert len(broken) == len(searched) == 1_000
    searched.clear()
    assert sum(isinstance(one, Broken) for one in stated(root)) == 1_000
    assert searched == []
