from __future__ import annotations

from pathlib import Path

import pytest

from coordinator.static.lockfiles.pyproject import constraint
from tests.coordinator.static.lockfiles.sources import found

POETRY = """
[[package]]
name = "Jinja2"
version = "2.10"
groups = ["main"]

[[package]]
name = "pytest"
version = "7.0"
groups = ["dev"]

[[package]]
name = "old-dev"
version = "1.0"
category = "dev"

[[package]]
name = "mine"
version = "1.0"
[package.source]
type = "directory"
url = "../mine"

[metadata]
lock-version = "2.1"
"""
UV = """
version = 1
[[package]]
name = "my-skill"
source = { virtual = "." }
dependencies = [{ name = "httpx" }]
optional-dependencies = { cli = [{ name = "click" }] }
[package.dev-dependencies]
dev = [{ name = "pytest" }]

[[package]]
name = "httpx"
version = "0.27.0"
source = { registry = "https://example.com/simple" }
dependencies = [{ name = "h11" }]

[[package]]
name = "h11"
version = "0.14.0"
source = { registry = "https://example.com/simple" }

[[package]]
name = "click"
version = "8.1.0"
source = { registry = "https://example.com/simple" }

[[package]]
name = "pytest"
version = "8.0.0"
source = { registry = "https://example.com/simple" }
"""
PIPFILE = """{"_meta": {}, "default": {"Flask": {"version": "==2.0.1", "markers": "python_version >= '3.6'"},
 "gone": {"version": "==1", "markers": "python_version < '3'"}, "any": {"version": "*"}, "here": {"path": "."},
 "bare": {}}, "develop": {"pytest": {"version": "==7"}}}"""
PYPROJECT = """
[project]
name = "x"
dependencies = ["httpx>=0.27", "Django==4.2"]
optional-dependencies = { dev = ["pytest"] }
[tool.poetry.dependencies]
python = "^3.9"
requests = "^2.28.1"
numpy = { version = "1.26.0", optional = false }
extra = { version = "*", optional = true }
here = { path = "../here" }
[tool.poetry.group.dev.dependencies]
black = "*"
"""


def test_poetry_lock_tells_what_is_installed(tmp_path: Path) -> None:
    """Development groups, old and new, and own folders are left out."""
    assert found(tmp_path, poetry__lock=POETRY) == (["jinja2 2.10"], [])


def test_uv_lock_tells_what_the_project_leads_to(tmp_path: Path) -> None:
    """Extras among it, development dependencies not."""
    assert found(tmp_path, uv__lock=UV) == (["httpx 0.27.0", "h11 0.14.0", "click 8.1.0"], [])


def test_pipfile_lock_tells_the_default_packages(tmp_path: Path) -> None:
    """With their markers; a package without a version stays without one."""
    dependencies, broken = found(tmp_path, Pipfile__lock=PIPFILE)

    assert dependencies == ["flask 2.0.1", "bare"]
    assert broken == ["Pipfile.lock:2"]  # "*" is for Pipfile, a lock fixes versions


def test_pyproject_tells_what_is_needed_to_run(tmp_path: Path) -> None:
    """In both shapes, without extras and groups."""
    assert found(tmp_path, pyproject__toml=PYPROJECT) == (
        ["httpx >=0.27", "django 4.2", "requests <3,>=2.28.1", "numpy 1.26.0"],
        [],
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("^1.2.3", ">=1.2.3,<2"),
        ("^0.2.3", ">=0.2.3,<0.3"),
        ("^0.0.3", ">=0.0.3,<0.0.4"),
        ("^0", ">=0,<1"),
        ("~1.2.3", ">=1.2.3,<1.3"),
        ("~1", ">=1,<2"),
        ("~=1.4", "~=1.4"),
        ("1.2.3", "==1.2.3"),
        ("1.*", "==1.*"),
        (">=1, <2", ">=1,<2"),
        ("*", ""),
        ("^1 || ^2", ""),
    ],
)
def test_constraints_of_poetry_are_said_in_pep_440(text: str, expected: str) -> None:
    """As Poetry's documentation has them."""
    assert constraint(text) == expected


@pytest.mark.parametrize(
    ("name", "content", "at"),
    [
        ("poetry__lock", "[[package]]\nname = \n", "poetry.lock:2"),
        ("poetry__lock", '[[package]]\nname = "a"\n\n[[package]]\nname = "b"\nversion = 2\n', "poetry.lock:6"),
        ("poetry__lock", 'package = "all"\n', "poetry.lock:1"),
        ("uv__lock", '[[package]]\nname = "a"\nversion = 1\n', "uv.lock:3"),
        ("uv__lock", "\n\n[[package\n", "uv.lock:3"),
        ("uv__lock", "a = " + "[" * 100_000, "uv.lock:1"),
        ("Pipfile__lock", '{"default":\n {"a":\n  7}}', "Pipfile.lock:3"),
        ("Pipfile__lock", '{"default": {},\n nothing', "Pipfile.lock:2"),
        ("Pipfile__lock", "[]", "Pipfile.lock:1"),
        ("pyproject__toml", '[project]\nname = "x"\ndependencies = ["???"]\n', "pyproject.toml:3"),
        ("pyproject__toml", "[tool.poetry.dependencies]\na = 7\n", "pyproject.toml:2"),
        ("pyproject__toml", "= 1", "pyproject.toml:1"),
    ],
)
def test_rubbish_is_told_with_file_and_line(tmp_path: Path, name: str, content: str, at: str) -> None:
    """Never a crash, never silence."""
    _, broken = found(tmp_path, **{name: content})

    assert at in broken
