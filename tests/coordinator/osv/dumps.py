"""OSV records and dumps for tests."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from pathlib import Path
from typing import Any

from coordinator.osv.advisories import Advisories
from coordinator.osv.importing import import_paths


def record(name: str, package: str = "left-pad", ecosystem: str = "npm", **more: Any) -> dict[str, Any]:
    """A record of which every version is affected, unless *more* says otherwise."""
    affected: dict[str, Any] = {
        "package": {"ecosystem": ecosystem, "name": package},
        "ranges": [{"type": "ECOSYSTEM", "events": more.pop("events", [{"introduced": "0"}])}],
    }
    if "versions" in more:
        affected["versions"] = more.pop("versions")
    return {"id": name, "modified": "2026-01-02T03:04:05Z", "affected": [affected], "summary": f"about {name}", **more}


def zipped(path: Path, *records: dict[str, Any]) -> Path:
    """A dump as osv.dev publishes it, at *path*."""
    path.write_bytes(zip_bytes({f"{one['id']}.json": json.dumps(one).encode() for one in records}))
    return path


def zip_bytes(files: dict[str, bytes]) -> bytes:
    """A zip of *files*."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return made.getvalue()


def tar_bytes(files: dict[str, bytes], *, links: dict[str, str] | None = None) -> bytes:
    """A tar.gz of *files*, and of symbolic *links*."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
        for name, target in (links or {}).items():
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            archive.addfile(entry)
    return made.getvalue()


def database(folder: Path, *records: dict[str, Any]) -> Advisories:
    """A database that holds *records*."""
    advisories = Advisories.open(folder / "osv.sqlite", create=True)
    if records:
        import_paths(advisories, [zipped(folder / "all.zip", *records)])
    return advisories
