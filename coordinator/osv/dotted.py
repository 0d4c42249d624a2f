"""How RubyGems, NuGet, Packagist, Hackage and CRAN order versions: dotted numbers, and words for what comes before.

Sources: https://docs.ruby-lang.org/en/3.3/Gem/Version.html,
https://learn.microsoft.com/nuget/concepts/package-versioning, https://getcomposer.org/doc/articles/versions.md,
https://pvp.haskell.org, https://cran.r-project.org/doc/manuals/R-exts.html
"""

from __future__ import annotations

import re
from itertools import dropwhile

GEM = re.compile(r"\d+(?:\.[0-9A-Za-z]+)*(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?", re.ASCII)
SEGMENT = re.compile(r"\d+|[a-z]+", re.ASCII | re.IGNORECASE)
NUGET = re.compile(r"v?(\d+(?:\.\d+){0,3})(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?", re.ASCII)
COMPOSER = re.compile(
    r"v?(\d+(?:\.\d+){0,3})(?:[._-]?(stable|beta|b|rc|alpha|a|patch|pl|p)((?:[.-]?\d+)*))?([.-]?dev)?(?:\+\S*)?",
    re.ASCII | re.IGNORECASE,
)
STABILITY = {"alpha": 1, "a": 1, "beta": 2, "b": 2, "rc": 3, "stable": 4, "patch": 5, "pl": 5, "p": 5}
NUMBERS = re.compile(r"\d+(?:[.-]\d+)*", re.ASCII)

Part = tuple[int, int, str]
END: Part = (1, 0, "")  # of a version of RubyGems: behind words, before numbers


def gem(text: str) -> tuple[Part, ...] | None:
    """*text* as a version of RubyGems; None where it is none. A word makes it come before the release."""
    if not GEM.fullmatch(text):
        return None
    segments = [_part(one) for one in SEGMENT.findall(text.replace("-", ".pre."))]
    first = next((place for place, (kind, _, _) in enumerate(segments) if kind == 0), len(segments))
    return (*_without_zeros(segments[:first]), *_without_zeros(segments[first:]), END)


def nuget(text: str) -> tuple[tuple[int, ...], tuple[int, tuple[Part, ...]]] | None:
    """*text* as a version of NuGet, with up to four numbers and words that know no case; None where it is none."""
    if (found := NUGET.fullmatch(text)) is None:
        return None
    words = found[2].lower().split(".") if found[2] else ()
    return _four(found[1]), (0 if words else 1, tuple(_below(one) for one in words))


def composer(text: str) -> tuple[tuple[int, ...], int, tuple[int, ...], bool] | None:
    """*text* as a version of Packagist; None for a branch, which has no place."""
    if (found := COMPOSER.fullmatch(text)) is None:
        return None
    at = STABILITY[found[2].lower()] if found[2] else 0 if found[4] else STABILITY["stable"]
    return _four(found[1]), at, tuple(int(one) for one in re.findall(r"\d+", found[3] or "")), not found[4]


def numbers(text: str) -> tuple[int, ...] | None:
    """*text* as a version of Hackage or CRAN, where 1.0 comes before 1.0.0; None where it is none."""
    return tuple(int(one) for one in re.split("[.-]", text)) if NUMBERS.fullmatch(text) else None


def _part(text: str) -> Part:
    return (2, int(text), "") if text.isdigit() else (0, 0, text)


def _below(text: str) -> Part:
    """An identifier of semantic versions: numbers come first."""
    return (0, int(text), "") if text.isdigit() else (1, 0, text)


def _without_zeros(parts: list[Part]) -> list[Part]:
    return list(dropwhile(lambda one: one == (2, 0, ""), reversed(parts)))[::-1]


def _four(text: str) -> tuple[int, ...]:
    found = [int(one) for one in text.split(".")]
    return tuple(found + [0] * (4 - len(found)))
