"""The encodings in which a text can be wrapped, and what a text holds when they are undone.

Everything here takes text of others: no function raises on any text, and none gives more than it was given times three.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import ipaddress
import re
import urllib.parse
from collections.abc import Callable, Iterator

import msgspec

MIN_RUN = 16
MAX_RUNS = 50

_BASE64_RUN = re.compile(rf"[A-Za-z0-9+/_-]{{{MIN_RUN},}}")
_HEX_RUN = re.compile(rf"(?:(?:0x|\\x|%)?[0-9A-Fa-f]{{2}}[ :,-]?){{{MIN_RUN // 2},}}")
_HEX_NOISE = re.compile(r"0x|\\x|[^0-9A-Fa-f]")
_SPACE = re.compile(r"\s+")
_TAG = re.compile(r"<[A-Za-z/!][^<>]{0,500}>")
_NAMED = re.compile(r"^(.*?\{[A-Za-z_][\w.\[\]]{0,200})\}.*", re.DOTALL)
_SCHEME = re.compile(r"^\s*[a-z][a-z0-9+.-]{0,20}://", re.IGNORECASE)
_IPV4_URL = re.compile(r"(https?://)([0-9.]{7,15})(?=[:/]|$)")

# Letters of other scripts that look like Latin ones, and digits that stand for letters.
_LOOK_ALIKE = str.maketrans("aceiopxyABCEHIKMOPTX", "асеіорхуАВСЕНІКМОРТХ")
_LEET = str.maketrans("aeiostAEIOST", "431057431057")
_ZERO_WIDTH = "\u200b"

ENCODERS: dict[str, Callable[[str], str]] = {
    "base64": lambda text: base64.b64encode(text.encode("utf-8", "replace")).decode("ascii"),
    "hex": lambda text: text.encode("utf-8", "replace").hex(),
    "url": lambda text: "".join(f"%{byte:02X}" for byte in text.encode("utf-8", "replace")),
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "json": lambda text: "".join(f"\\u{unit:04x}" for unit in _utf16(text)),
    "tags": lambda text: "".join(chr(0xE0000 + ord(letter)) for letter in text if " " <= letter <= "~"),
    "zero_width": _ZERO_WIDTH.join,
    "homoglyphs": lambda text: text.translate(_LOOK_ALIKE),
    "leet": lambda text: text.translate(_LEET),
    "folder": lambda path: path[: max(path.rfind("/"), path.rfind("\\")) + 1],
    "named": lambda text: _NAMED.sub(r"\1", text),
    "host": lambda url: _SCHEME.sub("", url).split("/")[0],
    "without_scheme": lambda url: _SCHEME.sub("", url),
    "decimal_host": lambda url: _host(url, lambda address: str(int(address))),
    "mapped_host": lambda url: _host(url, lambda address: f"[::ffff:{address}]"),
}
# What a skill may do to its input by itself: the others are made to hide a text, and no tool puts them on.
COMMON = ("base64", "hex", "url", "rot13", "json")


def _host(url: str, spelt: Callable[[ipaddress.IPv4Address], str]) -> str:
    """*url* with its IPv4 address spelt otherwise; any other *url* as it is."""
    match = _IPV4_URL.match(url)
    try:
        return f"{match[1]}{spelt(ipaddress.IPv4Address(match[2]))}{url[match.end() :]}" if match else url
    except ipaddress.AddressValueError:
        return url


def decoded(text: str) -> Iterator[tuple[str, str]]:
    """Each text that *text* holds in one of the encodings, with the encoding's name."""
    for run in _runs(_BASE64_RUN, text):
        yield from _named("base64", _from_base64(run))
    for run in _runs(_HEX_RUN, text):
        yield from _named("hex", _from_hex(run))
    if "%" in text:
        yield from _changed("url", text, urllib.parse.unquote(text, errors="replace"))
    if "&" in text:
        yield from _changed("html", text, html.unescape(text))
    if "<" in text:
        yield from _changed("markup", text, _TAG.sub("", text))
    if "\\" in text or text[:1] == '"':
        yield from _named("json", _from_json_string(text))
    yield from _changed("rot13", text, codecs.encode(text, "rot13"))


def _utf16(text: str) -> Iterator[int]:
    data = text.encode("utf-16-be", "replace")
    return (data[at] << 8 | data[at + 1] for at in range(0, len(data), 2))


def _runs(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    for count, match in enumerate(pattern.finditer(text)):
        if count == MAX_RUNS:
            return
        yield match[0]
    # An encoder may break its lines.
    whole = _SPACE.sub("", text).rstrip("=")
    if whole != text.rstrip("=") and pattern.fullmatch(whole):
        yield whole


def _named(name: str, text: str | None) -> Iterator[tuple[str, str]]:
    if text:
        yield name, text


def _changed(name: str, before: str, after: str) -> Iterator[tuple[str, str]]:
    if after != before:
        yield name, after


def _from_base64(run: str) -> str | None:
    plain = run.replace("-", "+").replace("_", "/")
    plain = plain[: len(plain) - 1] if len(plain) % 4 == 1 else plain
    try:
        return _text(base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True))
    except (binascii.Error, ValueError):
        return None


def _from_hex(run: str) -> str | None:
    digits = _HEX_NOISE.sub("", run)
    try:
        return _text(bytes.fromhex(digits[: len(digits) // 2 * 2]))
    except ValueError:
        return None


def _from_json_string(text: str) -> str | None:
    quoted = text if text[:1] == '"' else f'"{text}"'
    try:
        return msgspec.json.decode(quoted.encode("utf-8", "replace"), type=str)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _text(data: bytes) -> str | None:
    """*data* as text, or None where it is none: a random run of letters decodes to noise."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if sum(letter.isprintable() or letter.isspace() for letter in text) >= 0.9 * len(text) else None
