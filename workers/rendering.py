"""Templates of the attack corpus, filled in.

A placeholder is ``{name}``, ``{name|encoding}`` (also several encodings, the first innermost) or, in a witness,
``{x+y}`` or ``{x*y}``. Any other brace is text, so that payloads full of braces need no escaping.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from workers.canaries import NAMES, NUMBERS, Canaries
from workers.encodings import ENCODERS
from workers.faults import BadJob

MAX_CHARS = 65_536

_PLACEHOLDER = re.compile(r"\{([a-z][a-z_]*)(?:([+*])([a-z][a-z_]*)|((?:\|[a-z0-9_]+)+))?\}")


def render(template: str, canaries: Canaries, pieces: Mapping[str, str] | None = None) -> str:
    """*template* with every placeholder filled in; *pieces* are texts that are ready.

    Raises:
        BadJob: If it names something that does not exist, or grows beyond `MAX_CHARS`.
    """
    ready = pieces or {}

    def fill(match: re.Match[str]) -> str:
        name, sign, other, encodings = match.groups()
        if sign:
            return str(_compute(canaries, name, sign, other))
        if name not in ready and name not in NAMES:
            raise BadJob(f"no placeholder called {name!r}; there are: {', '.join(sorted({*NAMES, *ready}))}")
        text = ready[name] if name in ready else canaries.value(name)
        for encoding in (encodings or "").split("|")[1:]:
            if encoding not in ENCODERS:
                raise BadJob(f"no encoding called {encoding!r}; there are: {', '.join(sorted(ENCODERS))}")
            text = ENCODERS[encoding](text)
            if len(text) > MAX_CHARS:
                raise BadJob(f"a text of {len(text)} characters; at most {MAX_CHARS} are sent")
        return text

    text = _PLACEHOLDER.sub(fill, template)
    if len(text) > MAX_CHARS:
        raise BadJob(f"a text of {len(text)} characters; at most {MAX_CHARS} are sent")
    return text


def computed(template: str, canaries: Canaries) -> list[tuple[str, bool]]:
    """The parts of the witness *template* in order, each with whether it had to be computed.

    Raises:
        BadJob: If it names something that does not exist.
    """
    parts = []
    end = 0
    for match in _PLACEHOLDER.finditer(template):
        if template[end : match.start()]:
            parts.append((template[end : match.start()], False))
        parts.append((render(match[0], canaries), match[2] is not None))
        end = match.end()
    if template[end:]:
        parts.append((template[end:], False))
    return parts


def _compute(canaries: Canaries, name: str, sign: str, other: str) -> int:
    if name not in NUMBERS or other not in NUMBERS:
        raise BadJob(f"{name!r} and {other!r} are not both operands; there are: {', '.join(NUMBERS)}")
    left, right = canaries.number(name), canaries.number(other)
    return left + right if sign == "+" else left * right
