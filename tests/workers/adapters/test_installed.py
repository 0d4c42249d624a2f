from __future__ import annotations

import json
from pathlib import Path

import pytest

from workers.adapters._installed import located
from workers.faults import BadJob
from workers.sandbox.program import Program


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation with one package of each kind, and nothing else on the PATH."""
    package = tmp_path / "lib" / "node_modules" / "@example" / "weather"
    info = tmp_path / "lib" / "python3.11" / "site-packages" / "Weather_Server-2.0.0.dist-info"
    for folder in (package / "dist", info, tmp_path / "bin"):
        folder.mkdir(parents=True)
    (package / "package.json").write_text(json.dumps({"version": "1.2.0"}))
    (package / "dist" / "index.js").write_text("")
    (tmp_path / "bin" / "mcp-weather").symlink_to(package / "dist" / "index.js")
    script = tmp_path / "bin" / "weather-server"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path


@pytest.mark.parametrize(
    ("named", "program"),
    [
        ("npm:@example/weather@1.2.0", "mcp-weather"),
        ("npm:@example/weather", "mcp-weather"),
        ("pypi:weather-server@2.0.0", "weather-server"),
        ("pypi:weather-server", "weather-server"),
    ],
)
def test_a_package_is_the_program_installed_from_it(prefix: Path, named: str, program: str) -> None:
    """Its arguments stay."""
    found = located(Program(argv=(named, "--unit", "metric"), folder="/"))

    assert found.argv == (str(prefix / "bin" / program), "--unit", "metric")


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("npm:@example/weather@1.3.0", "installed as 1.2.0, the manifest names 1.3.0"),
        ("npm:weather", "not installed here"),
        ("pypi:weather-server@2.1", "installed as 2.0.0"),
        ("pypi:elsewhere@1", "not installed here"),
    ],
)
def test_what_is_not_installed_is_not_started(prefix: Path, named: str, said: str) -> None:
    """Nor is another version: the certificate would be another program's. It is no fault of the skill's."""
    with pytest.raises(BadJob, match=said):
        located(Program(argv=(named,), folder="/"))


def test_another_command_stays_as_it_is(prefix: Path) -> None:
    """Only packages are looked for."""
    program = Program(argv=("python3", "npm:x"), folder="/")

    assert located(program) is program
