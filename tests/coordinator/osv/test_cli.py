from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from tests.coordinator.osv.dumps import record, zipped

TODAY = datetime.now(UTC).isoformat(timespec="seconds")


def skillmark(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(folder),
        "PYTHONPATH": str(Path(__file__).parents[3]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return subprocess.run(
        [sys.executable, "-m", "coordinator.cli", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def catalog(folder: Path, *dependencies: str) -> Path:
    """One skill, complete enough to be read."""
    manifest: dict[str, Any] = {
        "name": "Word counter",
        "version": "1.0.0",
        "description": "Counts the words of a text.",
        "platform": "node",
        "inputs": [{"name": "text", "type": "string", "description": "what to count", "example": "a b"}],
        "outputs": [{"name": "words", "type": "integer", "description": "how many"}],
        "dependencies": list(dependencies),
    }
    (folder / "catalog" / "counter").mkdir(parents=True)
    (folder / "catalog" / "counter" / "sxm-manifest.json").write_text(json.dumps(manifest))
    return folder / "catalog"


def examined(folder: Path, *arguments: str) -> dict[str, Any]:
    """What a static run says of the one skill's dependencies, and with which advisories."""
    done = skillmark(folder, "certify", "catalog", "--mode", "static", "--json", *arguments)
    (one,) = json.loads(done.stdout)["results"]
    findings = [finding for finding in one["findings"] if finding["probe"].startswith("dependencies")]
    return {"findings": findings, "stamp": one["stamps"].get("advisories")}


def test_an_operator_imports_looks_and_certifies(tmp_path: Path) -> None:
    """From nothing to a finding: without a database the check is unjudged, with one it says what is wrong."""
    catalog(tmp_path, "left-pad@1.0.0")
    zipped(tmp_path / "all.zip", record("GHSA-1", modified=TODAY, database_specific={"severity": "HIGH"}))
    before = examined(tmp_path)

    imported = skillmark(tmp_path, "osv", "import", "all.zip")
    status = skillmark(tmp_path, "osv", "status", "--json")
    after = examined(tmp_path)

    assert before["stamp"] is None
    assert [one["outcome"] for one in before["findings"]] == ["unjudged"]
    assert "skillmark osv update" in before["findings"][0]["evidence"]
    assert (imported.returncode, status.returncode) == (0, 0)
    assert "1 records taken" in imported.stdout
    told = json.loads(status.stdout)
    assert [(one["ecosystem"], one["records"], one["stale"]) for one in told["ecosystems"]] == [("npm", 1, False)]
    assert after["stamp"] == told["digest"]
    assert [(one["probe"], one["severity"]) for one in after["findings"]] == [("dependencies/vulnerable", "high")]


def test_old_data_are_said_to_be_old(tmp_path: Path) -> None:
    """By the status, with exit code 4, and by the certificate, which does not lean on them."""
    catalog(tmp_path, "left-pad@1.0.0")
    zipped(tmp_path / "all.zip", record("GHSA-1", modified="2024-01-01T00:00:00Z"))
    skillmark(tmp_path, "osv", "import", "all.zip")

    status = skillmark(tmp_path, "osv", "status")

    assert status.returncode == 4
    assert "older than the 30 days that the policy allows" in status.stdout
    assert [one["outcome"] for one in examined(tmp_path)["findings"]] == ["unjudged"]


def test_a_database_without_records_is_told_to_be_empty(tmp_path: Path) -> None:
    """As a download that failed leaves it: not usable, exit code 4, and what brings records."""
    unreachable = skillmark(tmp_path, "osv", "update", "--osv-url", "http://127.0.0.1:1")

    status = skillmark(tmp_path, "osv", "status")

    assert (unreachable.returncode, status.returncode) == (3, 4)
    assert "it holds no record; `skillmark osv update`" in status.stdout


def test_an_update_takes_what_the_server_has(tmp_path: Path, httpserver: HTTPServer) -> None:
    """The URL is a setting; where it cannot be reached the exit code is 3."""
    dump = zipped(tmp_path / "all.zip", record("GHSA-1", modified=TODAY)).read_bytes()
    httpserver.expect_request("/npm/all.zip").respond_with_data(dump)
    where = ("--osv-url", httpserver.url_for("/"), "--osv-database", "here.sqlite")

    done = skillmark(tmp_path, "osv", "update", "--ecosystem", "npm", *where)
    missing = skillmark(tmp_path, "osv", "update", *where)

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "here.sqlite").is_file()
    assert missing.returncode == 3
    assert missing.stderr.startswith("Error: http")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("osv", "status"), 2, "there is no database of advisories"),
        (("osv", "import", "missing.zip"), 2, "missing.zip: expected a file that can be read"),
        (("osv", "import"), 2, "Missing argument"),
    ],
)
def test_mistakes_are_told_in_a_sentence(tmp_path: Path, arguments: tuple[str, ...], code: int, message: str) -> None:
    """With the exit code for bad input, and no traceback."""
    done = skillmark(tmp_path, *arguments)

    assert (done.returncode, message in done.stderr) == (code, True), done.stderr
    assert "Traceback" not in done.stderr


def test_a_refused_record_is_told_and_the_import_is_incomplete(tmp_path: Path) -> None:
    """On stderr, with exit code 4: a database with holes should not look whole."""
    path = tmp_path / "records"
    path.mkdir()
    (path / "good.json").write_text(json.dumps(record("A")))
    (path / "bad.json").write_text('{"id": "B", "modified": 7}')

    done = skillmark(tmp_path, "osv", "import", "records")

    assert done.returncode == 4
    assert "bad.json: expected an OSV record" in done.stderr
