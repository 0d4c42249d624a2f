"""What an expression may come to: the full names of what is meant, and the texts as far as they are known.

Every meaning that a name is ever given counts, whatever the order: a reader of code that is not run cannot know which
one holds. All is bounded by a number of steps for the whole file; beyond it everything is unknown, and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os.path import commonprefix
from typing import TypeVar

from msgspec import Struct

from coordinator.source.expressions import (
    MAX_DEPTH,
    Call,
    Either,
    Element,
    Expression,
    Function,
    Imported,
    Items,
    Joined,
    Member,
    Name,
    Parameter,
    Program,
    Text,
)
from coordinator.source.facts import Origin, module_name

MAX_STEPS = 400_000
MAX_NAMES = 12  # that one expression may mean
MAX_MEANINGS = 200  # of one variable, list or parameter; and texts that one expression may come to
MAX_LEVELS = 24
MAX_NAME_CHARS = 200
MAX_TEXT_CHARS = 2_000

GIVEN = "@"  # before the name of what a caller sent
NAMESPACES = frozenset(
    {"globals()", "locals()", "vars()", "sys.modules", "builtins", "__builtins__", "globalThis", "global", "window"}
)
GETTERS = frozenset({"getattr", "Reflect.get"})
LOADERS = frozenset({"__import__", "importlib.import_module", "importlib.__import__", "require", "import"})
PARTIALS = frozenset({"functools.partial", "functools.partialmethod", "staticmethod", "classmethod"})
SELVES = frozenset({"self", "cls", "this"})
OWN = frozenset(
    {"__file__", "__dirname", "__filename", "import.meta.url", "import.meta.dirname", "__path__", "__name__"}
)
OWN_CALLS = ("importlib.resources.", "pkgutil.get_data", "pkg_resources.", "importlib_resources.")
TEMPORARY = ("tempfile.", "os.tmpdir", "fs.mkdtemp", "tmp.", "tmp_path")
ENVIRONMENT = ("os.environ", "os.getenv", "process.env", "os.environb", "Deno.env", "Bun.env", "import.meta.env")
WRAPPERS = frozenset(
    {
        "str", "String", "URL", "Request", "urllib.request.Request", "httpx.URL", "yarl.URL", "pathlib.Path",
        "pathlib.PurePath", "pathlib.PosixPath", "os.path.abspath", "os.path.realpath", "os.path.dirname",
        "os.path.expanduser", "os.fspath", "path.resolve", "path.dirname", "url.fileURLToPath", "fileURLToPath",
        "url.parse", "httpx.Request", "os.path.normpath", "path.normalize", "typing.cast",
    }
)  # fmt: skip
JOINERS = frozenset({"os.path.join", "path.join", "path.resolve", "posixpath.join", "pathlib.Path", "pathlib.PurePath"})
KEEPERS = frozenset(
    {
        "strip", "rstrip", "lstrip", "resolve", "absolute", "expanduser", "lower", "trim", "toString", "as_posix",
        "encode", "replace", "with_suffix", "with_name", "parent", "parents", "href", "trimEnd", "format",
    }
)  # fmt: skip
GROWERS = frozenset({"joinpath", "concat", "removesuffix"})

T = TypeVar("T")


class Known(Struct, frozen=True):
    """A text that an expression may come to: it begins with *text*, and *whole* says that this is all of it."""

    text: str = ""
    whole: bool = False
    origin: Origin = Origin.COMPUTED
    configured: bool = False


ANYTHING = Known()


class Resolver:
    """Resolves the expressions of one *program*. *spent*: not all was looked at, and unknown may mean unlooked."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._left = MAX_STEPS
        self._dropped = False
        self._names: dict[object, frozenset[str]] = {}
        self._texts: dict[int, tuple[Known, ...]] = {}
        self._variables: dict[int, tuple[Known, ...]] = {}
        self._now: dict[int, tuple[Known, ...]] = {}  # what is known so far of the variables that are being worked out
        self._functions: dict[int, Function] = {}
        self._calls: dict[Function, list[Call]] = {}
        for site in program.sites:
            if isinstance(site.expression, Call):
                for function in self._called(site.expression.of):
                    self._calls.setdefault(function, []).append(site.expression)
        self._texts.clear()
        self._variables.clear()

    @property
    def spent(self) -> bool:
        """Whether the steps did not suffice, or there were more meanings than are looked at."""
        return self._left <= 0 or self._dropped

    def names(self, expression: Expression, level: int = 0) -> frozenset[str]:
        """The full dotted names of what *expression* may mean; a call of ``f`` is ``f()``."""
        key = (id(expression.scope), expression.name) if isinstance(expression, Name) else id(expression)
        if (known := self._names.get(key)) is not None:
            return known
        if level > MAX_LEVELS or self._left <= 0:
            return frozenset()
        self._left -= 1
        self._names[key] = frozenset()  # what it is made of cannot be itself
        found = frozenset(
            sorted({name for name in self._named(expression, level + 1) if len(name) <= MAX_NAME_CHARS})[:MAX_NAMES]
        )
        if level == 0:
            self._names[key] = found
        else:
            del self._names[key]  # found from within another, it may lack what that one was to give
        return found

    def texts(self, expression: Expression | None, level: int = 0) -> tuple[Known, ...]:
        """What *expression* may come to as a text; at least one, `ANYTHING` if need be."""
        if expression is None or level > MAX_LEVELS or self._left <= 0:
            return (ANYTHING,)
        if isinstance(expression, Name) and expression.name not in OWN:
            meanings = expression.scope.meanings(expression.name)
            return (ANYTHING,) if meanings is None else self._variable(meanings, level)
        if (known := self._texts.get(id(expression))) is not None:
            return known
        self._left -= 1
        self._texts[id(expression)] = ()
        found = _distinct(self._read(expression, level + 1))
        if level == 0:
            self._texts[id(expression)] = found or (ANYTHING,)
        else:
            del self._texts[id(expression)]
        return found

    def _variable(self, meanings: list[Expression], level: int) -> tuple[Known, ...]:
        """What a variable with these *meanings* may come to.

        One that goes on from itself (``x += ...``) grows in the order of the source, and from what it is otherwise by
        each piece alone, where that is a whole text. (Not taken: every order. They are a great many.)
        """
        key = id(meanings)
        if (known := self._variables.get(key)) is not None:
            return known
        if key in self._now:
            return self._now[key]
        self._left -= 1
        self._now[key] = ()
        looked_at = self._some(meanings)
        growing = [one for one in looked_at if _goes_on_from(one, meanings)]
        begun = _distinct(
            _preferred([one for part in looked_at if part not in growing for one in self.texts(part, level + 1)])
        )
        found, grown = [*begun], begun
        for part in growing:
            self._now[key] = begun
            found += [one for one in self.texts(part, level + 1) if one.whole]
            self._now[key] = grown
            grown = _distinct(self.texts(part, level + 1)) or grown
            found += grown
        del self._now[key]
        told = _distinct(_preferred(found))
        if level == 0:
            told = self._variables[key] = told or (ANYTHING,)
        return told

    def written(self, expression: Expression | None) -> str | None:
        """The one text that *expression* is, if it is one for certain."""
        found = self.texts(expression)
        return found[0].text if len(found) == 1 and found[0].whole else None

    def attributes(self, member: Member) -> list[Expression]:
        """What a member of the program's own object (``self.x``) may be."""
        if isinstance(member.of, Name) and member.of.name in SELVES:
            return self._program.attributes.get(member.name, [])
        return []

    def _named(self, expression: Expression, level: int) -> Iterable[str]:
        match expression:
            case Imported(name=name):
                return [name]
            case Function():
                self._functions[id(expression)] = expression
                return [f"#{id(expression)}"]
            case Name(name=name, scope=scope):
                meanings = scope.meanings(name)
                if meanings is None:
                    return [name, *(f"{module}.{name}" for module in self._program.stars)]
                return self._all_names(meanings, level)
            case Member():
                return self._member(expression, level)
            case Call():
                return self._call(expression, level)
            case Either(of=of):
                return self._all_names(of, level)
            case Parameter(function=function, name=name) if function.handles:
                return [f"{GIVEN}{name}"]
            case _:
                return []

    def _all_names(self, of: Iterable[Expression], level: int) -> list[str]:
        return [name for one in self._some(list(of)) for name in self.names(one, level)]

    def _member(self, member: Member, level: int) -> Iterable[str]:
        name = member.name
        if member.index is not None:
            texts = [one for one in self.texts(member.index, level) if one.whole]
            if len(texts) != 1:
                return []
            name = texts[0].text
        if isinstance(member.of, Name) and member.of.name in SELVES and name in self._program.attributes:
            return self._all_names(self._program.attributes[name], level)
        found: list[str] = []
        inner = self._items(member.of, level)
        if inner is not None and name in inner.named:
            found += self.names(inner.named[name], level)
        for base in self.names(member.of, level):
            if base in NAMESPACES:
                found.append(name)
            elif name in ("__dict__", "default"):
                found.append(base)
            elif not base.startswith("#"):
                found.append(f"{base}.{name}")
        return found

    def _call(self, call: Call, level: int) -> Iterable[str]:
        callees = self.names(call.of, level)
        found = [f"{name}()" for name in callees if not name.startswith("#")]
        first = call.arguments[0] if call.arguments else None
        if callees & GETTERS and len(call.arguments) > 1:
            found += self._member(Member(call.arguments[0], index=call.arguments[1]), level)
        if any(name.endswith((".__getattribute__", ".__getattr__")) for name in callees) and isinstance(
            call.of, Member
        ):
            found += self._member(Member(call.of.of, index=first), level)
        if callees & LOADERS:
            found += [module_name(one.text) for one in self.texts(first, level) if one.whole]
        if callees & PARTIALS and first is not None:
            found += self.names(first, level)
        if "vars" in callees and first is not None:
            found += self.names(first, level)
        if any(name.endswith((".bind", ".promisify", "promisify")) for name in callees):
            bound = first if not any(name.endswith(".bind") for name in callees) else _of(call.of)
            found += self.names(bound, level) if bound is not None else []
        return found

    def _some(self, given: Sequence[T]) -> Sequence[T]:
        self._dropped = self._dropped or len(given) > MAX_MEANINGS
        return given[:MAX_MEANINGS]

    def _items(self, expression: Expression, level: int) -> Items | None:
        if isinstance(expression, Items):
            return expression
        if isinstance(expression, Name) and level <= MAX_LEVELS:
            meanings = expression.scope.meanings(expression.name) or []
            items = [one for one in meanings if isinstance(one, Items)]
            return items[0] if len(items) == 1 else None
        return None

    def _called(self, callee: Expression) -> list[Function]:
        return [self._functions[int(name[1:])] for name in self.names(callee) if name.startswith("#")]

    def _read(self, expression: Expression, level: int) -> Iterable[Known]:
        match expression:
            case Text(text=text):
                return [Known(text[:MAX_TEXT_CHARS], len(text) <= MAX_TEXT_CHARS, Origin.LITERAL)]
            case Joined(parts=parts, mark=mark):
                return self._joined(parts, mark, level)
            case Either(of=of):
                return _preferred([one for part in of for one in self.texts(part, level)])
            case Name():
                return [Known(origin=Origin.OWN)]
            case Parameter(function=function, name=name):
                return self._given(function, name, level)
            case Element(of=of):
                inner = self._items(of, level)
                if inner is None or not (inner.of or inner.named):
                    return [_loose(one) for one in self.texts(of, level)]
                parts = (*inner.of, *inner.named.values())
                return [one for part in self._some(parts) for one in self.texts(part, level)]
            case Member():
                return self._text_of_member(expression, level)
            case Call():
                return self._text_of_call(expression, level)
            case _:
                return [ANYTHING]

    def _joined(self, parts: tuple[Expression, ...], mark: str, level: int) -> Iterable[Known]:
        found: tuple[Known, ...] = (Known("", True, Origin.LITERAL),)
        for number, part in enumerate(self._some(parts)):
            if not any(one.whole for one in found):
                break
            longer: list[Known] = []
            for before in found:
                if not before.whole:
                    longer.append(before)
                    continue
                for after in self.texts(part, level):
                    text = before.text + (mark if number and before.text and not before.text.endswith(mark) else "")
                    if mark and after.whole and after.text.startswith("/") and number:
                        text = ""  # an absolute path takes the place of what stands before it
                    origin = after.origin if not before.text or before.origin is Origin.LITERAL else before.origin
                    whole = after.whole and len(text) + len(after.text) <= MAX_TEXT_CHARS
                    self._left -= 1
                    longer.append(Known((text + after.text)[:MAX_TEXT_CHARS], whole, origin, after.configured))
            found = _distinct(longer)
        return found

    def _given(self, function: Function, name: str, level: int) -> Iterable[Known]:
        if function.handles and name not in SELVES:
            return [Known(origin=Origin.INPUT)]
        if name not in function.parameters:
            return [ANYTHING]
        place = function.parameters.index(name) - (1 if function.method else 0)
        calls = self._calls.get(function, [])
        found: list[Known] = []
        for call in self._some(calls):
            if name in call.named:
                found += self.texts(call.named[name], level)
            elif 0 <= place < len(call.arguments):
                found += self.texts(call.arguments[place], level)
            elif name in function.defaults:
                found += self.texts(function.defaults[name], level)
            else:
                found.append(ANYTHING)
        if not calls and name in function.defaults:
            found += [one for one in self.texts(function.defaults[name], level) if one.text]
        return found or [ANYTHING]

    def _text_of_member(self, member: Member, level: int) -> Iterable[Known]:
        if isinstance(member.of, Name) and member.of.name in SELVES and member.name in self._program.attributes:
            meanings = self._program.attributes[member.name]
            return _preferred([one for part in self._some(meanings) for one in self.texts(part, level)])
        names = self.names(member, level)
        if any(name in OWN for name in names):
            return [Known(origin=Origin.OWN)]
        if any(name.startswith(ENVIRONMENT) for name in names):
            return [Known(configured=True)]
        inner = self._items(member.of, level)
        if inner is not None:
            if member.name in inner.named:
                return self.texts(inner.named[member.name], level)
            if member.index is not None:
                key = self.texts(member.index, level)
                if len(key) == 1 and key[0].whole and key[0].text in inner.named:
                    return self.texts(inner.named[key[0].text], level)
                parts = (*inner.of, *inner.named.values())
                return [one for part in self._some(parts) for one in self.texts(part, level)]
        if member.name in KEEPERS:
            return self.texts(member.of, level)
        before = self.texts(member.of, level)
        return [_loose(one) for one in before if one.origin is not Origin.LITERAL] or [ANYTHING]

    def _text_of_call(self, call: Call, level: int) -> Iterable[Known]:
        names = self.names(call.of, level)
        first = call.arguments[0] if call.arguments else None
        if any(name.startswith(ENVIRONMENT) for name in names):
            default = call.arguments[1] if len(call.arguments) > 1 else call.named.get("default")
            return self.texts(default, level) if default is not None else [Known(configured=True)]
        if any(name.startswith((*OWN_CALLS, *TEMPORARY)) for name in names):
            return [Known(origin=Origin.OWN)]
        if any(name.endswith("urljoin") for name in names) and first is not None:
            return [_loose(one) for one in self.texts(first, level)]
        if names & {"URL", "url.URL"} and len(call.arguments) > 1:
            return [one if "://" in one.text else two for one in self.texts(first, level)
                    for two in self.texts(call.arguments[1], level)]  # fmt: skip
        if names & JOINERS and len(call.arguments) > 1:
            return self._joined(call.arguments, "/", level)
        if names & WRAPPERS and first is not None:
            return self.texts(first, level)
        if isinstance(call.of, Member):
            if call.of.name == "format":
                return [_until_brace(one) for one in self.texts(call.of.of, level)]
            if call.of.name in GROWERS:
                return self._joined((call.of.of, *call.arguments), "/" if call.of.name == "joinpath" else "", level)
            if call.of.name in KEEPERS:
                return self.texts(call.of.of, level)
            if any(one.origin is Origin.INPUT for one in self.texts(call.of.of, level)):
                return [Known(origin=Origin.INPUT)]
        return [ANYTHING]


