"""YAML read as JSON: the JSON schema of YAML 1.2 and nothing more.

PyYAML's own constructors follow YAML 1.1 (``no`` is false, ``1:30`` is ninety, a date is no text) and expand merge
keys without bound. So only its event parser is used: aliases share their value instead of copying it, and
`documents.check` counts what they would expand to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

from coordinator.catalog.documents import MAX_DEPTH, members, whole_number
from coordinator.catalog.rejection import Rejected, shown

INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
FLOAT = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
WORDS: dict[str, Any] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
    ".nan": float("nan"), ".inf": float("inf"), "-.inf": float("-inf"),
}  # fmt: skip
TEXT_TAG = "tag:yaml.org,2002:str"


def yaml_values(source: str, *, texts: bool = False) -> Iterator[Any]:
    """The documents in *source* that are not empty, one by one, still unchecked.

    With *texts* every plain word but null is text (in a file of versions 1.10 is not the number 1.1), and there are no
    aliases: so what is read is as large as the file, and no larger.

    Raises:
        Rejected: If it is not YAML, is nested too deep, or uses tags, merge keys or names that are no text.
    """
    events = _events(source)
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            value = _value(next(events), events, {}, MAX_DEPTH + 2, texts)
            if value is not None:
                yield value


def _events(source: str) -> Iterator[yaml.Event]:
    try:
        yield from yaml.parse(source, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "a syntax error"
        raise Rejected("", "YAML", f"{str(problem).removeprefix('found ')}{where}") from None


def _value(event: yaml.Event, events: Iterator[yaml.Event], anchors: dict[str, Any], depth: int, texts: bool) -> Any:
    line = _line(event)
    if depth == 0:
        raise Rejected("", f"at most {MAX_DEPTH} levels of nesting", f"more at line {line}")
    if isinstance(event, yaml.AliasEvent):
        if texts:
            raise Rejected("", "values written out", f"an alias at line {line}")
        if event.anchor not in anchors:
            raise Rejected("", "an alias of an anchor before it", f"{shown(event.anchor)} at line {line}")
        return anchors[event.anchor]
    value: Any
    if isinstance(event, yaml.ScalarEvent):
        value = _scalar(event, line, texts=texts)
    elif isinstance(event, yaml.SequenceStartEvent):
        _refuse_tag(event.tag, line)
        value = []
        while not isinstance(item := next(events), yaml.SequenceEndEvent):
            value.append(_value(item, events, anchors, depth - 1, texts))
    elif isinstance(event, yaml.MappingStartEvent):
        _refuse_tag(event.tag, line)
        pairs = []
        while not isinstance(key := next(events), yaml.MappingEndEvent):
            pairs.append((_name(key), _value(next(events), events, anchors, depth - 1, texts)))
        value = members(pairs)
    else:
        raise Rejected("", "a YAML value", f"something else at line {line}")
    # Known only from its end on: a value that holds its own alias has no JSON reading.
    if event.anchor is not None:
        anchors[event.anchor] = value
    return value


def _scalar(event: yaml.ScalarEvent, line: int, *, texts: bool = False) -> Any:
    text: str = event.value
    plain, _ = event.implicit
    if not plain:
        if event.tag not in (None, "!", TEXT_TAG):
            _refuse_tag(event.tag, line)
        return text
    if text in WORDS and not (texts and WORDS[text] is not None):
        return WORDS[text]
    if texts:
        return text
    if INTEGER.fullmatch(text):
        return whole_number(text)
    return float(text) if FLOAT.fullmatch(text) else text


def _name(event: yaml.Event) -> str:
    line = _line(event)
    if not isinstance(event, yaml.ScalarEvent):
        raise Rejected("", "a text as the name of a member", f"another YAML value at line {line}")
    if event.value == "<<":
        raise Rejected("", "plain members", f"a merge key at line {line}; write the members out")
    _scalar(event, line)
    return str(event.value)


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 0


def _refuse_tag(tag: str | None, line: int) -> None:
    if tag not in (None, "!"):
        raise Rejected("", "values that JSON has", f"the tag {shown(tag)} at line {line}")
