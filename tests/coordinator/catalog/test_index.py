from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coordinator.catalog.index import CatalogError, entries, formats
from coordinator.catalog.skill import Entry, Rejection, Skill


def put(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content))


def outline(found: list[Entry]) -> list[tuple[str, str]]:
    return [(e.id, Path(e.source).name) if isinstance(e, Skill) else ("-", Path(e.source).name) for e in found]


def test_formats_are_the_modules_that_recognise_a_document() -> None:
    """The formats are found in the folder itself, under the names of their files."""
    assert set(formats()) >= {"eval_skills", "sxm"}
    assert "documents" not in formats()


def test_good_entries_go_on_beside_bad_ones(
    tmp_path: Path, manifest: dict[str, Any], eval_manifest: dict[str, Any]
) -> None:
    """Each bad entry of a folder becomes one rejection, and every good one is kept, in the order of the names."""
    put(tmp_path / "a" / "sxm-manifest.json", manifest)
    put(tmp_path / "b" / "skill.json", "{not json")
    put(tmp_path / "c" / "skill.json", eval_manifest)
    put(tmp_path / "d" / "skillmark.json", b"\xff\xfe\x00")
    put(tmp_path / "e" / "deep" / "skillmark.json", {**manifest, "name": "Deep"})
    put(tmp_path / "f" / "skillmark.json", os.urandom(64) * (5 << 14))
    put(tmp_path / "more.jsonl", json.dumps({**manifest, "name": "Line"}) + "\n\n{]\n")

    found = list(entries(tmp_path))

    assert outline(found) == [
        ("word-counter", "sxm-manifest.json"),
        ("-", "skill.json"),
        ("adder", "skill.json"),
        ("-", "skillmark.json"),
        ("deep", "skillmark.json"),
        ("-", "skillmark.json"),
        ("line", "more.jsonl:1"),
        ("-", "more.jsonl:3"),
    ]
    too_large = found[5]
    assert isinstance(too_large, Rejection)
    assert too_large.expected == "at most 1,048,576 bytes"


@pytest.mark.parametrize("name", ["skills.json", "skills.jsonl", "skills.yaml", "wrapped.json"])
def test_one_file_may_mix_formats(
    tmp_path: Path, name: str, manifest: dict[str, Any], eval_manifest: dict[str, Any]
) -> None:
    """A list holds manifests of several formats: what a document holds decides."""
    both = [manifest, eval_manifest]
    content: Any = {"skills": both} if name == "wrapped.json" else both
    put(tmp_path / name, "\n".join(map(json.dumps, both)) if name.endswith("l") and "json" in name else content)

    found = list(entries(tmp_path / name))

    assert [(skill.id, skill.format) for skill in found if isinstance(skill, Skill)] == [
        ("word-counter", "sxm"),
        ("adder", "eval_skills"),
    ]


def test_second_of_an_id_and_version_is_told_where_the_first_is(
    listed: Callable[..., list[Entry]], manifest: dict[str, Any]
) -> None:
    """The later of two entries with one id and version is refused; another version is another entry."""
    first, again, other = listed(manifest, {**manifest, "platform": "x"}, {**manifest, "version": "2.0.0"})

    assert isinstance(first, Skill)
    assert isinstance(other, Skill)
    assert isinstance(again, Rejection)
    assert again.pointer == "/1"
    assert again.found.endswith("catalog.json#/0")


def test_order_and_digests_are_the_same_each_time(tmp_path: Path, manifest: dict[str, Any]) -> None:
    """Two readings of one catalog give equal entries in equal order, whatever order the files were made in."""
    for name in "cab":
        put(tmp_path / name / "skillmark.json", {**manifest, "name": name})

    once, twice = list(entries(tmp_path)), list(entries(tmp_path))

    assert once == twice
    assert [skill.id for skill in once if isinstance(skill, Skill)] == ["a", "b", "c"]


