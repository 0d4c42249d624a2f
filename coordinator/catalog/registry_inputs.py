"""The inputs of a ``server.json``: values, templates with variables, secrets by reference, arguments of a command.

What only a person could fill in, and has no default, is a rejection that names it.
"""

from __future__ import annotations

import re
from typing import Any

from coordinator.catalog.access import REFERENCE
from coordinator.catalog.fields import Fields
from coordinator.catalog.rejection import Rejected, child, shown

MAX_INPUTS = 100
MAX_CHARS = 4_096

_VARIABLE = re.compile(r"\{([^{}]{1,100})\}")
_SNAKE = re.compile(r"(?<!^)(?=[A-Z])")
_UNFIT = re.compile(r"[^A-Za-z0-9]+")


def spelt(fields: Fields, name: str) -> Any:
    """The member *name*, or what it was called in the older spelling: ``isSecret``, ``is_secret``."""
    value = fields.get(name)
    return fields.get(_SNAKE.sub("_", name).lower()) if value is None else value


def is_secret(fields: Fields) -> bool:
    """Whether the input, or one of its variables, is secret."""
    inner = fields.inner("variables")
    members = [Fields(one, child(inner.pointer, name)) for name, one in inner.value.items()] if inner else []
    return any(spelt(one, "isSecret") is True for one in (fields, *members))


def reference(fields: Fields, template: str, name: str) -> str:
    """``env:NAME`` for the secret that *template*, one variable or nothing, or else *name* stands for.

    Raises:
        Rejected: If the secret itself is there.
    """
    if REFERENCE.fullmatch(template):
        return template
    match = _VARIABLE.fullmatch(template)
    if template and not match:
        expected = "a reference such as {api_key} or env:API_KEY; the secret itself has no place in a manifest"
        raise Rejected(fields.at("value"), expected, "a text (not shown)")
    return f"env:{_environment(match[1] if match else name)}"


def templated(fields: Fields, name: str, template: str | None = None) -> str | None:
    """The value of an input: its ``value``, or its default, with each variable replaced; None where it may be left out.

    Raises:
        Rejected: If it is required, or one of its variables is, and there is no value.
    """
    if template is None:
        template = fields.text("value") or fields.text("default")
        if not template:
            if spelt(fields, "isRequired") is True:
                raise Rejected(fields.at("value"), "a value or a default: nobody can be asked", "nothing")
            return None
    inner = fields.inner("variables")

    def replaced(match: re.Match[str]) -> str:
        if inner is None or inner.get(match[1]) is None:
            if name == "url":
                raise Rejected(fields.at(name), "a value for each variable", shown(match[0]))
            return match[0]
        variable = Fields(inner.get(match[1]), inner.at(match[1]))
        value = variable.text("value") or variable.text("default")
        if not value:
            raise Rejected(variable.pointer, "a value or a default: nobody can be asked", "nothing")
        return value

    value = _VARIABLE.sub(replaced, template)
    if len(value) > MAX_CHARS or "\0" in value:
        raise Rejected(fields.at(name), f"a text of at most {MAX_CHARS:,} characters", "another")
    return value


def arguments(fields: Fields, name: str) -> list[str]:
    """The words of a command line that the list *name* gives, positional and named ones in its order."""
    words: list[str] = []
    for argument in _items(fields, name):
        value = templated(argument, "value")
        if value is not None:
            words += [argument.line("name", required=True)] if argument.line("type") == "named" else []
            words.append(value)
    return words


def variables(fields: Fields, name: str) -> dict[str, str]:
    """The environment variables that the list *name* gives; one that is secret or has no value is a reference."""
    found: dict[str, str] = {}
    for variable in _items(fields, name):
        key = variable.line("name", required=True)
        if not REFERENCE.fullmatch(f"env:{key}"):
            raise Rejected(variable.at("name"), "the name of an environment variable", shown(key))
        required = spelt(variable, "isRequired") is True
        if is_secret(variable):
            if required:
                found[key] = reference(variable, variable.text("value").strip(), key)
        elif variable.get("value") is None and variable.get("default") is None:
            if required:
                found[key] = f"env:{key}"
        elif (value := templated(variable, "value")) is not None:
            found[key] = value
    return found


def _items(fields: Fields, name: str) -> list[Fields]:
    found = name if fields.get(name) is not None else _SNAKE.sub("_", name).lower()
    items = fields.items(found, most=MAX_INPUTS)
    return [Fields(item, child(fields.at(found), index)) for index, item in enumerate(items)]


def _environment(name: str) -> str:
    words = _UNFIT.sub("_", name).strip("_").upper()
    return f"_{words}" if not words or words[0].isdigit() else words
