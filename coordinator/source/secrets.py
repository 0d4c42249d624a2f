"""Secrets committed in a source: keys of known shapes, private keys, and texts as random as a password under its name.

What is shown of one is its kind and its first four characters. Examples and placeholders are none: a key that says so
of itself, one that repeats or counts, one that a check sum disproves, and whatever stands in tests or documents.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import re2
from msgspec import Struct

from coordinator.source.hosts import host_of, is_here

MAX_FOUND = 100
BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
SHAPES = {
    "an AWS access key": r"\b((?:AKIA|ASIA)[A-Z2-7]{16})\b",
    "a GitHub token": r"\b(gh[pousr]_[A-Za-z0-9]{36})\b",
    "a GitHub fine-grained token": r"\b(github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59})\b",
    "an npm token": r"\b(npm_[A-Za-z0-9]{36})\b",
    "a PyPI token": r"\b(pypi-AgE[A-Za-z0-9_-]{60,400})",
    "a GitLab token": r"\b(glpat-[A-Za-z0-9_-]{20,64})\b",
    "a Slack token": r"\b(xox[abeoprs]-[0-9]{8,16}-[A-Za-z0-9-]{16,200})",
    "a Slack webhook": r"(hooks\.slack\.com/services/T[A-Z0-9]{8,12}/B[A-Z0-9]{8,12}/[A-Za-z0-9]{24})\b",
    "a Stripe live key": r"\b([sr]k_live_[A-Za-z0-9]{24,200})\b",
    "a Google API key": r"\b(AIza[A-Za-z0-9_-]{35})",
    "an OpenAI key": r"\b(sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,120}T3BlbkFJ[A-Za-z0-9_-]{20,120})",
    "an Anthropic key": r"\b(sk-ant-[a-z0-9]{3,8}-[A-Za-z0-9_-]{80,120})",
    "a Hugging Face token": r"\b(hf_[A-Za-z]{34})\b",
    "a SendGrid key": r"\b(SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43})\b",
}
_SHAPES = {kind: re2.compile(pattern) for kind, pattern in SHAPES.items()}
_BLOCK = re2.compile(r"-----BEGIN (?:RSA |EC |DSA |OPENSSH )?PRIVATE KEY-----([A-Za-z0-9+/=\s\\nr\"',]+)-----END")
_LOGIN = re2.compile(
    r"\b[a-z][a-z0-9+]{1,20}://[^\s:/@\"'<>{}$]{1,80}:([^\s:/@\"'<>{}$]{6,120})@([^\s/\"'<>{}$]{3,200})"
)
_NAMED = re2.compile(
    r"(?i)\b[a-z0-9_.-]{0,40}(password|passwd|pwd|secret|token|api_?key|apikey|access_?key|private_?key|auth_?key)"
    r"[a-z0-9_]{0,20}[\"']?\s{0,4}(?::\s{0,4}[a-z]{0,12}\s{0,4}=|[:=])\s{0,4}[\"'`]([^\"'`\s]{12,200})[\"'`]"
)
PLACEHOLDER = re.compile(
    r"example|sample|dummy|placeholder|change.?me|your|insert|replace|redacted|fake|mock|test|demo|foo|bar|xxx|"
    r"todo|here|none|null|secret|password|passwd|token|key-|\.\.\.|<|>|\$\{|\{\{|%\(|\{[a-z_]*\}|abcdef|123456",
    re.IGNORECASE,
)
SHAPE_PLACEHOLDER = re.compile(
    r"example|dummy|placeholder|changeme|your|redacted|fake|xxxx|0000|1111|\*\*\*\*|123456789|abcdefgh|abcd1234",
    re.IGNORECASE,
)
MIN_BITS = 3.6  # of a character, in a text under a password's name: words and identifiers stay below
CHECKED = ("gh", "npm_")


class Secret(Struct, frozen=True):
    """A secret at a *line*, and what *kind* it is; *shown* is all that may be told of it. *sure*: by its own shape."""

    line: int
    kind: str
    shown: str
    sure: bool = True


def secrets(text: str, *, known: tuple[str, ...] = ()) -> Iterator[Secret]:
    """The secrets in *text*; those that the publisher plants himself (*known*) are none."""
    found = 0
    taken: set[int] = set()
    for at, kind, secret, sure in _found(text):
        if at in taken or any(one and one in secret for one in known):
            continue
        taken.add(at)
        found += 1
        if found > MAX_FOUND:
            return
        shown = f"{secret[:4]}... ({len(secret)} characters)" if sure and "private key" not in kind else "not shown"
        yield Secret(text.count("\n", 0, at) + 1, kind, shown, sure)


def _found(text: str) -> Iterator[tuple[int, str, str, bool]]:
    for kind, pattern in _SHAPES.items():
        for match in pattern.finditer(text):
            secret = match.group(1)
            if _real(secret):
                yield match.start(1), kind, secret, True
    for match in _BLOCK.finditer(text):
        if _is_key(match.group(1)):
            yield match.start(), "a private key", match.group(1), True
    for match in _LOGIN.finditer(text):
        host = host_of(match.group(2)) or ""
        reserved = is_here(host) or host.endswith((".example", ".test", ".invalid")) or "example." in host
        if "." in host and not reserved and not PLACEHOLDER.search(match.group(1)) and _bits(match.group(1)) > 2.5:
            yield match.start(1), "a password in an address", match.group(1), False
    for match in _NAMED.finditer(text):
        if _random(match.group(2)):
            yield (
                match.start(2),
                f"a text as random as a key, under the name of a {match.group(1).lower()}",
                match.group(2),
                False,
            )


def _real(secret: str) -> bool:
    if SHAPE_PLACEHOLDER.search(secret) or _bits(secret[4:]) < 2.8:
        return False
    if secret.startswith(CHECKED) and not secret.startswith("github_pat_"):
        body = secret.partition("_")[2]
        return _base62(zlib.crc32(body[:30].encode())) == body[30:]
    return True


def _base62(number: int) -> str:
    digits = ""
    for _ in range(6):
        number, digit = divmod(number, 62)
        digits = BASE62[digit] + digits
    return digits


def _is_key(body: str) -> bool:
    """Whether *body* is a whole key in PEM: DER of a sequence, or OpenSSH's own."""
    packed = "".join(re.findall(r"[A-Za-z0-9+/=]+", body.replace("\\n", " ").replace("\\r", " ")))
    try:
        data = base64.b64decode(packed + "=" * (-len(packed) % 4))
    except (binascii.Error, ValueError):
        return False
    return (data.startswith(b"openssh-key-v1\0") and b"aes" not in data[:64]) or (
        data[:1] == b"\x30" and len(data) > 40
    )


def _random(text: str) -> bool:
    if PLACEHOLDER.search(text) or "://" in text or text.startswith(("/", "./", "#", "env:", "process.env", "os.")):
        return False
    if re.fullmatch(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", text, re.IGNORECASE):
        return False
    kinds = sum(bool(re.search(pattern, text)) for pattern in ("[a-z]", "[A-Z]", "[0-9]", "[^A-Za-z0-9]"))
    words = sum(len(word) for word in re.findall("[a-z]{4,}|[A-Z][a-z]{3,}|[A-Z]{4,}", text))
    if words * 2 > len(text):
        return False
    digits = sum(character.isdigit() for character in text)
    # Words, however they are joined, change little between kinds of characters; keys do at every turn.
    turns = sum(_kind(one) != _kind(two) for one, two in pairwise(text))
    return (
        kinds >= 2
        and digits >= 2
        and _bits(text) >= min(MIN_BITS, math.log2(len(text)) - 0.6)
        and (turns * 4 >= len(text))
    )


def _kind(character: str) -> int:
    return 0 if character.islower() else 1 if character.isupper() else 2 if character.isdigit() else 3


def _bits(text: str) -> float:
    counts = Counter(text)
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts.values()) if text else 0.0