def test_digest_does_not_depend_on_how_a_manifest_is_written(tmp_path: Path, manifest: dict[str, Any]) -> None:
    """The order of members, blanks and the number 1.0 for 1 leave the digest alone; a changed word does not."""
    put(tmp_path / "a.json", {**manifest, "max_requests_per_second": 1})
    put(tmp_path / "b.json", json.dumps({"max_requests_per_second": 1.0, **manifest}, indent=3))
    put(tmp_path / "c.json", {**manifest, "max_requests_per_second": 1, "scope": "x"})

    digests = [skill.digest for n in "abc" for skill in entries(tmp_path / f"{n}.json") if isinstance(skill, Skill)]

    assert digests[0] == digests[1] != digests[2]


def test_companions_hidden_and_installed_files_are_no_entries(tmp_path: Path, manifest: dict[str, Any]) -> None:
    """Files that belong to other tools are passed over, and loose files count at the top level only."""
    put(tmp_path / "skillmark.json", manifest)
    for name in ("package.json", ".git/skill.json", "node_modules/x/skill.json", "deep/loose.json", "notes.txt"):
        put(tmp_path / name, "rubbish")

    assert outline(list(entries(tmp_path))) == [("word-counter", "skillmark.json")]


def test_links_and_pipes_are_refused_not_followed(tmp_path: Path, manifest: dict[str, Any]) -> None:
    """A link to a manifest and a named pipe are rejections; a linked folder is not entered."""
    put(tmp_path / "outside" / "skillmark.json", manifest)
    catalog = tmp_path / "catalog"
    (catalog / "a").mkdir(parents=True)
    (catalog / "a" / "skillmark.json").symlink_to(tmp_path / "outside" / "skillmark.json")
    (catalog / "b").symlink_to(tmp_path / "outside")
    (catalog / "c").mkdir()
    os.mkfifo(catalog / "c" / "skill.json")

    found = [entry for entry in entries(catalog) if isinstance(entry, Rejection)]

    assert [(Path(entry.source).parent.name, entry.expected) for entry in found] == [("a", "a file"), ("c", "a file")]


def test_name_that_is_not_unicode_is_shown_escaped(tmp_path: Path) -> None:
    """A file name of any bytes still gives a source that can be written as UTF-8."""
    folder = os.fsencode(tmp_path) + b"/\xff\x1b"
    os.mkdir(folder)
    with open(folder + b"/skill.json", "wb") as file:
        file.write(b"[]]")

    (entry,) = entries(tmp_path)

    assert entry.source.encode().endswith(b"\\udcff\\x1b/skill.json")


@pytest.mark.parametrize("content", [None, {}, {"README.md": "x"}, {"catalog.json": "[]"}])
def test_catalog_without_a_manifest_is_an_error(tmp_path: Path, content: dict[str, str] | None) -> None:
    """A path that is not there, and a folder in which nothing is a manifest, raise an error that names the path."""
    path = tmp_path / "catalog"
    for name, text in (content or {}).items():
        put(path / name, text)
    if content is not None:
        path.mkdir(exist_ok=True)

    with pytest.raises(CatalogError, match=r"catalog.*expected"):
        list(entries(path))


def test_missing_path_is_told_before_the_first_entry(tmp_path: Path) -> None:
    """The caller learns of a wrong path from the call, not from the first entry."""
    with pytest.raises(CatalogError, match="found nothing; check the path"):
        entries(tmp_path / "nowhere")


def test_a_line_over_the_limit_does_not_hide_the_next(tmp_path: Path, manifest: dict[str, Any]) -> None:
    """A line of more than 1 MiB is one rejection, and the lines after it are read."""
    put(tmp_path / "c.jsonl", b"x" * (3 << 20) + b"\n" + json.dumps(manifest).encode())

    assert outline(list(entries(tmp_path / "c.jsonl"))) == [("-", "c.jsonl:1"), ("word-counter", "c.jsonl:2")]


def test_entries_are_read_as_they_are_asked_for(tmp_path: Path, manifest: dict[str, Any]) -> None:
    """The first entry comes before the next folder has been looked at: what has gone by then is not missed."""
    put(tmp_path / "a" / "skillmark.json", manifest)
    put(tmp_path / "b" / "skillmark.json", {**manifest, "name": "B"})

    found = entries(tmp_path)
    first = next(found)
    (tmp_path / "b" / "skillmark.json").unlink()

    assert isinstance(first, Skill)
    assert list(found) == []
