"""What a manifest declares and the source has not: permissions without a use, inputs and tools that it never names.

Nothing can be said to be absent of a source that was not understood whole, that makes code at run time or starts other
programs, or that hands its work to packages of which it is not known what they do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from coordinator.catalog.rejection import child, shown
from coordinator.catalog.skill import Skill
from coordinator.source.discrepancy import Discrepancy
from coordinator.source.facts import Kind, Origin, Use, folded
from coordinator.source.hosts import is_here
from coordinator.source.permissions import Grant
from coordinator.source.reading import Source

# Packages that reach for nothing but through the functions that are listed (`apis`), or for nothing at all.
INERT = frozenset(
    {
        "requests", "httpx", "aiohttp", "urllib3", "flask", "fastapi", "starlette", "uvicorn", "pydantic", "click",
        "typer", "rich", "yaml", "jinja2", "numpy", "dateutil", "attr", "attrs", "msgspec", "orjson", "dotenv", "mcp",
        "fastmcp", "werkzeug", "sanic", "bottle", "tornado", "structlog", "tenacity", "express", "zod", "lodash",
        "axios", "got", "ky", "node-fetch", "undici", "@modelcontextprotocol/sdk", "fastify", "koa", "hono", "cors",
        "body-parser", "uuid", "dayjs", "chalk", "commander", "ws", "typing_extensions", "bs4", "regex", "re2", "ajv",
    }
)  # fmt: skip


def unused_permissions(source: Source, grants: Iterable[Grant], packages: Iterable[str]) -> Iterator[Discrepancy]:
    """The *grants* that nothing in *source* makes use of; *packages* are what it imports of others."""
    uses = [use for facts in source.files.values() for use in facts.uses]
    blind = any(use.kind in (Kind.PROCESS, Kind.DYNAMIC) for use in uses) or not set(packages) <= INERT
    if not source.whole or not source.files or blind:
        return
    for grant in grants:
        if grant.kinds and not any(_needs(use, grant) for use in uses):
            yield Discrepancy(
                "source/unused-permission", "low", child("/permissions", grant.place),
                f"{shown(grant.stated)} is declared, but nothing in the source makes use of it",
            )  # fmt: skip


def _needs(use: Use, grant: Grant) -> bool:
    if use.kind not in grant.kinds:
        return False
    if use.origin is not Origin.LITERAL:  # it may be the one, or come to it
        return True
    if use.kind is Kind.NETWORK and is_here(use.target) and grant.target:
        return grant.allows(use.kind, use.target, known=True) or not is_here(grant.target)
    return grant.allows(use.kind, use.target, known=True)


def absent_inputs(source: Source, skill: Skill) -> Iterator[Discrepancy]:
    """The inputs of *skill* that the source never names, though it names others."""
    declared = [(place, one.name) for place, one in enumerate(skill.inputs) if one.name and not one.assumed]
    missing = [(place, name) for place, name in declared if folded(name) not in source.words]
    if not source.whole or not source.files or not missing:
        return
    if len(missing) == len(declared):
        reason = "the source names none of the declared inputs: it may be another skill's, or hand them on unread"
        yield Discrepancy("source/unknown-inputs", "low", "/inputs", reason, open=True)
        return
    if _dynamic(source):
        return
    for place, name in missing:
        reason = f"the declared input {shown(name)} is never named in the source"
        yield Discrepancy("source/absent-input", "low", child("/inputs", place), reason)


def absent_tool(source: Source, skill: Skill) -> Iterator[Discrepancy]:
    """The tool that *skill* says it is, if the source never names it."""
    tool = skill.access.options.get("tool") if skill.access is not None else None
    if not isinstance(tool, str) or (tool == skill.name and "tool" not in skill.stated):
        return  # the name was only assumed to be the tool's
    if not source.whole or not source.files or _dynamic(source):
        return
    if folded(tool) not in source.words:
        yield Discrepancy("source/absent-tool", "medium", "", f"the tool {shown(tool)} is never named in the source")


def unknown_reads(source: Source, skill: Skill) -> Iterator[Discrepancy]:
    """What the source reads of a caller's message beyond the declared inputs.

    Looked at is the function that reads the most of them; where several read as many, what all of them read: a source
    may serve other skills as well.
    """
    declared = {folded(one.name) for one in skill.inputs if one.name}
    readers: dict[tuple[str, int], dict[str, tuple[str, int]]] = {}
    for name, facts in source.files.items():
        for one in facts.reads:
            readers.setdefault((name, one.function), {}).setdefault(folded(one.name), (one.name, one.line))
    most = max((len(declared & read.keys()) for read in readers.values()), default=0)
    if not most:
        return
    best = {place: read for place, read in readers.items() if len(declared & read.keys()) == most}
    shared = set.intersection(*(set(read) for read in best.values()))
    (file, _), read = sorted(best.items())[0]
    for extra in sorted(shared - declared - ENVELOPE):
        name, line = read[extra]
        reason = f"the input {shown(name)} is read, which is not declared"
        yield Discrepancy("source/undeclared-input", "medium", f"{file}:{line}", reason)


# What the calls of the catalog's formats put around the inputs.
ENVELOPE = frozenset(
    {"skillid", "version", "input", "inputs", "jsonrpc", "method", "params", "id", "arguments", "name", "meta", "data",
     "body", "messages", "model", "contenttype", "headers"}
)  # fmt: skip


def _dynamic(source: Source) -> bool:
    return any(use.kind is Kind.DYNAMIC for facts in source.files.values() for use in facts.uses)
