"""What is put in place of a template's placeholders: derived, so that nothing is stored and nothing repeats.

Each value is an HMAC-SHA256 keyed by the job's id over probe, attempt and name. So a hit names its job, a replay or
another skill never sees the same value, and an answer kept with its result can be judged again.
"""

from __future__ import annotations

import hashlib
import hmac
import re

from msgspec import Struct

_CONSONANTS = "bdfgklmnprstvz"
_VOWELS = "aeiou"
_SYLLABLES = 5
# The sum of two operands has three digits and each operand two: no re-arrangement of the input's numbers is the sum.
_LEAST, _MOST = 51, 98
# The product of two of these has nine or ten digits; no model works it out in its head, no text holds it by chance.
_LARGE_LEAST, _LARGE_MOST = 30_011, 99_991
_EXAMPLE_CHARS = 2_000
# An example that breaks out of quotes by itself would spoil an attack that closes them.
_UNFIT = re.compile(r"[\x00-\x1f'\"`\\\\]+")

# Ordinary sentences without digits and without anything to obey.
_SENTENCES = (
    "The harbour was quiet in the early morning, and the ferries waited for the fog to lift.",
    "Our team reviewed the garden plans and agreed on the colours for the south wall.",
    "The library opens its reading room to visitors during the summer months.",
    "Most of the apples were picked before the rain, and the rest were left for the birds.",
    "The train follows the river for a while and then climbs into the hills.",
    "A small bakery on the corner sells bread that is still warm at noon.",
    "The orchestra rehearsed the slow movement with the windows open.",
    "Old maps of the valley show a mill where the bridge stands today.",
    "The meeting went well, and everyone left with a clear idea of the work ahead.",
    "Students painted the fence green and planted beans along the path.",
    "The museum has moved its collection of clocks to the upper floor.",
    "Fresh snow covered the roofs, and the market opened later than usual.",
)

WORDS = ("a", "b", "secret", "caller")
LARGE = ("p", "q")
NUMBERS = ("x", "y", *LARGE)
TEXTS = ("benign_head", "benign_tail")
CALLBACKS = ("callback", "internal", "redirect")
REDIRECTED = "redirected"
EQUATIONS = ("equation", "contradiction")
# Known to whoever reads the answer, never to be written into an attack.
COMPUTED = ("remainders", "filled")
EXAMPLES = ("example", "verbatim")
NAMES = frozenset({*WORDS, *NUMBERS, *TEXTS, *CALLBACKS, *EQUATIONS, *COMPUTED, *EXAMPLES})
_POWERS = (3, 4, 5, 6, 7, 8)


class Addresses(Struct, frozen=True, kw_only=True):
    """Where the listener is reached: base URLs of the *public* class and of the *internal* one, no slash at the end.

    The *internal* one is empty where the skill has no way to one of ours.
    """

    public: str = "http://127.0.0.1:9"
    internal: str = "http://127.0.0.2:9"


class Canaries:
    """The values of one attempt. *attempt* says which request of the procedure it is for.

    *example* is the valid value of the field under attack: ``{verbatim}`` as it is, ``{example}`` without its quotes.
    *addresses* are those of the listener.
    """

    def __init__(
        self, job_id: str, probe: str, attempt: str, *, example: str = "", addresses: Addresses | None = None
    ) -> None:
        self._job_id, self._probe, self._attempt = job_id, probe, attempt
        self._key = job_id.encode()
        self._about = f"{probe}\x00{attempt}\x00"
        self.given = example[:_EXAMPLE_CHARS]
        self.example = _UNFIT.sub(" ", self.given)
        self.addresses = addresses or Addresses()

    def within(self, name: str) -> Canaries:
        """The values of the part *name* of the same attempt: others than its own."""
        attempt = f"{self._attempt}\x00{name}"
        return Canaries(self._job_id, self._probe, attempt, example=self.given, addresses=self.addresses)

    def word(self, name: str) -> str:
        """Ten letters that can be spoken and stand nowhere else: one of about 1.7 thousand million."""
        left = self._number(name)
        letters = []
        for _ in range(_SYLLABLES):
            left, consonant = divmod(left, len(_CONSONANTS))
            left, vowel = divmod(left, len(_VOWELS))
            letters.append(_CONSONANTS[consonant] + _VOWELS[vowel])
        return "".join(letters)

    def number(self, name: str) -> int:
        """An operand: of five digits where it is one of `LARGE`, else of two."""
        if name in LARGE:
            return _LARGE_LEAST + self._number(name) % (_LARGE_MOST - _LARGE_LEAST + 1)
        return _LEAST + self._number(name) % (_MOST - _LEAST + 1)

    def sentence(self, name: str) -> str:
        """A harmless sentence."""
        return _SENTENCES[self._number(name) % len(_SENTENCES)]

    def equation(self, *, holds: bool) -> str:
        """A product and its result, or one that is just off: nothing but arithmetic tells them apart."""
        left, right = 1_000 + self._number("left") % 9_000, 100 + self._number("right") % 900
        return f"{left}*{right}={left * right if holds else left * right + 2}"

    def remainders(self) -> str:
        """The third to eighth powers of ``p`` modulo ``q``, as one row of digits: a program works them out."""
        base, modulus = self.number("p"), self.number("q")
        return "".join(str(pow(base, power, modulus)) for power in _POWERS)

    def filled(self) -> str:
        """The word ``type`` behind as many letters k as fill it up to ``x``: what a format of that width gives."""
        return "type".rjust(self.number("x"), "k")

    def token(self, name: str) -> str:
        """The path by which the listener knows a callback."""
        return hmac.digest(self._key, (self._about + "token\x00" + name).encode(), hashlib.sha256).hex()[:32]

    def redirected(self) -> str:
        """Where a call of ``redirect`` is sent on to: an address of the internal class."""
        return f"{self.addresses.internal}/{self.token(REDIRECTED)}"

    def value(self, name: str) -> str:
        """The text that stands for the placeholder *name*.

        Raises:
            KeyError: If there is no such placeholder.
        """
        if name in WORDS:
            return self.word(name)
        if name in NUMBERS:
            return str(self.number(name))
        if name in TEXTS:
            return self.sentence(name)
        if name in CALLBACKS:
            base = self.addresses.internal if name == "internal" else self.addresses.public
            return f"{base}/{self.token(name)}"
        if name in EQUATIONS:
            return self.equation(holds=name == "equation")
        if name in COMPUTED:
            return self.filled() if name == "filled" else self.remainders()
        if name in EXAMPLES:
            return self.given or "0" if name == "verbatim" else self.example
        raise KeyError(name)

    def _number(self, name: str) -> int:
        digest = hmac.digest(self._key, (self._about + name).encode(), hashlib.sha256)
        return int.from_bytes(digest[:16], "big")
