"""A slow skill: always right, usually in a tenth of a second, but each fourth look-up goes to a far-away archive."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

from skills import _inputs

NEAR_S = 0.1
FAR_S = 0.8
FAR_EVERY = 4

CAPITALS = {
    "argentina": "Buenos Aires",
    "australia": "Canberra",
    "canada": "Ottawa",
    "egypt": "Cairo",
    "france": "Paris",
    "india": "New Delhi",
    "japan": "Tokyo",
    "kenya": "Nairobi",
    "norway": "Oslo",
    "peru": "Lima",
    "portugal": "Lisbon",
    "south korea": "Seoul",
}


class CapitalFinder:
    """Counts its look-ups; each fourth one is a far one."""

    def __init__(self, sleep: Callable[[float], None] = time.sleep) -> None:
        self._sleep = sleep
        self._calls = itertools.count(1)

    def __call__(self, inputs: dict[str, Any]) -> tuple[int, Any]:
        """The capital of the ``country``."""
        _inputs.only(inputs, "country")
        country = _inputs.text(inputs, "country", longest=2_000)
        self._sleep(NEAR_S if next(self._calls) % FAR_EVERY else FAR_S)
        capital = CAPITALS.get(country.strip().lower())
        if capital is None:
            return 404, {"error": "no such country here"}
        return 200, {"result": capital}


answer = CapitalFinder()
