"""The import floors of the architecture: upper packages import lower ones only, through their doors."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OURS = ("coordinator", "workers", "payloads", "benchmarks")
DOORS = ("workers.wire", "workers.registry", "workers.faults")
# The embedded fleet and the worker verb start workers in this very process: that is what they are for.
STARTS_WORKERS = {
    "coordinator/embedded.py": ("workers.actors", "workers.metrics"),
    "coordinator/executing.py": ("workers.metrics",),
    "coordinator/cli/worker.py": ("workers.service",),
}


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def within(name: str, places: tuple[str, ...]) -> bool:
    return any(name == place or name.startswith(f"{place}.") for place in places)


def ours(path: Path) -> list[str]:
    return [name for name in imports(path) if name.split(".")[0] in OURS]


@pytest.mark.parametrize("package", ["payloads", "benchmarks"])
def test_corpora_import_nothing_of_ours(package: str) -> None:
    """Attack corpus and benchmarks know only themselves."""
    strays = {(str(path), name) for path in modules(package) for name in ours(path) if not within(name, (package,))}

    assert not strays


def test_workers_never_look_up() -> None:
    """A worker holds no store, no corpus and no catalog."""
    strays = {(str(path), name) for path in modules("workers") for name in ours(path) if not within(name, ("workers",))}

    assert not strays


def test_the_wire_is_the_ground_floor() -> None:
    """The contract imports nothing else of ours."""
    strays = {
        (str(path), name)
        for path in modules("workers/wire")
        for name in ours(path)
        if not within(name, ("workers.wire",))
    }

    assert not strays


def test_the_coordinator_uses_the_doors_only() -> None:
    """Of the workers the coordinator sees the contract, the registry and the faults."""
    strays = set()
    for path in modules("coordinator"):
        place = path.relative_to(ROOT).as_posix()
        allowed = (*DOORS, *STARTS_WORKERS.get(place, ()))
        strays |= {(place, name) for name in ours(path) if within(name, ("workers",)) and not within(name, allowed)}

    assert not strays
