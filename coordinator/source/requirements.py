"""The packages that a source imports against those that its manifest, or its own lists, say it needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coordinator.catalog.rejection import child, shown
from coordinator.osv.ecosystem import NPM, PYPI
from coordinator.source import python
from coordinator.source.discrepancy import Discrepancy
from coordinator.source.facts import Kind, folded
from coordinator.source.packages import IMPORTED_AS, brings, is_imported, package_of_javascript, package_of_python
from coordinator.source.places import parsed
from coordinator.source.reading import Source
from coordinator.static.dependency import read


def imported(source: Source) -> dict[str, tuple[str, bool]]:
    """The packages of others that *source* imports: where first, and whether all imports of it are optional."""
    found: dict[str, tuple[str, bool]] = {}
    for name, facts in source.files.items():
        of_python = parsed(name) in python.SUFFIXES
        for one in facts.imports:
            if of_python:
                package = "" if one.module.startswith(".") else package_of_python(one.module, source.local)
            else:
                package = package_of_javascript(one.module)
            if package:
                at, optional = found.get(package, (f"{name}:{one.line}", True))
                found[package] = at, optional and one.optional
    return found


def undeclared_packages(source: Source, declared: Sequence[str]) -> Iterator[Discrepancy]:
    """The imports for which neither *declared*, the manifest's dependencies, nor the source's own lists account."""
    names = [_name(one) for one in declared]
    found = imported(source)
    spare = [one for one in names if one and not any(brings(one, name) for name in found)]
    for name, (at, optional) in found.items():
        lists = folded(name) in source.required or any(
            folded(package) in source.required for package, top in IMPORTED_AS.items() if folded(top) == folded(name)
        )
        if optional or lists or any(one and brings(one, name) for one in names):
            continue
        # A package can be imported under any name: one that is declared and not seen may be the one.
        ambiguous = any(is_imported(one) and one.lower() not in IMPORTED_AS for one in spare)
        rule = "source/unknown-dependency" if ambiguous else "source/undeclared-dependency"
        reason = f"imports {shown(name)}, " + (
            "and it cannot be told which declared dependency that is" if ambiguous else "which no dependency declares"
        )
        yield Discrepancy(rule, "low", at, reason, open=ambiguous)


def unused_packages(source: Source, declared: Sequence[str]) -> Iterator[Discrepancy]:
    """Those of *declared* that *source* neither imports nor names anywhere."""
    dynamic = any(use.kind is Kind.DYNAMIC for facts in source.files.values() for use in facts.uses)
    if not source.whole or not source.files or dynamic:
        return
    found = imported(source)
    ecosystem = PYPI if all(parsed(name) in python.SUFFIXES for name in source.files) else NPM
    accounted = {name for name in found if any(brings(_name(one), name) for one in declared)}
    for place, stated in enumerate(declared):
        name = _name(stated)
        one = read(stated, "", ecosystem)
        if not name or one is None or one.package is None or " " in stated.strip() or not is_imported(name):
            continue
        named = folded(name) in source.words or folded(IMPORTED_AS.get(name.lower(), name)) in source.words
        if named or any(brings(name, top) for top in found) or len(accounted) < len(found):
            continue
        reason = f"the declared dependency {shown(stated)} is never imported"
        yield Discrepancy("source/unused-dependency", "low", child("/dependencies", place), reason)


def _name(stated: str) -> str:
    """The bare name in a manifest's line."""
    for ecosystem in (PYPI, NPM):
        one = read(stated, "", NPM if stated.strip().startswith("@") else ecosystem)
        if one is not None and one.package is not None:
            return one.package.name
    return ""
