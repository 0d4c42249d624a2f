"""Reading a source whole: its files, their facts, and what stands in them that should not."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from coordinator.source import python
from coordinator.source.entry import Entry, Gap
from coordinator.source.facts import FileFacts, folded
from coordinator.source.hidden_text import Hidden, hidden
from coordinator.source.packages import local_modules
from coordinator.source.parser import Unparsed, parser
from coordinator.source.places import MANIFESTS, PARSED, Role, parsed, role
from coordinator.source.secrets import Secret, secrets
from coordinator.source.tree import entries

MAX_CODE_BYTES = 12 << 20  # parsed of one source
MAX_CODE_FILES = 4_000
MAX_HOPELESS = 3  # files that took all the time they were given: each costs many seconds
MAX_TOLD = 100
MAX_TOKENS = 400_000
REQUIRING = re.compile(
    r"(?:.*requirements.*\.(?:txt|in)|constraints.*\.txt|pyproject\.toml|setup\.(?:py|cfg)|pipfile|package\.json|"
    r"deno\.jsonc?|jsr\.json|environment\.ya?ml|.*\.lock|package-lock\.json|pnpm-lock\.yaml|metadata)"
)
TOKEN = re.compile(r"@?[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)?")
SCRIPT = re.compile(r"#\s+dependencies = \[(.*?)\]", re.DOTALL)  # PEP 723, in a comment by its own rule


@dataclass(eq=False)
class Source:
    """What was read.

    *files* are the facts of the shipped code by file; *gaps* are what was not looked at, and *ours* those through our
    own fault. *words* are folded; *required* are the names in its own lists of packages.
    """

    files: dict[str, FileFacts] = field(default_factory=dict)
    gaps: list[Gap] = field(default_factory=list)
    ours: list[Gap] = field(default_factory=list)
    secrets: list[tuple[str, Secret]] = field(default_factory=list)
    hidden: list[tuple[str, Hidden]] = field(default_factory=list)
    words: set[str] = field(default_factory=set)
    required: set[str] = field(default_factory=set)
    local: frozenset[str] = frozenset()

    @property
    def whole(self) -> bool:
        """Whether all of the code that ships was understood: only then can it be said what it does not do."""
        return not self.gaps and not self.ours


def read(path: Path, *, planted: tuple[str, ...] = ()) -> Source:
    """The source at *path*, a folder or an archive; *planted* are texts that the publisher put there to be found."""
    source = Source()
    code: dict[str, Entry] = {}
    for one in entries(path):
        if isinstance(one, Gap):
            source.gaps.append(one)
            continue
        _texts(source, one, planted)
        if parsed(one.name):
            code[one.name] = one
    source.local = local_modules(code)
    _parse(source, code)
    return source


def _texts(source: Source, one: Entry, planted: tuple[str, ...]) -> None:
    file = one.name.rpartition("/")[2].lower()
    text = one.data.decode("utf-8", "replace")
    kind = role(one.name)
    if kind is Role.SHIPPED or (kind is Role.DOCUMENT and file.startswith(".env")):
        found = secrets(text, known=planted)
        if not file.endswith(("example", "sample", "template", "dist")):
            source.secrets.extend((one.name, secret) for secret in found if len(source.secrets) < MAX_TOLD)
    if kind in (Role.SHIPPED, Role.DOCUMENT):
        source.hidden.extend((one.name, found) for found in hidden(text) if len(source.hidden) < MAX_TOLD)
    if REQUIRING.fullmatch(file):
        for token in TOKEN.findall(text)[:MAX_TOKENS]:
            source.required.add(folded(token))
            source.required.add(folded(token.rpartition("/")[2]))
    elif parsed(one.name):
        for block in SCRIPT.findall(text[:20_000]):
            source.required |= {folded(token) for token in TOKEN.findall(block)}
    elif kind is Role.SHIPPED and file not in MANIFESTS:
        source.words |= {folded(token) for token in TOKEN.findall(text)[:MAX_TOKENS]}


def _parse(source: Source, code: dict[str, Entry]) -> None:
    waiting = [name for name in code if role(name) is Role.SHIPPED]
    seen = set(waiting)
    size = hopeless = 0
    while waiting:
        name = waiting.pop(0)
        data = code[name].data
        size += len(data)
        if size > MAX_CODE_BYTES or len(source.files) >= MAX_CODE_FILES or hopeless >= MAX_HOPELESS:
            source.gaps.append(Gap(name, "the source has more code than is parsed"))
            return
        try:
            facts = parser().facts(parsed(name), data)
        except Unparsed as no:
            hopeless += "too long" in str(no) or no.ours
            (source.ours if no.ours else source.gaps).append(Gap(name, str(no)))
            continue
        if facts.cut:
            source.gaps.append(Gap(name, facts.cut))
        source.files[name] = facts
        source.words |= facts.words
        for target in _imported(name, facts, code):
            if target not in seen:  # a test or a document is code like any other once it is imported
                seen.add(target)
                waiting.append(target)


def _imported(name: str, facts: FileFacts, code: dict[str, Entry]) -> Iterator[str]:
    folder = posixpath.dirname(name)
    for one in facts.imports:
        if parsed(name) in python.SUFFIXES:
            stems = list(_python_places(one.module, folder))
            yield from (file for stem in stems for file in (f"{stem}.py", f"{stem}/__init__.py") if file in code)
        elif one.module.startswith("."):
            stem = posixpath.normpath(posixpath.join(folder, one.module))
            bare = stem.rpartition(".")[0] if stem.endswith((".js", ".mjs", ".cjs", ".jsx")) else stem
            places = [stem, *(f"{base}{suffix}" for base in (stem, bare, f"{stem}/index") for suffix in PARSED)]
            yield from (file for file in places if file in code)


def _python_places(module: str, folder: str) -> Iterable[str]:
    plain = module.lstrip(".")
    inner = plain.replace(".", "/")
    dots = len(module) - len(plain)
    if dots:
        base = folder
        for _ in range(min(dots - 1, 30)):
            base = posixpath.dirname(base)
        return [posixpath.join(base, inner) if inner else base]
    return [inner, f"src/{inner}", posixpath.join(folder, inner)]
