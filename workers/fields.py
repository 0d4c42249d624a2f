"""Where a text can be put into a skill's inputs, and who the inputs say is calling.

Schemas are the publisher's: walked with bounds on depth and number, never trusted to be well formed.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from typing import Any

from msgspec import Struct

MAX_DEPTH = 8
MAX_VISITS = 500
MAX_REQUIRED = 20

Path = tuple[str | int, ...]

# Restrictions that a free text would only be refused by.
_RESTRICTIONS = ("enum", "const", "pattern", "format", "contentEncoding")
_IDENTITY = frozenset(
    {
        *("user", "username", "userid", "tenant", "tenantid", "session", "sessionid", "account", "accountid"),
        *("customer", "customerid", "client", "clientid", "caller", "callerid", "organisation", "organization"),
        *("org", "workspace", "conversation", "thread", "principal", "owner"),
    }
)
_URL_FORMATS = frozenset({"uri", "url", "iri", "uri-reference", "iri-reference"})
_SCALARS = frozenset({"string", "integer", "number"})
_IDENTIFIER = frozenset({"id", "name", "key", "uid", "uuid"})
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


class Leaf(Struct, frozen=True, kw_only=True):
    """One scalar input: its own *schema* and its *example*, None where there is none."""

    path: Path
    schema: dict[str, Any]
    example: Any = None

    @property
    def name(self) -> str:
        """The path in words, e.g. ``filters.query`` or ``items[0].text``."""
        text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.path)
        return text.removeprefix(".")

    @property
    def kinds(self) -> tuple[str, ...]:
        """The declared JSON types; where none is declared, that of the example."""
        return _kinds(self.schema) or (("string",) if isinstance(self.example, str) else ())

    @property
    def max_chars(self) -> int | None:
        """The length that the input declares to take, None where it declares none."""
        limit = self.schema.get("maxLength")
        return limit if isinstance(limit, int) else None

    @property
    def is_free_text(self) -> bool:
        """Whether it takes any text."""
        return "string" in self.kinds and not any(word in self.schema for word in _RESTRICTIONS)

    @property
    def is_url(self) -> bool:
        """Whether it takes the address of something on the network."""
        if "string" not in self.kinds or any(word in self.schema for word in ("enum", "const", "pattern")):
            return False
        return self.schema.get("format") in _URL_FORMATS

    def fits(self, kinds: Container[str]) -> bool:
        """Whether it takes a text of one of these *kinds*: ``free_text`` or ``url``."""
        return ("free_text" in kinds and self.is_free_text) or ("url" in kinds and self.is_url)

    @property
    def is_identity(self) -> bool:
        """Whether it says who is calling rather than what is asked."""
        names = [part for part in self.path if isinstance(part, str)]
        words = [{word.lower() for word in _WORDS.findall(name)} for name in names[-2:]]
        if not words or not words[-1]:
            return False
        own = words[-1]
        if own & _IDENTITY and own <= _IDENTITY | _IDENTIFIER:
            return True
        return len(words) > 1 and own <= _IDENTIFIER and bool(words[0] & _IDENTITY)


def leaves(schema: Mapping[str, Any], example: Mapping[str, Any]) -> list[Leaf]:
    """Every scalar input, nested ones too, in declared order; of a list the first item."""
    found: dict[Path, Leaf] = {}
    for leaf in _Walk(schema).leaves(schema, example, (), 0):
        # Of several branches the one that takes any text says where a text may go.
        if leaf.path not in found or (leaf.is_free_text and not found[leaf.path].is_free_text):
            found[leaf.path] = leaf
    return list(found.values())


def place(inputs: Mapping[str, Any], path: Path, value: Any, schema: Mapping[str, Any]) -> dict[str, Any]:
    """*inputs* with *value* at *path*; an object that is missing on the way gets what it requires."""
    placed: dict[str, Any] = _Walk(schema).put(dict(inputs), path, value, schema)
    return placed


class _Walk:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._left = MAX_VISITS

    def leaves(self, schema: Any, example: Any, path: Path, depth: int) -> Iterator[Leaf]:
        self._left -= 1
        if self._left < 0 or depth > MAX_DEPTH:
            return
        schema = self._resolved(schema)
        for word in ("allOf", "anyOf", "oneOf"):
            for branch in _listed(schema, word):
                yield from self.leaves(branch, example, path, depth + 1)
        kinds = _kinds(schema)
        if "object" in kinds or "properties" in schema or isinstance(example, dict):
            declared, given = _members(schema), example if isinstance(example, dict) else {}
            for name in [*declared, *(name for name in given if name not in declared)]:
                yield from self.leaves(declared.get(name), given.get(name), (*path, name), depth + 1)
        elif "array" in kinds or isinstance(example, list):
            first = example[0] if isinstance(example, list) and example else None
            yield from self.leaves(schema.get("items"), first, (*path, 0), depth + 1)
        if path and (set(kinds) & _SCALARS or (not kinds and isinstance(example, str | int | float))):
            yield Leaf(path=path, schema=schema, example=example)

    def put(self, value: Any, path: Path, new: Any, schema: Any) -> Any:
        if not path:
            return new
        schema = self._resolved(schema)
        part, rest = path[0], path[1:]
        if isinstance(part, int):
            items = list(value) if isinstance(value, list) else []
            first = items[0] if items else None
            return [self.put(first, rest, new, schema.get("items")), *items[1:]]
        inner = dict(value) if isinstance(value, dict) else self._required(schema, 0)
        inner[part] = self.put(inner.get(part), rest, new, _members(schema).get(part))
        return inner

    def _required(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        declared = _members(schema)
        names = [name for name in _listed(schema, "required") if isinstance(name, str)][:MAX_REQUIRED]
        return {name: self._smallest(declared.get(name), depth + 1) for name in names}

    def _smallest(self, schema: Any, depth: int) -> Any:
        """A value that an ordinary schema accepts."""
        self._left -= 1
        if self._left < 0:
            return None
        schema = self._resolved(schema)
        if "const" in schema:
            return schema["const"]
        allowed = _listed(schema, "enum")
        if allowed:
            return allowed[0]
        kinds = _kinds(schema)
        if "object" in kinds:
            return self._required(schema, depth) if depth <= MAX_DEPTH else {}
        if "integer" in kinds or "number" in kinds:
            least = schema.get("minimum", 1)
            return least if isinstance(least, int | float) else 1
        if "boolean" in kinds:
            return False
        return [] if "array" in kinds else "text"

    def _resolved(self, schema: Any) -> dict[str, Any]:
        """*schema*, its references into the same document followed."""
        for _ in range(MAX_DEPTH):
            reference = schema.get("$ref") if isinstance(schema, dict) else None
            if not isinstance(reference, str) or not reference.startswith("#/"):
                break
            found: Any = self._root
            for part in reference[2:].split("/")[:MAX_DEPTH]:
                name = part.replace("~1", "/").replace("~0", "~")
                found = found.get(name) if isinstance(found, Mapping) else None
            schema = found
        return schema if isinstance(schema, dict) else {}


def _kinds(schema: Mapping[str, Any]) -> tuple[str, ...]:
    kind = schema.get("type")
    return tuple(word for word in (kind if isinstance(kind, list) else [kind]) if isinstance(word, str))


def _listed(schema: Mapping[str, Any], word: str) -> list[Any]:
    value = schema.get(word)
    return value if isinstance(value, list) else []


def _members(schema: Mapping[str, Any]) -> dict[str, Any]:
    value = schema.get("properties")
    return value if isinstance(value, dict) else {}
