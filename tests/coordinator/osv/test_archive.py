from __future__ import annotations

import os
from pathlib import Path

import pytest

from coordinator.catalog.rejection import Rejected
from coordinator.osv import archive
from coordinator.osv.archive import documents
from tests.coordinator.osv.dumps import tar_bytes, zip_bytes

FILES = {"b.json": b"{}", "a/c.yaml": b"x: 1", "a/readme.md": b"no", ".github/w.yml": b"hidden: 1"}


@pytest.fixture(params=["zip", "tar.gz", "folder"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / f"dump.{request.param}"
    if request.param == "folder":
        for name, data in FILES.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(data)
    else:
        path.write_bytes((zip_bytes if request.param == "zip" else tar_bytes)(FILES))
    return path


def test_documents_are_read_from_all_that_holds_them(source: Path) -> None:
    """JSON and YAML out of a zip, a tar or a folder; other and hidden files are left alone."""
    found = {Path(name).name: data for name, data in documents(source)}

    assert found == {"b.json": b"{}", "c.yaml": b"x: 1"}


@pytest.mark.parametrize("name", ["../evil.json", "/etc/evil.json", "a/../../evil.json", "..\\evil.json"])
@pytest.mark.parametrize("packed", [zip_bytes, tar_bytes])
def test_an_archive_that_would_escape_is_refused(tmp_path: Path, name: str, packed: object) -> None:
    """Nothing is unpacked, so nothing could escape; but whoever made it is not to be believed."""
    path = tmp_path / "dump"
    path.write_bytes(packed({name: b"{}"}))  # type: ignore[operator]

    with pytest.raises(Rejected, match="names inside the archive"):
        list(documents(path))


def test_links_lead_nowhere(tmp_path: Path) -> None:
    """Neither those of a tar nor those of a folder are followed."""
    secret = tmp_path / "secret.json"
    secret.write_text("{}")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "link.json").symlink_to(secret)
    packed = tmp_path / "dump.tar.gz"
    packed.write_bytes(tar_bytes({"a.json": b"{}"}, links={"link.json": str(secret)}))

    assert list(documents(tmp_path / "folder")) == []
    assert [name for name, _ in documents(packed)] == ["a.json"]


@pytest.mark.parametrize("packed", [zip_bytes, tar_bytes])
def test_a_bomb_is_not_unpacked(tmp_path: Path, packed: object) -> None:
    """A document that grows beyond its bound is refused when the bound is reached."""
    path = tmp_path / "dump"
    path.write_bytes(packed({"bomb.json": b" " * (archive.MAX_RECORD_BYTES + 1)}))  # type: ignore[operator]

    with pytest.raises(Rejected, match="documents of at most"):
        list(documents(path))


def test_many_small_documents_are_bounded_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So is the sum of what an archive unpacks to, and the number of its documents."""
    path = tmp_path / "dump"
    path.write_bytes(zip_bytes({f"{number}.json": b"{}" for number in range(20)}))

    for name, most in (("MAX_TOTAL_BYTES", 39), ("MAX_DOCUMENTS", 19)):
        with monkeypatch.context() as patch:
            patch.setattr(archive, name, most)

            with pytest.raises(Rejected, match="at most"):
                list(documents(path))


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04" + b"\0" * 100, b"\x1f\x8b\x08" + b"\xff" * 100])
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    """In one sentence, whatever it is."""
    path = tmp_path / "dump.bin"
    path.write_bytes(content)

    with pytest.raises(Rejected, match="OSV records"):
        list(documents(path))


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """A special file is refused at once."""
    os.mkfifo(tmp_path / "dump")

    with pytest.raises(Rejected, match="a file"):
        list(documents(tmp_path / "dump"))
