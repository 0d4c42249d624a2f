"""A skill that claims success and answers garbage: by turns a sign-in page and JSON that breaks off."""

from __future__ import annotations

import itertools
from typing import Any

from skills import _inputs

GARBAGE = (
    b"<!doctype html><html><head><title>Sign in</title></head><body>Your session has expired.</body></html>",
    b'{"city": "Lisbon", "temperature_c": 2',
)


class Weather:
    """Takes a city, gives no weather."""

    def __init__(self) -> None:
        self._calls = itertools.count()

    def __call__(self, inputs: dict[str, Any]) -> tuple[int, bytes]:
        """200, and a body that is no JSON."""
        _inputs.only(inputs, "city")
        _inputs.text(inputs, "city", longest=200)
        return 200, GARBAGE[next(self._calls) % len(GARBAGE)]


answer = Weather()
