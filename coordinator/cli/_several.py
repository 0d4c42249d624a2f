"""Options that take several values in a row, as in ``--format json html``, beside the repeated ``--format json``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click


class Several(click.Option):
    """An option that may be repeated, and that takes in the words after its first value.

    *among* are the values there are, and the row ends at any other word; None where anything but an option belongs
    to it, which is for commands without arguments only.
    """

    def __init__(self, *args: Any, among: Sequence[str] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "multiple": True})
        self.among = among

    def takes(self, word: str) -> bool:
        """Whether *word*, after a value, is one more value."""
        return not word.startswith("-") and (self.among is None or word in self.among)


class SeveralCommand(click.Command):
    """A command with such options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Spell the rows out as repeated options, then parse as usual."""
        return super().parse_args(ctx, list(self._spelt_out(args)))

    def _spelt_out(self, args: Sequence[str]) -> Iterator[str]:
        options = {name: one for one in self.params if isinstance(one, Several) for name in one.opts}
        row: str | None = None
        first = False
        for index, word in enumerate(args):
            if word == "--":
                yield from args[index:]
                return
            if row is not None and not first and options[row].takes(word):
                yield row
            elif row is not None and not first:
                row = None
            first = False
            yield word
            if row is None and word in options:
                row, first = word, True
