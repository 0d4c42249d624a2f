from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.coordinator.osv.dumps import tar_bytes, zip_bytes
from tests.coordinator.static.lockfiles.sources import told

FILES = {
    "skill-1.0/requirements.txt": b"-r more/base.txt\n-r ../../outside.txt\ntop==1\n",
    "skill-1.0/more/base.txt": b"inner==2\n",
    "skill-1.0/server/package.json": b'{"dependencies": {"left-pad": "1.0.0"}}',
    "skill-1.0/node_modules/x/package.json": b'{"dependencies": {"installed": "1.0.0"}}',
    "skill-1.0/main.py": b"import top",
    "skill-1.0/run.sh": b"true",
}
READ = (["top 1", "inner 2", "left-pad 1.0.0"], ["skill-1.0/requirements.txt:2"])


@pytest.mark.parametrize("name", ["a.zip", "a.whl", "a.tar.gz", "a.tgz"])
def test_an_archive_is_read_as_its_folder_would_be(tmp_path: Path, name: str) -> None:
    """With the files that its requirements name, and none that lie outside of it."""
    made = zip_bytes(FILES) if name.endswith(("zip", "whl")) else tar_bytes(FILES)
    (tmp_path / name).write_bytes(made)
    (tmp_path / "outside.txt").write_text("secret==1")

    assert told(tmp_path / name) == READ


def test_links_and_names_that_lead_out_are_not_followed(tmp_path: Path) -> None:
    """A link in place of a lock file is told; a name that leads out is none (the source check tells it)."""
    (tmp_path / "a.tgz").write_bytes(
        tar_bytes({"../requirements.txt": b"out==1", "x": b""}, links={"in/requirements.txt": "/etc/passwd"})
    )

    assert told(tmp_path / "a.tgz") == ([], ["in/requirements.txt:1"])


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 and no more", zip_bytes(FILES)[:-30]])
def test_a_damaged_archive_is_told(tmp_path: Path, data: bytes) -> None:
    """It is not read as one without dependencies."""
    (tmp_path / "a.zip").write_bytes(data)

    assert told(tmp_path / "a.zip") == ([], ["/source_path"])


@pytest.mark.parametrize(
    ("name", "most", "broken"),
    [
        ("lockfiles._place.MAX_FILE_BYTES", 20, "requirements.txt:1"),
        ("lockfiles._place.MAX_SOURCE_BYTES", 20, "requirements.txt:1"),
    ],
)
def test_large_lock_files_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, most: int, broken: str
) -> None:
    """Each by itself, and all of them together; other large texts are nobody's concern."""
    monkeypatch.setattr(f"coordinator.static.{name}", most)
    (tmp_path / "a.zip").write_bytes(
        zip_bytes({"requirements.txt": b"# " + b"x" * 50, "notes.txt": b"x" * 50, "package.json": b"{}"})
    )

    assert told(tmp_path / "a.zip") == ([], [broken])


def test_of_two_files_of_one_name_the_later_counts(tmp_path: Path) -> None:
    """As when it is unpacked; that there are two is told."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("requirements.txt", "early==1")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("requirements.txt", "late==1")

    assert told(path) == (["late 1"], ["requirements.txt:1"])
