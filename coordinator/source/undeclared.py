"""What a source does that its manifest does not declare: hosts, files, processes, environment, dynamic code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from coordinator.catalog.rejection import shown
from coordinator.source.discrepancy import Discrepancy
from coordinator.source.facts import Kind, Origin, Use
from coordinator.source.hosts import is_here
from coordinator.source.permissions import Grant
from coordinator.source.reading import Source
from coordinator.source.resolving import LOADERS

NAMES = {
    Kind.NETWORK: "network",
    Kind.READ: "file system",
    Kind.WRITE: "file system",
    Kind.PROCESS: "process",
    Kind.ENVIRONMENT: "environment",
    Kind.DYNAMIC: "dynamic code",
}
# What every server is configured by: where it listens, how much it says, where things are.
CONFIGURING = re.compile(
    r"(?:.*_)?(?:PORT|HOST|BIND|ADDR|ADDRESS|DEBUG|VERBOSE|LOG|LOGLEVEL|LOG_LEVEL|LOG_FORMAT|NODE_ENV|ENV|ENVIRONMENT|"
    r"TZ|LANG|LC_.*|HOME|PATH|USER|SHELL|TERM|TMPDIR|TEMP|TMP|PWD|CI|HOSTNAME|WORKERS|TIMEOUT|CONCURRENCY|NO_COLOR|"
    r"XDG_.*|PYTHON.*|npm_.*)"
)
HARMLESS_FILES = frozenset({"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/urandom", "/dev/random"})


def undeclared(source: Source, grants: Iterable[Grant]) -> Iterator[Discrepancy]:
    """The uses in *source* that none of *grants* allows."""
    allowed = tuple(grants)
    for name, facts in source.files.items():
        found = (one for use in facts.uses for one in _of(use, f"{name}:{use.line}", allowed))
        yield from dict.fromkeys(found)  # one line can use one thing on several targets


def _of(use: Use, at: str, grants: tuple[Grant, ...]) -> Iterator[Discrepancy]:
    known = use.origin is Origin.LITERAL
    if use.origin is Origin.OWN or any(one.allows(use.kind, use.target, known=known) for one in grants):
        return
    some = any(use.kind in one.kinds for one in grants)
    rule = f"source/undeclared-{use.kind}"
    match use.kind:
        case Kind.NETWORK:
            yield _network(use, at, rule, some)
        case Kind.READ | Kind.WRITE:
            yield from _file(use, at, rule)
        case Kind.PROCESS:
            yield Discrepancy(rule, "high", at, f"{use.via} starts another program; no process permission is declared")
        case Kind.ENVIRONMENT:
            if not known:
                reason = f"{use.via} reads the whole environment, or any of it; no environment permission is declared"
                yield Discrepancy(rule, "medium", at, reason)
            elif not CONFIGURING.fullmatch(use.target):
                reason = f"reads the variable {shown(use.target)}; no environment permission is declared"
                yield Discrepancy(rule, "low", at, reason)
        case Kind.DYNAMIC:
            if any(Kind.PROCESS in one.kinds for one in grants):
                return
            severity = "low" if use.via in LOADERS else "medium"
            yield Discrepancy(rule, severity, at, f"{use.via} runs code that is made or loaded at run time; undeclared")


def _network(use: Use, at: str, rule: str, some: bool) -> Discrepancy:
    if use.origin is Origin.LITERAL:
        severity = "low" if is_here(use.target) else "high"
        missing = f'"network:{use.target}" is not declared'
        return Discrepancy(rule, severity, at, f"{use.via} calls {shown(use.target)}; {missing}")
    if use.origin is Origin.INPUT:
        reason = f'{use.via} calls whatever host a caller names; "network:*" is not declared'
        return Discrepancy(rule, "high", at, reason)
    if some:
        reason = f"{use.via}: which host is called cannot be told from the source, and not every host is declared"
        return Discrepancy("source/unknown-host", "low", at, reason, open=True)
    return Discrepancy(rule, "medium", at, f"{use.via} calls a host; no network permission is declared")


def _file(use: Use, at: str, rule: str) -> Iterator[Discrepancy]:
    writes = use.kind is Kind.WRITE
    verb = "writes to" if writes else "reads"
    if use.origin is Origin.LITERAL:
        path = use.target.removeprefix("file://")
        outside = path.startswith(("/", "~", "\\")) or ".." in path.split("/") or path[1:2] == ":"
        if path in HARMLESS_FILES or (not outside and not writes):
            return  # relative: a file that comes with it
        severity = ("high" if writes else "medium") if outside else "low"
        reason = f"{use.via} {verb} {shown(path)}; no file system permission is declared"
        yield Discrepancy(rule, severity, at, reason)
    elif use.origin is Origin.INPUT:
        reason = f"{use.via} {verb} whatever file a caller names; no file system permission is declared"
        yield Discrepancy(rule, "high", at, reason)
    else:
        reason = f"{use.via} {verb} files of computed names; no file system permission is declared"
        yield Discrepancy(rule, "medium" if writes else "low", at, reason)
