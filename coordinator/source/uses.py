"""From the sites of a program to facts: what is used, and on what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from coordinator.source.apis import PATH_READS, PATH_WRITES, Api
from coordinator.source.expressions import Call, Expression, Items, Member, Name, Program, Site
from coordinator.source.facts import FileFacts, InputRead, Kind, Origin, Use
from coordinator.source.hosts import host_of
from coordinator.source.resolving import ENVIRONMENT, GETTERS, GIVEN, LOADERS, Known, Resolver

MAX_USES = 2_000
MAX_SITES = 400_000
RISKY = frozenset({"os", "subprocess", "builtins", "__builtins__", "child_process", "vm", "fs", "importlib", "posix"})
WRITE_MODES = frozenset("wax+")
CONTEXTS = {"yaml.load": ("yaml.SafeLoader", "yaml.CSafeLoader", "yaml.BaseLoader", "yaml.CBaseLoader")}
BODIES = frozenset(
    {
        "request.json", "request.form", "request.args", "flask.request.json", "flask.request.form",
        "flask.request.args", "request.get_json()", "flask.request.get_json()", "request.json()", "req.body",
        "request.body", "req.query", "req.json()", "ctx.request.body", "request.params", "params.arguments",
        "request.params.arguments", "flask.request.values", "request.values",
    }
)  # fmt: skip
TIMERS = frozenset({"setTimeout", "setInterval", "setImmediate"})
INDEXERS = frozenset({"get", "pop"})
METHODS = INDEXERS | {"items", "keys", "values", "copy", "setdefault", "update", "length", "map", "getlist", "toString"}


def facts(program: Program, apis: Mapping[str, Api]) -> FileFacts:
    """What *program* does, by the functions in *apis*."""
    reader = _Uses(program, apis)
    uses = tuple(dict.fromkeys(reader.uses()))
    cut = ""
    if len(program.sites) > MAX_SITES or reader.resolver.spent:
        cut = "too much of it depends on each other to be followed"
    elif len(uses) > MAX_USES:
        cut = f"more than {MAX_USES:,} uses"
    return FileFacts(
        uses=_merged(uses)[:MAX_USES],
        imports=tuple(dict.fromkeys(program.imports))[:MAX_USES],
        reads=tuple(dict.fromkeys((*program.reads, *reader.reads())))[:MAX_USES],
        words=frozenset(program.words),
        cut=cut,
    )


def _merged(uses: tuple[Use, ...]) -> tuple[Use, ...]:
    first: dict[tuple[Kind, str, str, Origin], Use] = {}
    for use in sorted(uses, key=lambda one: (one.line, one.via, one.target)):
        first.setdefault((use.kind, use.via, use.target, use.origin), use)
    return tuple(first.values())


class _Uses:
    def __init__(self, program: Program, apis: Mapping[str, Api]) -> None:
        self.resolver = Resolver(program)
        self._sites = program.sites[:MAX_SITES]
        self._apis = apis
        self._called = {id(one.expression.of) for one in self._sites if isinstance(one.expression, Call)}

    def uses(self) -> Iterator[Use]:
        """Every use, those of the same thing several times too."""
        clients: dict[str, list[Use]] = {}
        asked: set[str] = set()
        called_lines = set()
        for site in self._sites:
            if not isinstance(site.expression, Call):
                continue
            for name in sorted(self.resolver.names(site.expression.of)):
                api = self._apis.get(name)
                called_lines.add((name, site.line))
                if api is None:
                    yield from self._other_call(name, site.expression, site.line)
                    continue
                asked.add(name.rpartition(".")[0].removesuffix("()"))
                made = list(self._uses_of(api, name, site.expression, site.line))
                if api.client:
                    clients.setdefault(name, []).extend(made)
                else:
                    yield from made
            yield from self._path_method(site.expression, site.line)
        for name, made in clients.items():
            # A client is told by the calls made on it; where none is seen, by having been made.
            yield from (use for use in made if name not in asked or use.target)
        for site in self._sites:
            yield from self._reference(site, called_lines)

    def reads(self) -> Iterator[InputRead]:
        """The members that are read of what a caller sent."""
        for site in self._sites:
            match site.expression:
                case Member(of=of, name=name, index=index):
                    read = None if name in METHODS else name or self.resolver.written(index)
                case Call(of=Member(of=of, name=name), arguments=(first, *_)) if name in INDEXERS:
                    read = self.resolver.written(first)
                case _:
                    continue
            if read and self._is_body(of):
                function = next(site.scope.functions(), None)
                yield InputRead(read, site.line, function.line if function else 0)

    def _is_body(self, expression: Expression) -> bool:
        return any(name.removeprefix(GIVEN) in BODIES for name in self.resolver.names(expression))

    def _reference(self, site: Site, called: set[tuple[str, int]]) -> Iterator[Use]:
        expression = site.expression
        if isinstance(expression, Call):
            return
        names = self.resolver.names(expression)
        for name in sorted(names):
            api = self._apis.get(name)
            if api is not None and not api.client and (name, site.line) not in called and self._risky(api):
                yield Use(api.kind, site.line, name, api.known)
            if name.startswith(ENVIRONMENT) and name in ("os.environ", "process.env", "os.environb"):
                continue
            variable = self._variable(name, expression)
            if variable is not None:
                yield Use(Kind.ENVIRONMENT, site.line, name, variable, Origin.LITERAL if variable else Origin.COMPUTED)
        if isinstance(expression, Member) and expression.index is not None and not names:
            for base in sorted(self.resolver.names(expression.of) & RISKY):
                yield Use(Kind.DYNAMIC, site.line, f"{base}[...]")

    @staticmethod
    def _risky(api: Api) -> bool:
        """Whether it matters where it is only named: handed on, it will be called by somebody else."""
        return api.kind in (Kind.PROCESS, Kind.DYNAMIC, Kind.NETWORK)

    def _variable(self, name: str, expression: Expression) -> str | None:
        for base in ("os.environ.", "process.env.", "os.environb.", "import.meta.env.", "Bun.env."):
            if name.startswith(base) and isinstance(expression, Member):
                variable = name.removeprefix(base)
                return None if variable in ("get", "copy", "items", "keys", "values", "setdefault", "pop", "update") \
                    else variable  # fmt: skip
        return None

    def _other_call(self, name: str, call: Call, line: int) -> Iterator[Use]:
        first = call.arguments[0] if call.arguments else None
        if name in ("os.getenv", "os.environ.get", "os.environ.pop", "Deno.env.get"):
            variable = self.resolver.written(first)
            origin = Origin.COMPUTED if variable is None else Origin.LITERAL
            yield Use(Kind.ENVIRONMENT, line, name, variable or "", origin)
        elif name in ("os.environ.copy", "os.environ.items", "os.environ.values", "Deno.env.toObject"):
            yield Use(Kind.ENVIRONMENT, line, name)
        elif name in ("dict", "json.dumps", "str", "repr", "JSON.stringify", "Object.entries", "Object.values"):
            if first is not None and self.resolver.names(first) & {"os.environ", "process.env"}:
                yield Use(Kind.ENVIRONMENT, line, f"{name}(environment)")
        elif name in GETTERS and len(call.arguments) > 1 and self.resolver.written(call.arguments[1]) is None:
            for base in sorted(self.resolver.names(call.arguments[0]) & RISKY):
                yield Use(Kind.DYNAMIC, line, f"getattr({base}, ...)")
        elif name in LOADERS and first is not None and not any(one.whole for one in self.resolver.texts(first)):
            if not any(one.text.startswith(".") or one.origin is Origin.OWN for one in self.resolver.texts(first)):
                yield Use(Kind.DYNAMIC, line, name)
        elif name in TIMERS and first is not None and self.resolver.written(first) is not None:
            yield Use(Kind.DYNAMIC, line, name)
        elif name in CONTEXTS:
            loader = call.named.get("Loader") or (call.arguments[1] if len(call.arguments) > 1 else None)
            if loader is None or not self.resolver.names(loader) & set(CONTEXTS[name]):
                yield Use(Kind.DYNAMIC, line, name)

    def _path_method(self, call: Call, line: int) -> Iterator[Use]:
        if not isinstance(call.of, Member):
            return
        name = call.of.name
        if name not in PATH_READS | PATH_WRITES | {"open"} or not self._is_path(call.of.of):
            return
        kind = Kind.WRITE if name in PATH_WRITES or (name == "open" and self._writes(call, 0)) else Kind.READ
        yield from self._targets(kind, f"Path.{name}", self.resolver.texts(call.of.of), line)

    def _is_path(self, expression: Expression, level: int = 0) -> bool:
        if level > 8:
            return False
        names = self.resolver.names(expression)
        if any(name.startswith("pathlib.") and "()" in name for name in names):
            return True
        inner = getattr(expression, "parts", (None,))[0] if getattr(expression, "mark", "") == "/" else None
        if isinstance(expression, Name):
            meanings = expression.scope.meanings(expression.name) or []
            return any(self._is_path(one, level + 1) for one in meanings[:8] if one is not expression)
        return inner is not None and self._is_path(inner, level + 1)

    def _uses_of(self, api: Api, name: str, call: Call, line: int) -> Iterator[Use]:
        kind = api.kind
        if name in ("open", "io.open", "codecs.open", "aiofiles.open", "io.FileIO", "anyio.open_file") and self._writes(
            call, 1
        ):
            kind = Kind.WRITE
        if kind is Kind.DYNAMIC:
            yield Use(kind, line, name)
            return
        target = self._target(api, call)
        if target is None:
            if api.known:
                yield Use(kind, line, name, api.known, Origin.LITERAL)
            else:
                yield Use(kind, line, name)
            return
        yield from self._targets(kind, name, self.resolver.texts(target), line, relative=self._has_base(call))

    def _targets(
        self, kind: Kind, name: str, found: tuple[Known, ...], line: int, *, relative: bool = False
    ) -> Iterator[Use]:
        for one in found:
            if kind is not Kind.NETWORK:
                yield Use(kind, line, name, one.text, one.origin)
                continue
            host = host_of(one.text, whole=one.whole) if one.text else None
            if one.text.startswith("/") and not one.text.startswith("//"):
                continue  # of the client's own host
            if host is not None and (one.whole or "://" in one.text):
                if not relative or "://" in one.text:
                    yield Use(kind, line, name, host, Origin.LITERAL)
            elif (relative and one.origin is not Origin.INPUT) or one.origin is Origin.OWN:
                continue
            elif one.text.partition(":")[0] in ("data", "blob", "file", "about") and ":" in one.text:
                if one.text.startswith("file:"):
                    yield Use(Kind.READ, line, name, one.text, one.origin)
            else:
                origin = one.origin if one.origin is not Origin.LITERAL else Origin.COMPUTED
                yield Use(kind, line, name, "", origin)

    def _has_base(self, call: Call) -> bool:
        """Whether the client on which *call* is made was made for one host."""
        made = call.of.of if isinstance(call.of, Member) else call.of
        for one in self._makers(made, 0):
            named = self._options(one)
            if any(name in named for name in ("base_url", "baseURL", "prefixUrl", "baseUrl")):
                return True
            if self.resolver.names(one.of) & {"aiohttp.ClientSession"} and one.arguments:
                return True
        return False

    def _makers(self, expression: Expression, level: int) -> Iterator[Call]:
        if isinstance(expression, Call):
            yield expression
        elif level < 8 and isinstance(expression, Name):
            for meaning in (expression.scope.meanings(expression.name) or [])[:8]:
                yield from self._makers(meaning, level + 1)
        elif level < 8 and isinstance(expression, Member):
            for meaning in self.resolver.attributes(expression)[:8]:
                yield from self._makers(meaning, level + 1)

    @staticmethod
    def _options(call: Call) -> dict[str, Expression]:
        named = dict(call.named)
        for one in call.arguments:
            if isinstance(one, Items):
                named.update(one.named)
        return named

    def _target(self, api: Api, call: Call) -> Expression | None:
        named = self._options(call)
        for name in api.named:
            if name in named:
                return named[name]
        if 0 <= api.place < len(call.arguments):
            given = call.arguments[api.place]
            if isinstance(given, Items):  # an address: host and port; or a command and its arguments
                return given.of[0] if given.of else None
            return given
        return None

    def _writes(self, call: Call, place: int) -> bool:
        mode = call.named.get("mode") or (call.arguments[place] if len(call.arguments) > place else None)
        if mode is None:
            return False
        written = self.resolver.written(mode)
        return written is not None and bool(set(written) & WRITE_MODES)
