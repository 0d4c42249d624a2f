"""Word-for-word overlap of texts, by shingles: linear in their lengths, whatever they hold."""

from __future__ import annotations

from collections.abc import Iterable

from workers.folding import fold

MAX_CHARS = 32_768
KNOWN_RUN = 32


def longest_shared(text: str, other: str, known: Iterable[str], *, at_least: int) -> str:
    """The longest run of *text* (folded) that stands in *other* too, or ``""`` if it is shorter than *at_least*.

    What is *known* already counts as a gap: any run of `KNOWN_RUN` characters that stands in one of those texts.
    """
    mine, theirs = fold(text[:MAX_CHARS]), fold(other[:MAX_CHARS])
    if min(len(mine), len(theirs)) < at_least:
        return ""
    shingles = {theirs[start : start + at_least] for start in range(len(theirs) - at_least + 1)}
    public = _public(mine, known)
    best = (0, 0)
    start = end = 0
    for at in range(len(mine) - at_least + 1):
        if mine[at : at + at_least] not in shingles or public[at + at_least] > public[at]:
            continue
        start = start if at + at_least - 1 == end else at
        end = at + at_least
        best = max(best, (end - start, start))
    length, start = best
    return mine[start : start + length]


def _public(text: str, known: Iterable[str]) -> list[int]:
    """How many characters of *text* are known already, up to each place of it."""
    shingles: set[str] = set()
    for source in known:
        folded = fold(source[:MAX_CHARS])
        shingles.update(folded[start : start + KNOWN_RUN] for start in range(len(folded) - KNOWN_RUN + 1))
    counts = [0]
    known_to = 0
    for at in range(len(text)):
        if text[at : at + KNOWN_RUN] in shingles:
            known_to = at + KNOWN_RUN
        counts.append(counts[-1] + (at < known_to))
    return counts
