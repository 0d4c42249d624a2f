"""What a skill depends on, in the words of whoever states it: a manifest's line, or an entry of a lock file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

from msgspec import Struct
from packageurl import PackageURL
from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement

from coordinator.osv.ecosystem import MAX_NAME_CHARS, NPM, OF_PURL, PYPI, Package, package

MAX_STATED_CHARS = 2_000
PYTHONS = tuple(f"3.{minor}" for minor in range(8, 16))
PLATFORMS = (("posix", "linux", "Linux"), ("posix", "darwin", "Darwin"), ("nt", "win32", "Windows"))
PREFIXES = {"pypi": PYPI, "pip": PYPI, "npm": NPM}
NPM_NAME = re.compile(r"(?:@[a-z0-9~._-]+/)?[a-z0-9~._-]+", re.ASCII | re.IGNORECASE)
PYPI_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?", re.ASCII | re.IGNORECASE)
NPM_VERSION = re.compile(r"[v=]?\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?", re.ASCII)
AT_VERSION = re.compile(r"(@?[^@\s]+)@([^@\s]+)")


class Dependency(Struct, frozen=True, kw_only=True):
    """One dependency, stated *at* a place.

    *package* is None where it cannot be told which it is, and *doubt* says why. *version* is the one version that is
    used; where none is fixed, *allowed* is the range in the ecosystem's own words, empty for any. A *constraint* asks
    for nothing: it only fixes the version of what something else asks for.
    """

    at: str
    stated: str
    package: Package | None = None
    version: str = ""
    allowed: str = ""
    constraint: bool = False
    doubt: str = ""


def read(text: str, at: str, ecosystem: str | None) -> Dependency | None:
    """The dependency that a manifest's line *text* means; *ecosystem* is that of names that do not say their own.

    A name, ``name@1.2``, PEP 508, a package URL, or ``npm:name``. None where it is for no environment that there is.
    """
    text = text.strip()
    if len(text) > MAX_STATED_CHARS:
        return Dependency(at=at, stated=text[:80], doubt="too long to be a dependency")
    if text.startswith("pkg:"):
        return purl(text, at)
    prefix, found, rest = text.partition(":")
    if found and prefix.lower() in PREFIXES:
        return read(rest, at, PREFIXES[prefix.lower()])
    if text.startswith("@") and "/" in text:
        ecosystem = NPM
    if (parts := AT_VERSION.fullmatch(text)) is not None and "://" not in text:
        if ecosystem is None:
            return _doubtful(text, at)
        return npm(parts[1], parts[2], at) if ecosystem == NPM else pep508(f"{parts[1]}=={parts[2]}", at, stated=text)
    if ecosystem == NPM:
        return npm(text, "", at)
    made = pep508(text, at)
    # Extras, comparisons and markers are written for Python alone; a bare name could be anybody's.
    if ecosystem == PYPI or (made is not None and made.package is not None and not PYPI_NAME.fullmatch(text)):
        return made
    return _doubtful(text, at)


def pep508(text: str, at: str, *, stated: str = "", constraint: bool = False) -> Dependency | None:
    """The dependency of a PEP 508 requirement; None where its marker is true in no environment."""
    stated = stated or text
    try:
        wanted = Requirement(text)
    except InvalidRequirement:
        return Dependency(at=at, stated=stated, doubt="no package name or requirement that can be read")
    if wanted.marker is not None and not _anywhere(wanted.marker):
        return None
    versions = list(wanted.specifier)
    pinned = next((one.version for one in versions if one.operator in ("==", "===") and "*" not in one.version), "")
    return Dependency(
        at=at,
        stated=stated,
        package=package(PYPI, wanted.name),
        version=pinned,
        allowed="" if pinned else str(wanted.specifier),
        constraint=constraint,
        doubt="it comes from a URL, which does not say its version" if wanted.url else "",
    )


def pinned(name: str, version: str, at: str) -> Dependency:
    """The dependency of an entry that fixes the *version* of a package of PyPI."""
    stated = f"{name} {version}"
    if not PYPI_NAME.fullmatch(name) or len(name) > MAX_NAME_CHARS:
        return Dependency(at=at, stated=stated, doubt="no package name that can be read")
    return Dependency(at=at, stated=stated, package=package(PYPI, name), version=version)


def npm(name: str, wanted: str, at: str) -> Dependency | None:
    """The dependency of an entry of a package.json; None for what lies in the skill's own folders."""
    stated = f"{name}@{wanted}" if wanted else name
    if wanted.startswith(("file:", "link:", "workspace:", "portal:")):
        return None
    if wanted.startswith("npm:"):
        name, _, wanted = wanted.removeprefix("npm:").rpartition("@") if "@" in wanted[5:] else (wanted[4:], "", "")
    if not NPM_NAME.fullmatch(name) or len(name) > MAX_NAME_CHARS:
        return Dependency(at=at, stated=stated, doubt="no package name that can be read")
    found = package(NPM, name)
    if NPM_VERSION.fullmatch(wanted):
        return Dependency(at=at, stated=stated, package=found, version=wanted.lstrip("v="))
    if ":" in wanted or "/" in wanted:
        return Dependency(
            at=at, stated=stated, package=found, doubt="it comes from a URL, which does not say its version"
        )
    return Dependency(at=at, stated=stated, package=found, allowed=wanted)


def purl(text: str, at: str) -> Dependency:
    """The dependency that a package URL means."""
    try:
        url = PackageURL.from_string(text)
    except ValueError:
        return Dependency(at=at, stated=text, doubt="no package URL that can be read")
    if url.type not in OF_PURL:
        return Dependency(at=at, stated=text, doubt=f"there are no advisories on packages of type {url.type}")
    if len(text) > MAX_STATED_CHARS or not text.isprintable():
        return Dependency(at=at, stated=text, doubt="no package URL that can be read")
    between = ":" if url.type == "maven" else "/"
    last = url.name
    if url.type == "npm" and (written := _written(text)).lower() == last:
        last = written  # JSONStream and jsonstream are two packages, which the library makes one
    name = f"{url.namespace}{between}{last}" if url.namespace else last
    return Dependency(at=at, stated=text, package=package(OF_PURL[url.type], name), version=url.version or "")


def _written(url: str) -> str:
    """The last part of the name in a package *url*, in its own case."""
    return unquote(re.split(r"[?#]", url)[0].rstrip("/").rpartition("/")[2].partition("@")[0])


def _doubtful(text: str, at: str) -> Dependency:
    return Dependency(
        at=at,
        stated=text,
        doubt="it does not say of which ecosystem it is, nor does the manifest; write pkg:pypi/... or pkg:npm/...",
    )


def _anywhere(marker: Marker) -> bool:
    """Whether *marker* is true in some environment in which a skill may run, without extras."""
    try:
        return any(marker.evaluate(dict(environment)) for environment in _environments())
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName, ValueError):
        return True


def _environments() -> Iterator[dict[str, str]]:
    for python in PYTHONS:
        for os_name, platform, system in PLATFORMS:
            yield {
                "python_version": python,
                "python_full_version": f"{python}.0",
                "implementation_name": "cpython",
                "platform_python_implementation": "CPython",
                "os_name": os_name,
                "sys_platform": platform,
                "platform_system": system,
                "extra": "",
            }
