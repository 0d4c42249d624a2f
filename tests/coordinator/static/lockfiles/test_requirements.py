from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.static.lockfiles import requirements
from coordinator.static.lockfiles._broken import Broken
from coordinator.static.lockfiles._find import is_lock_file
from coordinator.static.lockfiles._place import Folder
from coordinator.static.lockfiles._source import MAX_FILES, SourceFile
from tests.coordinator.static.lockfiles.sources import found, source

FULL = """\
# a comment
--index-url https://example.com/simple
-i https://example.com/simple
Requests[socks]==2.31.0 \\
    --hash=sha256:aaaa \\
    --hash=sha256:bbbb  # of the wheel
urllib3 >= 1.26, < 2 ; python_version >= "3.8"   # why
numpy==1.0; python_version < "3"
git+https://example.com/x.git#egg=x
-e git+https://example.com/y.git#egg=y
-e .
./local
attrs"""


def test_what_pip_would_install_is_read(tmp_path: Path) -> None:
    """Continuations, hashes, comments, options and markers as pip has them; URLs stay in doubt."""
    dependencies, broken = found(tmp_path, requirements__txt=FULL)

    assert dependencies == [
        "requests 2.31.0",
        "urllib3 <2,>=1.26",
        "?git+https://example.com/x.git#egg=x",
        "?git+https://example.com/y.git#egg=y",
        "attrs",
    ]
    assert broken == []


def test_other_files_are_followed_inside_the_source(tmp_path: Path) -> None:
    """By -r and -c, each once however they name each other; what they constrain is marked."""
    root = source(
        tmp_path,
        requirements__txt="-r sub/more.txt\n--constraint=pins.txt\nflask\n",
        sub___more__txt="-r ../requirements.txt\njinja2\n",
        pins__txt="flask==3.0.0\n",
    )

    read = [
        one
        for one in requirements.read(SourceFile(Folder(root, is_lock_file), "requirements.txt"))
        if not isinstance(one, Broken)
    ]

    assert {(one.at, one.stated, one.constraint) for one in read} == {
        ("requirements.txt:3", "flask", False),
        ("sub/more.txt:2", "jinja2", False),
        ("pins.txt:1", "flask==3.0.0", True),
    }


@pytest.mark.parametrize("name", ["../outside.txt", "/etc/passwd", "missing.txt", "link.txt", "sub", "a\0b"])
def test_no_file_outside_the_source_is_read(tmp_path: Path, name: str) -> None:
    """Neither by path nor by link; it is told with the line that names it."""
    (tmp_path / "outside.txt").write_text("secret==1.0")
    inside = tmp_path / "inside"
    root = source(inside, requirements__txt=f"ok==1\n-r {name}\n", sub___x__txt="")
    (inside / "link.txt").symlink_to(tmp_path / "outside.txt")

    read = list(requirements.read(SourceFile(Folder(root, is_lock_file), "requirements.txt")))

    assert [one.at for one in read] == ["requirements.txt:1", "requirements.txt:2"]
    assert isinstance(read[1], Broken)


def test_a_chain_of_files_ends(tmp_path: Path) -> None:
    """However many files name the next one."""
    for number in range(MAX_FILES + 5):
        (tmp_path / f"{number}.txt").write_text(f"-r {number + 1}.txt\n")
    root = source(tmp_path, requirements__txt="-r 0.txt\n")

    read = list(requirements.read(SourceFile(Folder(root, is_lock_file), "requirements.txt")))

    assert [str(one) for one in read if isinstance(one, Broken)] == [
        f"{MAX_FILES - 2}.txt:1: expected at most {MAX_FILES} files that name each other, found more"
    ]


def test_rubbish_is_told_with_its_line_and_hides_nothing(tmp_path: Path) -> None:
    """The lines before and after it count."""
    assert found(tmp_path, requirements__txt="a==1\n\n???\n{\nb==2 \\\n  junk\nc==3\n") == (
        ["a 1", "c 3"],
        ["requirements.txt:3", "requirements.txt:4", "requirements.txt:5"],
    )


def test_a_line_without_end_is_refused(tmp_path: Path) -> None:
    """So is a file that is no text."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "requirements.txt").write_bytes(b"\xff\xfea")

    _, broken = found(tmp_path, requirements__txt="a" * 100_000)

    assert broken == ["requirements.txt:1", "sub/requirements.txt:1"]


@given(st.text(max_size=200))
def test_no_text_is_too_odd(tmp_path_factory: pytest.TempPathFactory, content: str) -> None:
    """Whatever stands in the file, it is read to its end."""
    root = source(tmp_path_factory.mktemp("source"))
    (root / "requirements.txt").write_bytes(content.encode("utf-8", "surrogatepass"))

    assert all(one.at for one in requirements.read(SourceFile(Folder(root, is_lock_file), "requirements.txt")))
