from __future__ import annotations

import io
import os
import socket
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.source import archive, tree
from coordinator.source.entry import Entry, Gap
from coordinator.source.tree import entries


def names(path: Path) -> set[str]:
    return {one.name for one in entries(path) if isinstance(one, Entry)}


def gaps(path: Path) -> dict[str, str]:
    return {one.name: one.reason for one in entries(path) if isinstance(one, Gap)}


def tar(path: Path, *members: tuple[tarfile.TarInfo, bytes], mode: str = "w") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for info, data in members:
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def test_folder_is_read_without_what_is_no_source(tmp_path: Path) -> None:
    """Code and texts are read; version control, caches and installed packages are not."""
    for name in ("a.py", "sub/b.ts", "README.md", "logo.png", ".git/config.py", "node_modules/x/i.js"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")

    assert names(tmp_path) == {"a.py", "sub/b.ts", "README.md"}


def test_links_pipes_and_sockets_are_not_opened(tmp_path: Path) -> None:
    """What is no regular file is never opened, and a link in place of code is told."""
    outside = tmp_path / "outside.py"
    outside.write_text("secret = 1")
    root = tmp_path / "src"
    root.mkdir()
    (root / "link.py").symlink_to(outside)
    (root / "folder").symlink_to(tmp_path)
    os.mkfifo(root / "pipe.py")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(root / "s.py"))

        found = list(entries(root))

    assert {one.name for one in found} == {"link.py", "folder"}
    assert all(isinstance(one, Gap) for one in found)


def test_every_bound_that_cut_something_off_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many files, too deep folders, too large files and too much in all are gaps, never silence."""
    monkeypatch.setattr(tree, "MAX_FILE_BYTES", 10)
    monkeypatch.setattr(tree, "MAX_LEVELS", 1)
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "deep.py").write_text("x")
    (tmp_path / "large.py").write_text("x" * 11)

    assert gaps(tmp_path).keys() == {"a/b", "large.py"}
    monkeypatch.setattr(tree, "MAX_ENTRIES", 1)
    assert "more than 1 files" in " ".join(gaps(tmp_path).values())
    monkeypatch.undo()
    monkeypatch.setattr(tree, "MAX_TOTAL_BYTES", 5)
    assert any("MiB" in reason for reason in gaps(tmp_path).values())


@pytest.mark.parametrize("name", ["../x.py", "/etc/x.py", "a/../../x.py", "C:/x.py", "..\\x.py"])
def test_names_that_lead_out_of_an_archive_are_refused(name: str, tmp_path: Path) -> None:
    """Zip or tar: the entry is not read, and it is told."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(name, "x")
        archive.writestr("ok.py", "x")
    made = tar(tmp_path / "a.tgz", (member(name), b"x"), (member("ok.py"), b"x"), mode="w:gz")

    for path in (tmp_path / "a.zip", made):
        assert names(path) == {"ok.py"}
        assert list(gaps(path).values()) == ["is a name that leads out of the archive"]


def test_links_and_devices_in_archives_are_refused(tmp_path: Path) -> None:
    """Symbolic and hard links, devices and pipes are told and never followed."""
    kinds = (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE)
    path = tar(tmp_path / "a.tar", *((member(f"{n}.py", kind, "/etc/passwd"), b"") for n, kind in enumerate(kinds)))
    link = zipfile.ZipInfo("l.py")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")

    assert names(path) == names(tmp_path / "a.zip") == set()
    assert len(gaps(path)) == 4
    assert len(gaps(tmp_path / "a.zip")) == 1


def test_entry_that_stands_twice_is_told(tmp_path: Path) -> None:
    """Which of two entries of one name an installer takes cannot be known."""
    path = tar(tmp_path / "a.tar", (member("x.py"), b"a"), (member("./x.py"), b"b"))

    assert gaps(path) == {"./x.py": "stands in the archive more than once"}


def test_bombs_are_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small archive of gigabytes of nothing is read to the bound and no further."""
    monkeypatch.setattr(archive, "MAX_UNPACKED_BYTES", 1 << 20)
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as made:
        for n in range(4):
            made.writestr(f"{n}.py", b"\0" * (4 << 20))
    packed = tar(tmp_path / "a.tar.gz", (member("zeros.bin"), b"\0" * (4 << 20)), (member("x.py"), b"x"), mode="w:gz")

    assert names(tmp_path / "a.zip") == names(packed) == set()
    assert "unpacked" in " ".join(gaps(tmp_path / "a.zip").values())
    assert "unpacked" in " ".join(gaps(packed).values())


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.tgz", "a.whl"])
@given(data=st.binary(max_size=2_000))
def test_rubbish_is_no_archive_and_no_crash(tmp_path_factory: pytest.TempPathFactory, name: str, data: bytes) -> None:
    """Bytes that are no archive are told, or hold nothing."""
    path = tmp_path_factory.mktemp("rubbish") / name
    path.write_bytes(data)

    assert all(isinstance(one, Gap) for one in entries(path))


def test_truncated_archive_is_told(tmp_path: Path) -> None:
    """What can be read of a damaged archive is read, and the damage is a gap."""
    path = tar(tmp_path / "a.tgz", *((member(f"{n}.py"), os.urandom(5_000)) for n in range(5)), mode="w:gz")
    path.write_bytes(path.read_bytes()[:-9_000])

    assert gaps(path)
