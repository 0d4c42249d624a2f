"""Whether a *range* of versions is affected: all of them, none, or some, which leaves unknown which one is used.

The boundaries of the range and those of an advisory cut the line of versions into pieces, and within a piece all
versions are alike. So one version of each piece is tried: the boundaries themselves, the release right behind each, one
before all and one behind all; and the versions that the advisory lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from coordinator.osv.advisory import Advisory
from coordinator.osv.affected import NO_LIMIT, Status, status
from coordinator.osv.ecosystem import NPM, PYPI
from coordinator.osv.versions import MAX_VERSION_CHARS, pep440, semantic

MAX_RANGE_CHARS = 1_000
MAX_TRIED = 5_000

Allows = Callable[[str], bool]


def reach(advisory: Advisory, ecosystem: str, allowed: str) -> Status:
    """What *advisory*, on a package of *ecosystem*, says of the versions in the range *allowed*; empty for any.

    Affected if every version is, unaffected if none is, else unknown: so too where a version or the range itself
    cannot be read.
    """
    read = _read(ecosystem, allowed)
    if read is None:
        return Status.UNKNOWN
    allows, boundaries = read
    found: set[Status] = set()
    for number, version in enumerate(_tried(ecosystem, boundaries, advisory)):
        if number >= MAX_TRIED:
            return Status.UNKNOWN
        if not allows(version):
            continue
        found.add(status(ecosystem, version, versions=advisory.versions, ranges=advisory.ranges))
        if len(found) > 1 or Status.UNKNOWN in found:
            return Status.UNKNOWN
    # Not one version fits: the range excludes itself, or lies between two that were tried.
    return found.pop() if found else Status.UNKNOWN


def _read(ecosystem: str, allowed: str) -> tuple[Allows, list[str]] | None:
    """Which versions *allowed* lets in, and its boundaries."""
    if len(allowed) > MAX_RANGE_CHARS:
        return None
    if not allowed.strip() or allowed.strip() in ("*", "latest"):
        return (lambda version: True), []
    if ecosystem == PYPI:
        return _pep440(allowed)
    return _npm(allowed) if ecosystem == NPM else None


def _pep440(allowed: str) -> tuple[Allows, list[str]] | None:
    try:
        wanted = SpecifierSet(allowed)
    except InvalidSpecifier:
        return None
    boundaries = []
    for one in wanted:
        release = one.version.removesuffix(".*")
        boundaries.append(release)
        if one.operator == "~=" or one.version.endswith(".*"):
            boundaries.append(_above(release.split(".")[: -1 if one.operator == "~=" else None]))
    return (lambda version: wanted.contains(version, prereleases=True)), boundaries


def _npm(allowed: str) -> tuple[Allows, list[str]] | None:
    from nodesemver import make_range, satisfies  # as in `versions.semantic`

    try:
        wanted = make_range(allowed, loose=True)
        boundaries = [str(one.semver) for group in wanted.set for one in group if hasattr(one.semver, "version")]
    except (ValueError, AttributeError, TypeError, IndexError):
        return None
    return (lambda version: bool(satisfies(version, wanted, loose=True))), boundaries


def _above(parts: list[str]) -> str:
    numbers = [int(part) if part.isdigit() else 0 for part in parts] or [0]
    return ".".join(map(str, [*numbers[:-1], numbers[-1] + 1]))


def _tried(ecosystem: str, boundaries: Iterable[str], advisory: Advisory) -> Iterator[str]:
    seen: set[str] = set()
    events = [
        text
        for one in advisory.ranges
        if one.type != "GIT"
        for event in one.events
        for text in (event.introduced, event.fixed, event.last_affected, event.limit)
        if text is not None and NO_LIMIT not in text
    ]
    behind = _behind_pypi if ecosystem == PYPI else _behind_semver
    first, last = ("0", "9999999999") if ecosystem == PYPI else ("0.0.0", "9999999999.0.0")
    for text in (first, last, *boundaries, *events):
        for version in behind(text):
            if version not in seen:
                seen.add(version)
                yield version
    yield from (version for version in advisory.versions if version not in seen)


def _behind_pypi(text: str) -> Iterator[str]:
    """*text*, the final release that it leads to, and the version right behind that."""
    yield text
    if (version := pep440(text)) is not None:
        epoch = f"{version.epoch}!" if version.epoch else ""
        release = version.release
        yield f"{epoch}{version.base_version.rpartition('!')[2]}"
        yield f"{epoch}{'.'.join(map(str, (*release, *[0] * (6 - len(release)), 1)))}"


def _behind_semver(text: str) -> Iterator[str]:
    """*text*, its release, and the patch behind that."""
    if len(text) <= MAX_VERSION_CHARS and (found := semantic(text)) is not None:
        version = found.version
        yield version.version
        yield f"{version.major}.{version.minor}.{version.patch}"
        yield f"{version.major}.{version.minor}.{version.patch + 1}"
    else:
        yield text
