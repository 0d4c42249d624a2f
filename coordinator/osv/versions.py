"""How each ecosystem orders its versions.

PyPI by PEP 440, npm by semantic versions read loosely as npm does, `SEMVER` ranges by semantic versions everywhere. An
ecosystem without an order here is decided by its records' lists of versions alone. A version is put as its ecosystem
publishes it: somebody's own build of 2.1.0 (``2.1.0+cu118``) is as vulnerable as 2.1.0, and Go calls itself go1.22.1.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from packaging.utils import canonicalize_version
from packaging.version import InvalidVersion, Version

from coordinator.osv.dotted import composer, gem, nuget, numbers
from coordinator.osv.ecosystem import NPM, PYPI
from coordinator.osv.maven import maven

if TYPE_CHECKING:
    from nodesemver import SemVer

MAX_VERSION_CHARS = 256
# What npm reads as a version, and shorter spellings. The library's own recovery reads far more, some of it wrongly.
SEMANTIC = re.compile(
    r"[v=\s]*(?P<major>\d+)(?:\.(?P<minor>\d+)(?:\.(?P<patch>\d+))?)?"
    r"(?:(?(patch)-?|-)(?P<pre>[A-Za-z-][0-9A-Za-z-]*(?:\.[0-9A-Za-z-]+)*|(?<=-)[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?"
    r"(?:\+[0-9A-Za-z.-]+)?",
    re.ASCII,
)


class Ordered(Protocol):
    """A version that knows its place among its like."""

    def __lt__(self, other: Any, /) -> bool:
        """Whether it comes before *other*."""
        ...


Order = Callable[[str], Ordered | None]


class _Semantic:
    """A semantic version; build metadata counts nothing."""

    __slots__ = ("version",)

    def __init__(self, version: SemVer) -> None:
        self.version = version

    def __lt__(self, other: _Semantic) -> bool:
        return bool(self.version.compare(other.version) < 0)


@lru_cache(maxsize=65_536)
def pep440(text: str) -> Version | None:
    """*text* as a version of PyPI, without the local label, which PyPI never has; None where it is none."""
    if len(text) > MAX_VERSION_CHARS:
        return None
    try:
        version = Version(text)
        return Version(version.public) if version.local else version
    except InvalidVersion:
        return None


@lru_cache(maxsize=65_536)
def semantic(text: str) -> _Semantic | None:
    """*text* as a semantic version, missing parts being zero; None where it is none."""
    if len(text) > MAX_VERSION_CHARS:
        return None
    if (found := SEMANTIC.fullmatch(text.strip())) is None:
        return None
    from nodesemver import SemVer  # its patterns are a tenth of every command's start-up

    release = f"{found['major']}.{found['minor'] or 0}.{found['patch'] or 0}"
    pre = f"-{found['pre']}" if found["pre"] else ""
    return _Semantic(SemVer(release + pre, loose=True, include_prerelease=False))


def go(text: str) -> _Semantic | None:
    """*text* as a version of a Go module, or of Go itself."""
    return semantic(text.strip().removeprefix("go"))


def _bounded(order: Order) -> Order:
    return lru_cache(maxsize=65_536)(lambda text: order(text) if len(text) <= MAX_VERSION_CHARS else None)


ORDERS: dict[str, Order] = {
    PYPI: pep440, NPM: semantic, "Go": go, "crates.io": semantic, "Hex": semantic, "Pub": semantic,
    "SwiftURL": semantic, "Maven": _bounded(maven), "RubyGems": _bounded(gem), "NuGet": _bounded(nuget),
    "Packagist": _bounded(composer), "Hackage": _bounded(numbers), "CRAN": _bounded(numbers),
}  # fmt: skip


def order(ecosystem: str, kind: str) -> Order | None:
    """How a range of type *kind* orders the versions of *ecosystem*; None where it cannot be told."""
    known = ORDERS.get(ecosystem)
    if kind == "SEMVER":
        return go if known is go else semantic
    return known if kind == "ECOSYSTEM" else None


@lru_cache(maxsize=65_536)
def normal(ecosystem: str, text: str) -> str:
    """*text* spelt so that equal versions of *ecosystem* are equal texts; what is no version stays as it is."""
    known = ORDERS.get(ecosystem)
    found = known(text) if known else None
    if isinstance(found, Version):
        return canonicalize_version(found)
    return str(found.version.version) if isinstance(found, _Semantic) else text