def _preferred(found: list[Known]) -> list[Known]:
    """*found* without what an operator may have set instead, where the source says what holds if he does not."""
    written = [one for one in found if not one.configured]
    return written if any(one.text or one.origin is not Origin.COMPUTED for one in written) else found


def _distinct(found: Iterable[Known]) -> tuple[Known, ...]:
    """*found*, each once; of too many, the last ones as what they begin with."""
    told = tuple(dict.fromkeys(found))
    rest = told[MAX_MEANINGS - 1 :]
    if len(rest) < 2:
        return told
    origins = {one.origin for one in rest}
    origin = Origin.INPUT if Origin.INPUT in origins else origins.pop() if len(origins) == 1 else Origin.COMPUTED
    prefix = commonprefix([one.text for one in rest])  # noqa: RUF071 - characters are meant, these are no paths
    return (*told[: MAX_MEANINGS - 1], Known(prefix, False, origin, all(one.configured for one in rest)))


def _goes_on_from(expression: Expression, meanings: list[Expression]) -> bool:
    """Whether *expression* begins with the variable of these *meanings*."""
    for _ in range(MAX_DEPTH):
        match expression:
            case Joined(parts=(first, *_)):
                expression = first
            case Member(of=of) | Call(of=of) | Element(of=of):
                expression = of
            case _:
                break
    return isinstance(expression, Name) and expression.scope.meanings(expression.name) is meanings


def _loose(one: Known) -> Known:
    return Known(one.text, False, one.origin, one.configured)


def _until_brace(one: Known) -> Known:
    text, found, _ = one.text.partition("{")
    return Known(text, False, one.origin, one.configured) if found else one


def _of(expression: Expression) -> Expression | None:
    return expression.of if isinstance(expression, Member) else None
