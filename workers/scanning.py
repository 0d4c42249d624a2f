"""Everything that came back, in every form in which a reader could find something in it.

Bounded by the work it does rather than by a clock: a clock would let the machine's load change a verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, AnyStr

import msgspec

from workers.encodings import decoded
from workers.folding import fold, squeeze, squeeze_folded
from workers.observation import Answered, Observation, Value

MAX_BODY_BYTES = 65_536
MIN_CODES = 8
MAX_LEAVES = 2_000
MAX_VIEWS = 4_000
MAX_CHARS = 500_000
DEPTH = 2
QUOTE_CHARS = 80


class View:
    """One text that came back. *where* says how it was read, e.g. ``body /answer > base64``."""

    def __init__(self, where: str, text: str, depth: int) -> None:
        self.where = where
        self.text = text
        self.depth = depth

    @cached_property
    def folded(self) -> str:
        """The text as `folding.fold` gives it."""
        return fold(self.text)

    @cached_property
    def squeezed(self) -> str:
        """The text as `folding.squeeze` gives it."""
        return squeeze_folded(self.folded)

    def quote(self, around: str = "") -> str:
        """At most `QUOTE_CHARS` of the text, from a little before *around* on."""
        text = " ".join(self.text.split())
        start = max(0, text.casefold().find(around.casefold()) - 20) if around else 0
        cut = text[start : start + QUOTE_CHARS]
        return f"{'…' if start else ''}{cut}{'…' if start + QUOTE_CHARS < len(text) else ''}"


class Scan:
    """The views of one observation; none where nothing came back. *cut* tells that some were left out."""

    def __init__(self, observation: Observation) -> None:
        self.views: list[View] = []
        self.cut = False
        if isinstance(observation, Answered):
            self._read(observation)

    def find(self, needle: str) -> View | None:
        """The first view that holds *needle*, whatever stands between its letters and digits."""
        wanted = squeeze(needle)
        return next((view for view in self.views if wanted in view.squeezed), None) if wanted else None

    def texts(self) -> Iterator[View]:
        """What the skill said itself: the body and its leaves, not headers and not what decodes from them."""
        return (view for view in self.views if view.depth == 0 and view.where.startswith("body"))

    def _read(self, answered: Answered) -> None:
        seen: set[str] = set()
        work = 0
        layer = list(_first(answered))
        for depth in range(DEPTH + 1):
            following: list[tuple[str, str]] = []
            for where, text in layer:
                if not text or text in seen:
                    continue
                work += len(text)
                if work > MAX_CHARS or len(self.views) >= MAX_VIEWS:
                    self.cut = True
                    return
                seen.add(text)
                self.views.append(View(where, text, depth))
                if depth < DEPTH:
                    following += [(f"{where} > {name}", inner) for name, inner in decoded(text)]
            layer = following


def _first(answered: Answered) -> Iterator[tuple[str, str]]:
    yield "status", str(answered.status)
    for name, value in answered.headers[:100]:
        yield f"header {name[:40]}", value[:8_192]
    leaves = list(_leaves(answered))
    yield from ((where, _ends(text)) for where, text in leaves)
    if len(leaves) > 1:
        # A text can be dealt out over several members. Nothing is said in this one, so it does not begin with "body".
        yield "members joined", _ends("".join(text for where, text in leaves if not where.endswith(" key")))
    yield "body", _ends(answered.body).decode("utf-8", "replace")


def _ends(long: AnyStr) -> AnyStr:
    """The first and the last half of what is read of one text, so that no filling hides what stands behind it."""
    half = MAX_BODY_BYTES // 2
    return long if len(long) <= 2 * half else long[:half] + long[-half:]


def _leaves(answered: Answered) -> Iterator[tuple[str, str]]:
    """Every string of the answer's JSON, keys too, with its place."""
    document: Any
    if isinstance(answered.reply, Value):
        document = answered.reply.value
    else:
        try:
            document = msgspec.json.decode(answered.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return
    waiting: list[tuple[str, Any]] = [("body ", document)]
    taken = 0
    while waiting and taken < MAX_LEAVES:
        where, value = waiting.pop()
        taken += 1
        if isinstance(value, str):
            yield where, value
        elif isinstance(value, dict):
            for key, inner in reversed(list(value.items())[:MAX_LEAVES]):
                waiting += [(f"{where[:200]}/{str(key)[:40]}", inner), (f"{where[:200]} key", key)]
        elif isinstance(value, list | tuple):
            if codes := _spelt(value):
                yield f"{where[:200]} codes", codes
            waiting += [(f"{where[:200]}/{index}", inner) for index, inner in enumerate(value[:MAX_LEAVES])][::-1]


def _spelt(numbers: Sequence[Any]) -> str:
    """The text whose letters stand in *numbers* by their codes; empty where they are no such row."""
    codes = numbers[:MAX_BODY_BYTES]
    is_text = len(codes) >= MIN_CODES and all(type(one) is int and 32 <= one < 0xD800 for one in codes)
    return "".join(map(chr, codes)) if is_text else ""
