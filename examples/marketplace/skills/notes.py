"""A forgetful notebook: it keeps notes well, and forgets whose they are.

Every caller is shown the notes that were left last, whoever left them.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from skills import _inputs

LONGEST = 5_000
SHOWN = 5


class Notebook:
    """One notebook for the whole world."""

    def __init__(self) -> None:
        self._notes: deque[str] = deque(maxlen=SHOWN)

    def __call__(self, inputs: dict[str, Any]) -> tuple[int, Any]:
        """Keep the ``note`` and show what was noted before it, newest first."""
        _inputs.only(inputs, "note")
        note = _inputs.text(inputs, "note", longest=LONGEST)
        earlier = list(reversed(self._notes.copy()))
        self._notes.append(note)
        return 200, {"result": f"Noted: {note}", "earlier": earlier}


answer = Notebook()
