"""Plausible values for inputs of which a manifest says little more than the type."""

from __future__ import annotations

import math
import re
from typing import Any

MAX_FILL = 4_096  # characters that we make up to reach a declared minimum
WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

FORMATS = {
    "date": "2024-05-17",
    "date-time": "2024-05-17T09:30:00Z",
    "time": "09:30:00Z",
    "duration": "PT15M",
    "email": "ada@example.com",
    "hostname": "www.example.com",
    "ipv4": "192.0.2.10",
    "ipv6": "2001:db8::10",
    "uri": "https://www.example.com/",
    "url": "https://www.example.com/",
    "uuid": "3d2c6a1e-8f4b-4c0d-9a57-1b2e3f405162",
    "json-pointer": "/a",
    "regex": "[a-z]+",
}
# The first word of a name that is listed decides.
NAMES = {
    "url": FORMATS["uri"], "uri": FORMATS["uri"], "link": FORMATS["uri"], "website": FORMATS["uri"],
    "email": FORMATS["email"], "mail": FORMATS["email"], "host": FORMATS["hostname"], "domain": FORMATS["hostname"],
    "date": FORMATS["date"], "day": FORMATS["date"], "time": FORMATS["time"], "timestamp": FORMATS["date-time"],
    "uuid": FORMATS["uuid"], "expression": "2 + 3", "formula": "2 + 3", "equation": "x + 2 = 5", "code": "print(2 + 3)",
    "language": "en", "lang": "en", "locale": "en", "country": "PT", "city": "Lisbon", "location": "Lisbon",
    "currency": "EUR", "timezone": "UTC", "path": "notes.txt", "file": "notes.txt", "filename": "notes.txt",
    "id": "item-1", "name": "Ada", "title": "Opening hours", "query": "opening hours of the museum",
    "question": "When does the museum open?", "prompt": "When does the museum open?", "json": "{}",
    "message": "When does the museum open?", "keyword": "museum",
}  # fmt: skip
TEXT = "The museum opens at nine on weekdays."
# Tried in turn where the first guess is not valid: most declared patterns are of one of these kinds.
TEXTS = ("museum", "Museum", "MUSEUM", "en", "EN", "EUR", "a", "A", "1", "12", "2024", "123456", "abc123", "item-1",
         "a-b", "a_b", "1.0.0", "12:30", "#336699", "+351123456789", "1,2", "yes", *FORMATS.values())  # fmt: skip


def text(name: str, schema: dict[str, Any]) -> str:
    """A text for the member *name*, within the lengths of *schema*; its format decides, then the name."""
    words = [word.lower() for word in WORDS.findall(name)]
    guess = FORMATS.get(str(schema.get("format"))) or next((NAMES[word] for word in words if word in NAMES), TEXT)
    least, most = schema.get("minLength", 0), schema.get("maxLength", math.inf)
    if len(guess) < least <= MAX_FILL:
        guess = (guess + " ") * (int(least) // (len(guess) + 1) + 1)
        guess = guess[: int(least)].rstrip().ljust(int(least), ".")
    return guess if len(guess) <= most else guess[: int(most)]


def number(schema: dict[str, Any], *, whole: bool) -> float:
    """A number within the limits of *schema*, if a simple one is."""
    try:
        return _number(schema, whole=whole)
    except OverflowError:  # limits at the edge of what a double holds
        return 3


def _number(schema: dict[str, Any], *, whole: bool) -> float:
    step = schema.get("multipleOf", 1 if whole else None)
    low, high = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    above, below = schema.get("exclusiveMinimum", -math.inf), schema.get("exclusiveMaximum", math.inf)
    if isinstance(above, bool) or isinstance(below, bool):  # draft 4 spells them as flags
        above, below = (low if above is True else -math.inf), (high if below is True else math.inf)
    guesses: list[float] = [3, 2.5, 5, 1, 0, 0.5, low, high, step or 1]
    guesses += [edge + by for edge in (low, above) for by in (step or 1, 0.5)]
    guesses += [edge - by for edge in (high, below) for by in (step or 1, 0.5)]
    if math.isfinite(low) and math.isfinite(high):
        guesses.append((low + high) / 2)
    if math.isfinite(above) and math.isfinite(below):
        guesses.append((above + below) / 2)
    if step and math.isfinite(floor := max(low, above)) and math.isfinite(floor / step):
        guesses += [math.ceil(floor / step) * step, (math.floor(floor / step) + 1) * step]
    for guess in guesses:
        if whole and math.isfinite(guess) and guess == int(guess):
            guess = int(guess)
        fits = math.isfinite(guess) and low <= guess <= high and above < guess < below
        if fits and not (whole and not isinstance(guess, int)) and not (step and guess % step):
            return guess
    return 3
