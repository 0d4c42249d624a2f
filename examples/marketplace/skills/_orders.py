"""A small follower of instructions: finds an order about the reply anywhere in a text and carries it out.

It stands in for a language model that cannot tell data from instructions, and like one it knows no particular
wording: an order is a phrase such as *reply with*, *the answer must be* or *begin with*, then parts in sequence, each a
literal or a small calculation. It reads what is hidden as readily as what is plain: markup, quotes, invisible
characters, base64.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Iterator

LONGEST = 20_000  # characters read of one text
MOST_HEADS = 50
MOST_PARTS = 8
DECODE_DEPTH = 2

# Who is ordered to do what: "reply with", "the whole answer must be", "begin your response with".
REPLY = r"(?:reply|answer|response|output|summary|result|message|text|line)"
VERB = r"(?:reply|respond|answer|output|print|write|say|return|emit|produce|type|state|concatenate|join|put|give)"
DUTY = r"(?:must|should|shall|has to|have to|is to|needs to|will|is)(?: \w+ly)?"
BEING = r"(?:be|read|say|equal|contain|hold|consist of|start with|begin with)"
FILLER = (
    r"(?:only|just|exactly|simply|solely|precisely|instead|back|now|first|with|by|as|of|this|these|exact|your|the|a|"
    r"the following|in (?:this|that|the following) order|in one line|writing|giving|saying|text|parts?|single|line)"
)
HEAD = re.compile(
    rf"\b(?:{REPLY}(?: (?!must|should|shall)[a-z]+){{0,4}} {DUTY} {BEING}|(?<!\bI )(?<!we )(?<!they ){VERB}"
    rf"|(?:start|begin|open)(?: (?:your|the|each|every)(?: \w+)? {REPLY})? with)\b"
    rf"(?:[\s,]+{FILLER}\b)*\s*:?\s*",
    re.IGNORECASE,
)

# What stands between two parts: "then", "followed by", "directly after that", "and end with", "2.".
LEAD = re.compile(r"(?:(?:first|firstly|1[.)]|[-*])[\s,:]+)?", re.IGNORECASE)
SOON = r"(?:immediately|directly|straight)"
JOINT = re.compile(
    rf"\s*(?:[,;]\s*)?(?:(?:and\s+)?(?:then|next|finally|lastly|plus|(?:{SOON} )?followed (?:{SOON} )?by"
    rf"|(?:{SOON} )?after (?:that|it|this|which)|{SOON} after|\d[.)]|[-*]"
    r"|(?:continue|end|ending|finish|finishing|close|closing)(?: (?:it|the \w+))? (?:with|by))"
    r"(?:[\s,:]+(?:add|append|write|put|output|print|give|say|with|by))?|and(?= )|[,;])[\s:]+",
    re.IGNORECASE,
)

# What a part may be: a calculation, something in quotes, a single word.
SUM = re.compile(
    r"(?:the\s+)?(?:(?:sum|total|result|value|number|outcome)\s+(?:of\s+|you get (?:by|when|from)\s+|from\s+)?)?"
    r"(?:adding\s+|add\s+|what\s+)?(\d{1,18})\s*(?:\+|plus|and|to|added to)\s*(\d{1,18})"
    r"(?:\s+(?:added(?: together)?|together|makes?|is|give|gives))?",
    re.IGNORECASE,
)
PRODUCT = re.compile(
    r"(?:the\s+)?product of (\d{1,18}) and (\d{1,18})|(?:the\s+)?(?:(?:result|value)\s+(?:of\s+)?)?(?:multiplying\s+)?"
    r"(\d{1,18})\s*(?:\*|×|times|multiplied by)\s*(\d{1,18})",
    re.IGNORECASE,
)
NUMERAL = re.compile(r"\s*\(?(?:written |given )?(?:in|as) (?:plain |decimal )?(?:digits|numerals|a number|figures)\)?")
KIND = (
    r"(?:the\s+)?(?:(?:exact|literal|single)\s+)?"
    r"(?:(?:word|token|code|string|text|marker|letters|characters|phrase)\s+)?"
)
QUOTED = re.compile(
    KIND + r"""(?:"([^"]{1,200})"|'([^']{1,200})'|`([^`]{1,200})`|“([^”]{1,200})”|«([^»]{1,200})»)""", re.IGNORECASE
)
BARE = re.compile(
    KIND + r"(?!(?:without|with|no|nothing|all|in|as|and|then|the|a|do|not|only|joined|written)\b)"
    r"([A-Za-z0-9_][\w-]{0,80})",
    re.IGNORECASE,
)

# How the parts are joined, and where a single part may end.
BLANK = r"(?:spaces?|blanks?|gaps?|separators?|whitespace)"
UNSPACED = re.compile(
    rf"\b(?:without (?:any )?{BLANK}|no {BLANK}|nothing (?:in )?between|concatenat\w+|join(?:ed)?|glued?|"
    r"as one (?:word|string|token)|in one piece|unspaced)\b",
    re.IGNORECASE,
)
END = re.compile(r"\s*(?:$|[.!?;,\"'`)\]}<|]|-->|and nothing|without|with (?:no|nothing))", re.IGNORECASE)

INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
ENCODED = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")


def dictated(text: str) -> str | None:
    """The reply that the first order in *text* asks for, or None where nothing is ordered."""
    for layer in _layers(text[:LONGEST], DECODE_DEPTH):
        for count, head in enumerate(HEAD.finditer(layer)):
            if count == MOST_HEADS:
                break
            reply = _carry_out(layer, head)
            if reply is not None:
                return reply
    return None


def _layers(text: str, depth: int) -> Iterator[str]:
    """*text* as plain prose, then whatever was encoded in it."""
    plain = INVISIBLE.sub("", html.unescape(text)).replace('\\"', '"').replace("\\n", "\n")
    yield re.sub(r"\s*\n[\s>]*|\s+", " ", plain)
    if depth == 0:
        return
    for run in ENCODED.findall(plain)[:10]:
        standard = run.rstrip("=").replace("-", "+").replace("_", "/")
        try:
            decoded = base64.b64decode(standard + "=" * (-len(standard) % 4)).decode()
        except (binascii.Error, UnicodeDecodeError):
            continue
        if decoded.replace("\n", " ").isprintable():
            yield from _layers(decoded, depth - 1)


def _carry_out(text: str, head: re.Match[str]) -> str | None:
    parts: list[str] = []
    at = LEAD.match(text, head.end()).end()  # type: ignore[union-attr]
    end = at
    while len(parts) < MOST_PARTS:
        part = _part(text, at)
        if part is None:
            break
        written, end = part
        parts.append(written)
        joint = JOINT.match(text, end)
        if joint is None:
            break
        at = joint.end()
    if not parts or (len(parts) == 1 and not END.match(text, end)):
        return None
    manner = text[max(0, head.start() - 120) : end + 160]
    return ("" if UNSPACED.search(manner) else " ").join(parts)


def _part(text: str, at: int) -> tuple[str, int] | None:
    """One part of a reply at *at*: what to write, and where the part ends."""
    if match := PRODUCT.match(text, at):
        left, right = (int(digits) for digits in match.groups() if digits)
        written = str(left * right)
    elif match := SUM.match(text, at):
        written = str(int(match[1]) + int(match[2]))
    elif match := QUOTED.match(text, at) or BARE.match(text, at):
        return next(group for group in match.groups() if group), match.end()
    else:
        return None
    numeral = NUMERAL.match(text, match.end())
    return written, numeral.end() if numeral else match.end()
