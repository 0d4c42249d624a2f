"""A good unit converter, called the eval-skills way: the inputs travel in an envelope, the whole body is the output."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from skills import _inputs

LONGEST = 2_000

MEASURE = re.compile(r"\s*([-+]?\d{1,15}(?:\.\d{1,15})?)\s*([A-Za-z]{1,2})\s*")

# unit: (quantity, factor, offset), so that value x factor + offset is in the quantity's base unit
UNITS: dict[str, tuple[str, Fraction, Fraction]] = {
    unit: (quantity, Fraction(factor), Fraction(offset))
    for unit, quantity, factor, offset in (
        ("mm", "length", "1/1000", "0"),
        ("cm", "length", "1/100", "0"),
        ("m", "length", "1", "0"),
        ("km", "length", "1000", "0"),
        ("in", "length", "0.0254", "0"),
        ("ft", "length", "0.3048", "0"),
        ("mi", "length", "1609.344", "0"),
        ("g", "mass", "1/1000", "0"),
        ("kg", "mass", "1", "0"),
        ("oz", "mass", "0.028349523125", "0"),
        ("lb", "mass", "0.45359237", "0"),
        ("C", "temperature", "1", "273.15"),
        ("F", "temperature", "5/9", "45967/180"),
        ("K", "temperature", "1", "0"),
    )
}


def answer(inputs: dict[str, Any]) -> tuple[int, Any]:
    """The ``measure`` of the envelope's input, such as ``26.2 mi``, in the unit ``to``."""
    _inputs.only(inputs, "skillId", "version", "input")
    if inputs.get("skillId") != "unit-converter":
        raise _inputs.BadInput("'skillId' must be 'unit-converter'")
    arguments = inputs.get("input")
    if not isinstance(arguments, dict):
        raise _inputs.BadInput("'input' must be an object")
    _inputs.only(arguments, "measure", "to")
    measure = MEASURE.fullmatch(_inputs.text(arguments, "measure", longest=LONGEST))
    if measure is None or measure[2] not in UNITS:
        raise _inputs.BadInput(f"'measure' must be a number and one of: {', '.join(sorted(UNITS))}")
    target = _inputs.choice(arguments, "to", UNITS)
    return 200, {"result": convert(Fraction(measure[1]), measure[2], target), "unit": target}


def convert(value: Fraction, source: str, target: str) -> float:
    """*value* in the unit *source*, expressed in *target*; exact until the last step.

    Raises:
        BadInput: If the two units measure different quantities.
    """
    quantity, factor, offset = UNITS[source]
    target_quantity, target_factor, target_offset = UNITS[target]
    if quantity != target_quantity:
        raise _inputs.BadInput(f"cannot convert {quantity} to {target_quantity}")
    return float((value * factor + offset - target_offset) / target_factor)
