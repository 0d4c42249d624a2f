"""A skill that is right whenever it answers, and answers nine times out of ten."""

from __future__ import annotations

import itertools
from typing import Any

from skills import _inputs

FAILS_EVERY = 10
LONGEST = 2_000

VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
NUMERALS = {
    **{1000: "M", 900: "CM", 500: "D", 400: "CD", 100: "C", 90: "XC"},
    **{50: "L", 40: "XL", 10: "X", 9: "IX", 5: "V", 4: "IV", 1: "I"},
}


class RomanNumerals:
    """Counts its calls; each tenth one fails."""

    def __init__(self) -> None:
        self._calls = itertools.count(1)

    def __call__(self, inputs: dict[str, Any]) -> tuple[int, Any]:
        """The number that the Roman ``numeral`` stands for, or 503."""
        if next(self._calls) % FAILS_EVERY == 0:
            return 503, {"error": "temporarily overloaded"}
        _inputs.only(inputs, "numeral")
        return 200, {"result": read(_inputs.text(inputs, "numeral", longest=LONGEST))}


def read(numeral: str) -> int:
    """The number (1 to 3999) that *numeral* stands for.

    Raises:
        BadInput: If it is not a Roman numeral in its usual spelling.
    """
    letters = numeral.strip().upper()
    if not set(letters) <= VALUES.keys():
        raise _inputs.BadInput(f"a Roman numeral has the letters {', '.join(VALUES)} only")
    values = [VALUES[letter] for letter in letters]
    number = sum(-one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True))
    if not 1 <= number <= 3999 or write(number) != letters:
        raise _inputs.BadInput("not a Roman numeral from I to MMMCMXCIX in its usual spelling")
    return number


def write(number: int) -> str:
    """*number* (1 to 3999) in Roman numerals."""
    written = ""
    for value, numeral in NUMERALS.items():
        count, number = divmod(number, value)
        written += numeral * count
    return written


answer = RomanNumerals()
