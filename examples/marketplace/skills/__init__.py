"""The skills of the example marketplace, one module each: adding a skill is adding a file.

A module offers ``answer(inputs) -> (status, body)``; it is served as ``/skills/<its name, underscores as hyphens>``.
Modules with a leading underscore are not skills.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

Answer = Callable[[dict[str, Any]], tuple[int, Any]]


def load() -> dict[str, Answer]:
    """Every skill by the name it is served under."""
    return {
        info.name.replace("_", "-"): importlib.import_module(f"{__name__}.{info.name}").answer
        for info in pkgutil.iter_modules(__path__)
        if not info.name.startswith("_")
    }
