"""Catalogs and a benchmark to measure with: skills that add two numbers, tasks that ask them to."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

TASKS = 20
INPUT, SUM = {"a": 3, "b": 4}, 7


def write_catalog(path: Path, ports: Sequence[int], skills: int) -> Path:
    """*skills* manifests, one a line, their endpoints on *ports* in turn."""
    with path.open("w") as file:
        for number in range(skills):
            manifest = {
                "name": f"adder {number}",
                "version": "1.0.0",
                "description": "Adds two whole numbers.",
                "inputs": [
                    {"name": name, "type": "integer", "required": True, "description": "a summand", "example": example}
                    for name, example in INPUT.items()
                ],
                "outputs": [{"name": "result", "type": "integer", "description": "the sum"}],
                "test_endpoint": f"http://127.0.0.1:{ports[number % len(ports)]}/{number}",
            }
            file.write(json.dumps(manifest) + "\n")
    return path


def write_benchmark(path: Path, tasks: int = TASKS) -> Path:
    """A benchmark of so many *tasks*, each with an answer that must be exact."""
    benchmark = {
        "id": "sums",
        "name": "Sums",
        "version": "1.0.0",
        "domain": "maths",
        "scoringMethod": "mean",
        "tasks": [
            {
                "id": f"sum-{number}",
                "description": "Add two numbers.",
                "inputData": INPUT,
                "evaluator": "exact",
                "expectedOutput": {"type": "exact", "value": SUM},
            }
            for number in range(tasks)
        ],
    }
    path.write_text(json.dumps(benchmark))
    return path
