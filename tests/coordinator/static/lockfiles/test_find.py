from __future__ import annotations

from pathlib import Path

import pytest

from coordinator.static.lockfiles import _find
from coordinator.static.lockfiles._broken import Broken
from coordinator.static.lockfiles._find import lock_formats, stated
from tests.coordinator.static.lockfiles.sources import found, source


def test_every_module_of_the_folder_is_a_format() -> None:
    """A new format is a new file; there is no second list."""
    folder = Path(_find.__file__).parent
    modules = {path.stem for path in folder.glob("*.py") if not path.name.startswith("_")}

    assert set(lock_formats()) == modules
    assert all(form.NAMES for form in lock_formats().values())


def test_lock_files_are_found_where_a_source_has_them(tmp_path: Path) -> None:
    """In inner folders too; not among installed packages, not behind links."""
    elsewhere = tmp_path / "elsewhere"
    source(elsewhere, requirements__txt="outside==1")
    inside = tmp_path / "inside"
    source(
        inside,
        requirements__txt="top==1",
        server___requirements__txt="inner==1",
        node_modules___x___package__json='{"dependencies": {"installed": "1.0.0"}}',
        __git___requirements__txt="hidden==1",
    )
    (inside / "linked").symlink_to(elsewhere)

    assert found(inside) == (["top 1", "inner 1"], [])


def test_a_link_in_place_of_a_lock_file_is_refused(tmp_path: Path) -> None:
    """It could lead anywhere."""
    (tmp_path / "secret").write_text("secret==1")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "requirements.txt").symlink_to(tmp_path / "secret")

    assert found(inside) == ([], ["requirements.txt:1"])


@pytest.mark.parametrize(("name", "most"), [("_place.MAX_NAMES", 5), ("_find.MAX_FILES", 3)])
def test_a_huge_source_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, most: int) -> None:
    """What is beyond the bounds is not silently left out."""
    monkeypatch.setattr(f"coordinator.static.lockfiles.{name}", most)
    root = source(tmp_path, **{f"d{number}___requirements__txt": f"p{number}==1" for number in range(10)})

    assert any(isinstance(one, Broken) and f"at most {most}" in str(one) for one in stated(root))


def test_large_files_are_bounded_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And those that a file names count with it."""
    monkeypatch.setattr("coordinator.static.lockfiles._place.MAX_SOURCE_BYTES", 250)
    large = "# " + "x" * 98 + "\n"

    assert found(tmp_path, requirements__txt=f"{large}-r a.txt\n-r b.txt\nkept==1\n", a__txt=large, b__txt=large) == (
        ["kept 1"],
        ["a.txt:1"],
    )


def test_a_large_file_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file is bounded in bytes."""
    monkeypatch.setattr("coordinator.static.lockfiles._place.MAX_FILE_BYTES", 100)

    assert found(tmp_path, requirements__txt="# " + "x" * 200, package__json=" " * 200 + "{}") == (
        [],
        ["package.json:1", "requirements.txt:1"],
    )
