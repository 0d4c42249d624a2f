"""Typed reading of one JSON object: each wrong field is refused where it stands, with what was expected.

A member that is null counts as absent: exporters write out the fields that they do not have.
"""

from __future__ import annotations

from typing import Any

from coordinator.catalog.rejection import Rejected, child, kind, near, shown

MAX_LINE_CHARS = 200
COMPARED = 50  # members that may be the misspelling of a missing one


class Fields:
    """The members of *value*, which stands at *pointer*.

    Raises:
        Rejected: From every method, if a member is not what the method's name says.
    """

    def __init__(self, value: Any, pointer: str, *, expected: str = "an object") -> None:
        if not isinstance(value, dict):
            raise Rejected(pointer, expected, shown(value))
        self.value: dict[str, Any] = value
        self.pointer = pointer

    def at(self, name: str) -> str:
        """The pointer of the member *name*."""
        return child(self.pointer, name)

    def stated(self) -> tuple[str, ...]:
        """The names of the members that are there, sorted."""
        return tuple(sorted(name for name, value in self.value.items() if value is not None))

    def get(self, name: str, expected: str | None = None) -> Any:
        """The member *name*; if it is absent, None, or a rejection where *expected* says that it is required."""
        found = self.value.get(name)
        if found is None and expected is not None:
            if name in self.value:
                raise Rejected(self.at(name), expected, "null")
            others = [other for other in list(self.value)[:COMPARED] if near(other, [name])]
            hint = f"; is {shown(others[0])} meant?" if others else ""
            raise Rejected(self.at(name), expected, f"nothing{hint}")
        return found

    def text(self, name: str, *, required: bool = False) -> str:
        """Any text; absent: empty."""
        value = self.get(name, "a text" if required else None)
        if value is None:
            return ""
        if not isinstance(value, str):
            quote = f"{shown(value)}; put it in quotes" if isinstance(value, int | float) else shown(value)
            raise Rejected(self.at(name), "a text", quote)
        if required and not value.strip():
            raise Rejected(self.at(name), "a text that is not empty", shown(value))
        return value

    def line(self, name: str, *, required: bool = False) -> str:
        """One printable line of at most `MAX_LINE_CHARS`, without blanks around it; absent: empty."""
        value = self.text(name, required=required).strip()
        if len(value) > MAX_LINE_CHARS:
            raise Rejected(self.at(name), f"at most {MAX_LINE_CHARS} characters", shown(value))
        if not value.isprintable():
            raise Rejected(self.at(name), "one line of printable characters", shown(value))
        return value

    def hidden(self, name: str) -> str | None:
        """A text that no message may show."""
        value = self.get(name)
        if value is not None and (not isinstance(value, str) or not value):
            raise Rejected(self.at(name), "a text", f"{kind(value)} (not shown)")
        return value

    def flag(self, name: str, *, default: bool = False) -> bool:
        """True or false."""
        value = self.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise Rejected(self.at(name), "true or false", shown(value))
        return value

    def whole(self, name: str, lowest: int, highest: int) -> int | None:
        """A whole number from *lowest* to *highest*; 5.0 is one."""
        value = self.number(name, lowest, highest)
        if value is not None and value != int(value):
            raise Rejected(self.at(name), f"a whole number from {lowest} to {highest}", shown(value))
        return None if value is None else int(value)

    def number(self, name: str, lowest: float, highest: float) -> float | None:
        """A number from *lowest* to *highest*."""
        value = self.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not lowest <= value <= highest:
            raise Rejected(self.at(name), f"a number from {lowest:,} to {highest:,}", shown(value))
        return value

    def items(self, name: str, *, most: int, required: bool = False) -> list[Any]:
        """A list of at most *most* values; absent: empty."""
        value = self.get(name, "a list" if required else None)
        if value is None:
            return []
        if not isinstance(value, list):
            raise Rejected(self.at(name), "a list", shown(value))
        if len(value) > most:
            raise Rejected(self.at(name), f"a list of at most {most}", shown(value))
        return value

    def texts(self, name: str, *, most: int) -> tuple[str, ...]:
        """A list of texts; absent: empty."""
        values = self.items(name, most=most)
        for index, value in enumerate(values):
            if not isinstance(value, str) or not value.strip():
                raise Rejected(child(self.at(name), index), "a text that is not empty", shown(value))
        return tuple(values)

    def inner(self, name: str) -> Fields | None:
        """An object of its own; absent: None."""
        value = self.get(name)
        return None if value is None else Fields(value, self.at(name))

    def required(self, name: str) -> Fields:
        """An object of its own that must be there."""
        return Fields(self.get(name, "an object"), self.at(name))
