"""YAML read as JSON would be: no aliases, no duplicate keys, no dates, nothing unbounded.

PyYAML alone keeps the last of two equal keys and lets an alias stand for megabytes; either could change an attack
without a word. Its events are read here rather than its nodes: its composer recurses in C, and some thousands of
brackets end the process.
"""

from __future__ import annotations

import math
from typing import Any

import yaml

MAX_BYTES = 65_536
MAX_DEPTH = 12
MAX_VALUES = 2_000

_Loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SCALARS = {f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null")}


class YamlError(Exception):
    """A document that is not such YAML: the JSON *pointer* of the place, what was *expected* and *found*."""

    def __init__(self, pointer: str, expected: str, found: str) -> None:
        super().__init__(f"at {pointer or 'the document'}: expected {expected}, found {found}")
        self.pointer = pointer
        self.expected = expected
        self.found = found


def loads(data: bytes) -> Any:
    """The one document in *data*, as JSON types.

    Raises:
        YamlError: If it is not UTF-8, not YAML, or beyond the bounds above.
    """
    if len(data) > MAX_BYTES:
        raise YamlError("", f"at most {MAX_BYTES} bytes", "more")
    try:
        loader = _Loader(data.decode("utf-8"))
        try:
            return _Reader(loader).document()
        finally:
            loader.dispose()
    except UnicodeDecodeError as error:
        raise YamlError("", "UTF-8", f"byte 0x{data[error.start]:02x} at offset {error.start}") from None
    except yaml.YAMLError as error:
        raise YamlError("", "YAML", " ".join(str(error).split())[:200]) from None


class _Reader:
    """Turns events into plain values."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader
        self._values = 0

    def document(self) -> Any:
        self._loader.get_event()  # the stream's start
        if self._loader.check_event(yaml.StreamEndEvent):
            return None
        self._loader.get_event()  # the document's start
        value = self._value("", 0)
        self._loader.get_event()  # and its end
        if not self._loader.check_event(yaml.StreamEndEvent):
            raise YamlError("", "one document", "another one")
        return value

    def _value(self, pointer: str, depth: int) -> Any:
        event = self._loader.get_event()
        self._values += 1
        if isinstance(event, yaml.AliasEvent):
            raise YamlError(pointer, "a value written out", "an alias")
        if self._values > MAX_VALUES:
            raise YamlError(pointer, f"at most {MAX_VALUES} values", "more")
        if depth > MAX_DEPTH:
            raise YamlError(pointer, f"at most {MAX_DEPTH} levels", "more")
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, pointer)
        if event.tag is not None:
            raise YamlError(pointer, "no tag", str(event.tag)[:80])
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(pointer, depth)
        return self._sequence(pointer, depth)

    def _mapping(self, pointer: str, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not self._loader.check_event(yaml.MappingEndEvent):
            key = self._value(pointer, depth + 1)
            if not isinstance(key, str):
                raise YamlError(pointer, "text as a key", repr(key)[:80])
            place = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
            if key in found:
                raise YamlError(place, "each key once", "it a second time")
            found[key] = self._value(place, depth + 1)
        self._loader.get_event()
        return found

    def _sequence(self, pointer: str, depth: int) -> list[Any]:
        found: list[Any] = []
        while not self._loader.check_event(yaml.SequenceEndEvent):
            found.append(self._value(f"{pointer}/{len(found)}", depth + 1))
        self._loader.get_event()
        return found

    def _scalar(self, event: yaml.ScalarEvent, pointer: str) -> Any:
        tag = event.tag
        if tag is None or tag == "!":
            tag = self._loader.resolve(yaml.ScalarNode, event.value, event.implicit)
        if tag not in _SCALARS:
            raise YamlError(pointer, "text, a number, true, false or null", tag.rpartition(":")[2][:80])
        try:
            value = self._loader.construct_object(yaml.ScalarNode(tag, event.value))
        except (ValueError, KeyError) as error:  # e.g. more digits than an integer may have, or `!!bool maybe`
            raise YamlError(pointer, f"a value of {tag.rpartition(':')[2]}", type(error).__name__) from None
        if isinstance(value, float) and not math.isfinite(value):
            raise YamlError(pointer, "a finite number", str(value))
        if isinstance(value, int) and abs(value) >= 2**53:
            raise YamlError(pointer, "a whole number below 2^53", "a larger one")
        return value
