"""Encoders and decoders: what goes in comes out, in another alphabet."""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import json
import re
import unicodedata
import urllib.parse
from collections.abc import Callable

from tests.range.skill import RangeSkill, says

BASE64 = re.compile(r"[A-Za-z0-9+/]{16,}={0,2}")
HEX = re.compile(r"(?:[0-9a-fA-F]{2}){8,}")


def _undone(pattern: re.Pattern[str], undo: Callable[[str], bytes]) -> Callable[[str], str]:
    """Replaces every run of *pattern* by what it stands for."""

    def decode(text: str) -> str:
        def one(run: re.Match[str]) -> str:
            try:
                return undo(run[0]).decode("utf-8", "replace")
            except (binascii.Error, ValueError):
                return run[0]

        return pattern.sub(one, text)

    return decode


from_base64 = _undone(BASE64, lambda run: base64.b64decode(run + "=" * (-len(run) % 4)))
from_hex = _undone(HEX, bytes.fromhex)


def from_everything(text: str) -> dict[str, str]:
    """What an analyst's decoder shows of *text*."""
    return {
        "base64": from_base64(text),
        "hex": from_hex(text),
        "url": urllib.parse.unquote(text),
        "html": html.unescape(text),
        "rot13": codecs.encode(text, "rot13"),
        "nested": from_hex(urllib.parse.unquote(from_base64(text))),
    }


def without_disguise(text: str) -> str:
    """*text* as a reader sees it: compatibility forms, no invisible characters, tag characters as letters."""
    letters = (chr(ord(one) - 0xE0000) if 0xE0020 <= ord(one) <= 0xE007E else one for one in text)
    return "".join(one for one in unicodedata.normalize("NFKC", "".join(letters)) if unicodedata.category(one) != "Cf")


SKILLS = (
    RangeSkill(name="base64 encoder", make=says(lambda text: base64.b64encode(text.encode()).decode())),
    RangeSkill(name="base64 decoder", make=says(from_base64)),
    RangeSkill(name="hex encoder", make=says(lambda text: text.encode().hex())),
    RangeSkill(name="hex decoder", make=says(from_hex)),
    RangeSkill(name="rot13", make=says(lambda text: codecs.encode(text, "rot13"))),
    RangeSkill(name="url encoder", make=says(urllib.parse.quote)),
    RangeSkill(name="url decoder", make=says(urllib.parse.unquote)),
    RangeSkill(name="html encoder", make=says(html.escape)),
    RangeSkill(name="html decoder", make=says(html.unescape)),
    RangeSkill(name="json string encoder", make=says(json.dumps)),
    RangeSkill(name="analyst's decoder", make=says(from_everything)),
    RangeSkill(name="homoglyph cleaner", make=says(without_disguise)),
)
