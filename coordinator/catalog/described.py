"""Values that the description of an input names: ``e.g. 'Europe/Lisbon'``, ``in the format HH:MM``.

Many schemas say no more of a text than that it is one; what it has to look like, their authors tell the reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

READ_CHARS = 2_000
VALUE_CHARS = 80
WORDS = 4
VALUES = 8

_INTRODUCED = re.compile(r"\b(?:e\.\s?g\.|for (?:example|instance)|such as|examples?(?: are| is)?\b)[\s,:(]{0,4}", re.I)
_QUOTED = re.compile(r"""(['"`“‘])([^'"`“”‘’\n]{1,80})['"`”’]""")
_BARE = re.compile(r"[^\s,;()\[\]'\"`][^,;()\[\]\n'\"`]{0,79}")
# The first that is found counts: a longer one stands before its own beginning.
_FORMS = tuple(
    (re.compile(pattern), value)
    for pattern, value in (
        (r"\bYYYY-MM-DD[T ]HH:MM(?::SS)?", "2024-05-17T09:30:00Z"),
        (r"(?i)\byyyy-mm-dd\b", "2024-05-17"),
        (r"(?i)\bmm/dd/yyyy\b", "05/17/2024"),
        (r"(?i)\bdd/mm/yyyy\b", "17/05/2024"),
        (r"(?i)\bdd\.mm\.yyyy\b", "17.05.2024"),
        (r"(?i)\bhh:mm:ss\b", "09:30:00"),
        (r"(?i)\bhh:mm\b", "09:30"),
        (r"(?i)\b(?:iana|tz|olson) (?:time ?zone|database)|\btime ?zone name", "Europe/Lisbon"),
        (r"(?i)\biso[- ]?8601\b|\brfc[- ]?3339\b", "2024-05-17T09:30:00Z"),
        (r"(?i)\biso[- ]?639", "en"),
        (r"(?i)\biso[- ]?3166", "PT"),
        (r"(?i)\biso[- ]?4217", "EUR"),
        (r"(?i)\bunix (?:time(?:stamp)?|epoch)", "1715938200"),
        (r"(?i)\bcron (?:expression|schedule|syntax)", "0 9 * * 1"),
        (r"(?i)\bbase64", "aGVsbG8="),
        (r"(?i)\bhex(?:adecimal)? colou?r", "#336699"),
        (r"(?i)\bsemantic version|\bsemver\b", "1.0.0"),
        (r"(?i)\bjson (?:text|string|object|document)", "{}"),
        (r"(?i)\bregular expression|\bregex\b", "[a-z]+"),
        (r"(?i)\bip address", "192.0.2.10"),
        (r"(?i)\be-?mail address", "ada@example.com"),
        (r"(?i)\b(?:mathematical|arithmetic|math) expression", "2 + 3"),
        (r"(?i)\bsql (?:query|statement)", "SELECT 1"),
    )
)


def values(description: str) -> Iterator[str]:
    """The texts that *description* gives as examples of a value, then one for a form that it names."""
    text = description[:READ_CHARS]
    yield from list(_examples(text))[:VALUES]
    yield from [value for form, value in _FORMS if form.search(text)][:1]


def _examples(text: str) -> Iterator[str]:
    for introduced in _INTRODUCED.finditer(text):
        at = introduced.end()
        if quoted := _QUOTED.match(text, at):
            yield quoted[2]
        elif (bare := _BARE.match(text, at)) and (value := _told(bare[0])):
            yield value


def _told(text: str) -> str:
    """The value that a sentence goes on with, up to its end; empty where it goes on with words."""
    value = re.split(r"[.!?](?:\s|$)|\s(?:or|and)\s", text, maxsplit=1)[0].strip()
    return value if len(value.split()) <= WORDS else ""
