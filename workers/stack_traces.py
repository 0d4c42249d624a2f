"""Stack traces in what a skill says: they tell strangers where its files lie and what it is made of."""

from __future__ import annotations

from functools import cache
from typing import Any

import re2

# Each needs the place in a file: words such as "Traceback" alone may be quoted by an honest answer.
PATTERNS = (
    r'File \\?"[^"\n\\]{1,300}\\?", line [0-9]+',  # Python, also inside a JSON text
    r"\bat [^\n\"(]{0,200}\((?:file://)?(?:[A-Za-z]:)?[/\\][^\n\"():]{1,300}:[0-9]+:[0-9]+\)",  # JavaScript
    r"\bat (?:file://)?/[^\s\"():]{1,300}\.[cm]?[jt]s:[0-9]+:[0-9]+",
    r"\bat [\w.$]{1,200}[.][\w$<>]{1,100}\([\w$]{1,100}\.(?:java|kt|scala):[0-9]+\)",  # JVM
    r"\bat [\w.`<>\[\], ()]{1,300} in [^\n\"]{1,300}:line [0-9]+",  # .NET
    r"#[0-9]+ (?:[A-Za-z]:)?[/\\][^\n\"()]{1,300}\([0-9]+\)",  # PHP
    r"/[^\s\":]{1,300}\.rb:[0-9]+:in ",  # Ruby
    r"goroutine [0-9]+ \[[a-z ]{1,40}\]:",  # Go
)
SEARCHED_CHARS = 1 << 18
SHOWN_CHARS = 200


def stack_trace(text: str) -> str | None:
    """The first line of a stack trace in *text*, cut at `SHOWN_CHARS`; None if there is none."""
    match = _patterns().search(text[:SEARCHED_CHARS])
    return None if match is None else " ".join(match[0].split())[:SHOWN_CHARS]


@cache
def _patterns() -> Any:
    # Not at import: it takes 10 ms, and most processes never look.
    return re2.compile("|".join(f"(?:{pattern})" for pattern in PATTERNS))
