"""What is put in place of a template's placeholders: derived, so that nothing is stored and nothing repeats.

Each value is an HMAC-SHA256 keyed by the job's id over probe, attempt and name. So a hit names its job, a replay or
another skill never sees the same value, and an answer kept with its result can be judged again.
"""

from __future__ import annotations

import hashlib
import hmac

_CONSONANTS = "bdfgklmnprstvz"
_VOWELS = "aeiou"
_SYLLABLES = 5
# The sum of two operands has three digits and each operand two: no re-arrangement of the input's numbers is the sum.
_LEAST, _MOST = 51, 98

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
NUMBERS = ("x", "y")
TEXTS = ("benign_head", "benign_tail")
NAMES = frozenset({*WORDS, *NUMBERS, *TEXTS})


class Canaries:
    """The values of one attempt. *attempt* says which request of the procedure it is for."""

    def __init__(self, job_id: str, probe: str, attempt: str) -> None:
        self._key = job_id.encode()
        self._about = f"{probe}\x00{attempt}\x00"

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
        """An operand of two digits."""
        return _LEAST + self._number(name) % (_MOST - _LEAST + 1)

    def sentence(self, name: str) -> str:
        """A harmless sentence."""
        return _SENTENCES[self._number(name) % len(_SENTENCES)]

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
        raise KeyError(name)

    def _number(self, name: str) -> int:
        digest = hmac.digest(self._key, (self._about + name).encode(), hashlib.sha256)
        return int.from_bytes(digest[:16], "big")
