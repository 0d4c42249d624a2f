"""Whether a text could come from another without obeying it.

The derivability closure of what was sent: case, reversal, the encodings on and off, and its words joined in any order.
What lies inside is an echo, whoever made it; what lies outside was computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from workers.encodings import COMMON, ENCODERS, decoded
from workers.folding import squeeze, tokens

MAX_SENT_CHARS = 65_536
MAX_FORMS = 200
MAX_ASKED_CHARS = 400
# Encodings are full of digits: anything shorter than this stands in one of them by chance.
MIN_ENCODED_CHARS = 12


# Digits of hex, of URL and of JSON escapes, also after rot13.
_ESCAPED = re.compile(rf"[0-9A-Fa-fn-sN-SuUhH\\%]{{{2 * MIN_ENCODED_CHARS},}}")


class Closure:
    """The closure of the texts *sent*. Worked out when first asked, since clean answers never ask."""

    def __init__(self, sent: Iterable[str]) -> None:
        self._sent = [text[:MAX_SENT_CHARS] for text in sent]

    def yields(self, text: str) -> bool:
        """Whether *text* (letters and digits; the rest is ignored) can be derived from what was sent."""
        asked = squeeze(text)
        if not asked or len(asked) > MAX_ASKED_CHARS:
            return False
        if len(asked) < MIN_ENCODED_CHARS:
            return any(asked in form for form in self._read) or self._joined(asked)
        return any(asked in form for form in (*self._plain, *self._encoded)) or self._joined(asked)

    def _joined(self, asked: str) -> bool:
        """Whether *asked* is a row of sent words."""
        usable = [word for word in self._words if word in asked]
        reachable = {0}
        for start in range(len(asked)):
            if start in reachable:
                reachable.update(start + len(word) for word in usable if asked.startswith(word, start))
        return len(asked) in reachable

    @cached_property
    def _readable(self) -> tuple[str, ...]:
        """What was sent, decoded to a depth of two, and all of that backwards."""
        found = dict.fromkeys(self._sent)
        layer = list(found)
        for _ in range(2):
            layer = [text for outer in layer for _, text in decoded(outer) if text not in found]
            found.update(dict.fromkeys(layer))
            if len(found) > MAX_FORMS:
                break
        forward = list(found)[:MAX_FORMS]
        return (*forward, *(text[::-1] for text in forward))

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(word for text in self._readable for word in tokens(text))

    @cached_property
    def _plain(self) -> tuple[str, ...]:
        return tuple(squeeze(text) for text in self._readable)

    @cached_property
    def _read(self) -> tuple[str, ...]:
        """The same without runs of escapes, each a layer of a wrapping that has several."""
        return tuple(squeeze(_ESCAPED.sub(" ", text)) for text in self._readable)

    @cached_property
    def _encoded(self) -> tuple[str, ...]:
        cased = {form for text in self._sent for form in (text, text.upper(), text.lower(), text[::-1])}
        return tuple(squeeze(encode(text)) for text in cased for encode in map(ENCODERS.get, COMMON) if encode)
