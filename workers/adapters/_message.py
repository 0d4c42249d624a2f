"""The inputs of a call as one text, for skills that are talked to.

A single text is the message itself. Otherwise each input is a line ``name: value``, in the order given; what is no text
is written as JSON. Not one JSON object: an assistant reads lines as its users would write them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workers.adapters._target import json_body


def message(inputs: Mapping[str, Any]) -> str:
    """The text that carries *inputs*.

    Raises:
        BadJob: If a value cannot be written as JSON.
    """
    if len(inputs) == 1:
        (only,) = inputs.values()
        if isinstance(only, str):
            return only
    return "\n".join(f"{name}: {_text(value)}" for name, value in inputs.items())


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json_body(value).decode()
