"""What a file of a source is, by its name: code that ships, or tests, what others wrote, documentation.

Code that is not shipped counts as soon as shipped code imports it, whatever its folder is called.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import PurePosixPath

from coordinator.source import javascript, python

PARSED = (*python.SUFFIXES, *javascript.SUFFIXES)
TESTS = frozenset({"test", "tests", "__tests__", "__mocks__", "spec", "specs", "testing", "fixtures", "testdata",
                   "benchmarks", "e2e", "cypress", "mocks"})  # fmt: skip
FOREIGN = frozenset({"node_modules", "site-packages", "dist-packages", "bower_components", "vendor", "third_party",
                     "_vendor", "vendored"})  # fmt: skip
DOCUMENTS = frozenset({"doc", "docs", "documentation", "example", "examples", "samples", "demo", "demos"})
LEFT_OUT = frozenset({".git", ".hg", ".svn", ".venv", "venv", ".tox", ".nox", ".mypy_cache", ".pytest_cache",
                      ".ruff_cache", "__pycache__", ".idea", ".vscode", ".github", ".gitlab", ".eggs"})  # fmt: skip
SINGLE_TESTS = frozenset({"conftest.py", "noxfile.py", "jest.config.js", "vitest.config.ts"})
MANIFESTS = frozenset({"sxm-manifest.json", "skillmark.json", "skill.json", "server.json", "agent-card.json",
                       "adapter.config.json", "skill.md"})  # fmt: skip
OPAQUE = {
    ".go": "Go", ".rs": "Rust", ".rb": "Ruby", ".php": "PHP", ".java": "Java", ".kt": "Kotlin", ".cs": "C#",
    ".c": "C", ".cc": "C++", ".cpp": "C++", ".swift": "Swift", ".pl": "Perl", ".lua": "Lua", ".r": "R",
    ".sh": "a shell script", ".bash": "a shell script", ".zsh": "a shell script", ".ps1": "PowerShell",
    ".bat": "a batch file", ".cmd": "a batch file", ".pyc": "compiled Python", ".pyd": "machine code",
    ".so": "machine code", ".dll": "machine code", ".dylib": "machine code", ".exe": "machine code",
    ".node": "machine code", ".wasm": "WebAssembly", ".jar": "compiled Java", ".class": "compiled Java",
    ".ipynb": "a notebook", ".vue": "Vue", ".svelte": "Svelte", ".pyx": "Cython", ".scala": "Scala",
}  # fmt: skip


class Role(StrEnum):
    """What a file is for."""

    SHIPPED = "shipped"
    TEST = "test"
    FOREIGN = "foreign"
    DOCUMENT = "document"


def role(name: str) -> Role:
    """The role of the file *name* (its path inside the source)."""
    path = PurePosixPath(name)
    folders = {part.lower() for part in path.parts[:-1]}
    file = path.name.lower()
    if folders & FOREIGN:
        return Role.FOREIGN
    stem = file.partition(".")[0]
    spec = any(part in ("test", "spec") for part in file.split(".")[1:-1])
    if folders & TESTS or file in SINGLE_TESTS or stem.startswith("test_") or stem.endswith("_test") or spec:
        return Role.TEST
    if folders & DOCUMENTS or path.suffix.lower() in (".md", ".rst", ".adoc"):
        return Role.DOCUMENT
    return Role.SHIPPED


def parsed(name: str) -> str:
    """The suffix of *name* where it is a language that is parsed, else nothing; declarations without code are not."""
    suffix = PurePosixPath(name).suffix.lower()
    return suffix if suffix in PARSED and not name.endswith((".d.ts", ".d.mts", ".pyi")) else ""


def opaque(name: str) -> str:
    """What the file *name* is, where it holds code that is not parsed; else nothing."""
    return OPAQUE.get(PurePosixPath(name).suffix.lower(), "")


def shipped_opaque(name: str) -> bool:
    """Whether the file *name* ships with the skill and holds code that is not parsed."""
    left_out = any(part in LEFT_OUT for part in PurePosixPath(name).parts[:-1])
    return bool(opaque(name)) and role(name) is Role.SHIPPED and not left_out
