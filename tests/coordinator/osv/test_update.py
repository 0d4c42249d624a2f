from __future__ import annotations

import socket
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from coordinator.osv import update as updating
from coordinator.osv.advisories import AdvisoriesError
from coordinator.osv.ecosystem import package
from coordinator.osv.update import Unreachable, update
from tests.coordinator.osv.dumps import database, record, zip_bytes, zipped


def test_the_dumps_of_all_ecosystems_are_taken(tmp_path: Path, httpserver: HTTPServer) -> None:
    """From <base>/<ecosystem>/all.zip, the name escaped as a path segment."""
    for number, ecosystem in enumerate(("npm", "crates.io", "GitHub Actions")):
        dump = zipped(tmp_path / f"{number}.zip", record(f"R{number}", "x", ecosystem))
        httpserver.expect_request(f"/{ecosystem}/all.zip").respond_with_data(dump.read_bytes())
    found = database(tmp_path)

    done = update(found, httpserver.url_for("/"), ["npm", "crates.io", "GitHub Actions"])

    assert done.taken == 3
    assert [one.ids for one in found.of(package("GitHub Actions", "x"))] == [("R2",)]


def test_what_is_missing_is_unreachable_and_nothing_is_changed(tmp_path: Path, httpserver: HTTPServer) -> None:
    """All ecosystems or none."""
    httpserver.expect_request("/npm/all.zip").respond_with_data(zipped(tmp_path / "d.zip", record("R")).read_bytes())
    found = database(tmp_path)

    with pytest.raises(Unreachable, match=r"/Nix/all\.zip: expected a dump of OSV records, found HTTP 500"):
        update(found, httpserver.url_for("/"), ["npm", "Nix"])

    assert found.freshness() == []


def test_no_server_is_told_with_what_to_do(tmp_path: Path) -> None:
    """A machine without network can import a file."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]

        with pytest.raises(Unreachable, match="osv import FILE"):
            update(database(tmp_path), f"http://127.0.0.1:{port}", ["npm"])


@pytest.mark.parametrize("body", [b"<html>log in</html>", zip_bytes({"a.txt": b"x"}), zip_bytes({"../a.json": b"{}"})])
def test_what_is_no_dump_is_refused(tmp_path: Path, httpserver: HTTPServer, body: bytes) -> None:
    """A captive portal answers 200 as well."""
    httpserver.expect_request("/npm/all.zip").respond_with_data(body)

    with pytest.raises(AdvisoriesError, match=r"http://.*/npm/all\.zip: expected"):
        update(database(tmp_path), httpserver.url_for("/"), ["npm"])


def test_a_dump_without_end_is_cut(tmp_path: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The download is bounded, whatever the server says of its length."""
    monkeypatch.setattr(updating, "MAX_DOWNLOAD_BYTES", 1 << 20)
    httpserver.expect_request("/npm/all.zip").respond_with_handler(
        lambda _: Response(b"x" * 65_536 for _ in range(1_000))
    )

    with pytest.raises(Unreachable, match="at most"):
        update(database(tmp_path), httpserver.url_for("/"), ["npm"])
