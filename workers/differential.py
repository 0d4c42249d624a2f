"""Two statements that differ in their truth alone: who answers them differently has read them.

The true one must bring the usual answer and the false one another, each twice and in both orders, and the usual answer
must still be the same afterwards. A skill that looks texts up answers both alike, one that is moody does not repeat
itself, and one that checks statements in plain words is known by a pair of those. No statement widens what a query
touches: no OR, since the query may be one that deletes.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from workers.canaries import Canaries
from workers.detectors._detector import Answer, Context, Reading, Step, Strength, Texts
from workers.likeness import signature
from workers.observation import Answered, Value

AGAIN = " again"
USUAL = "usual"


class Pair(Struct, frozen=True, forbid_unknown_fields=True):
    """*holds* and *fails* are templates that state something true and something false.

    *suits*, if any, is a pattern: the pair is asked only where the field's valid value holds a match. *after*, if any,
    names a pair whose true statement must have been answered: a text that is turned down says nothing of a query in
    which its quotes are ordinary letters.
    """

    name: str
    holds: str
    fails: str
    suits: str = ""
    after: str = ""

    @property
    def true(self) -> str:
        """The name of the step that states what is true."""
        return f"{self.name}, true"

    @property
    def false(self) -> str:
        """The name of the other."""
        return f"{self.name}, false"


class Differential:
    """One *pair* as one attempt asks it."""

    def __init__(
        self, pair: Pair, answers: Sequence[Answer], texts: Texts, canaries: Canaries, context: Context
    ) -> None:
        self._pair = pair
        self._texts = texts
        self._usual = signature(context.usual, canaries.example) if context.usual is not None else None
        # What stood in the field at first may be data of the skill too, and so in every answer.
        self._ordinary = canaries.example
        self._answers = {answer.step.name: answer for answer in answers}

    def follow(self) -> tuple[Step, ...]:
        """The calls that are worth making next; none where the pair has nothing more to say."""
        pair = self._pair
        if self._usual is None:
            return ()
        if pair.after and not self._answered(f"{pair.after}, true"):
            return ()
        if pair.true not in self._answers:
            return (Step(name=pair.true, text=self._texts.of(pair.holds)),)
        if self._said(pair.true) != self._usual:
            return ()
        if pair.false not in self._answers:
            return (Step(name=pair.false, text=self._texts.of(pair.fails)),)
        if self._said(pair.false) in (None, self._usual) or pair.true + AGAIN in self._answers:
            return ()
        return (
            Step(name=pair.false + AGAIN, text=self._texts.of(pair.fails)),
            Step(name=pair.true + AGAIN, text=self._texts.of(pair.holds)),
            Step(name=f"{pair.name}, {USUAL}", text=None),
        )

    def read(self) -> Reading | None:
        """What it means that the answers went with the truth; None where they did not."""
        pair, usual = self._pair, self._usual
        true = {self._said(pair.true), self._said(pair.true + AGAIN)}
        false = {self._said(pair.false), self._said(pair.false + AGAIN)}
        ordinary = self._answers.get(f"{pair.name}, {USUAL}")
        steady = ordinary is not None and signature(ordinary.observation, self._ordinary) == usual
        if not steady or usual is None or true != {usual} or len(false) > 1 or false & {None, usual}:
            return None
        return Reading(
            strength=Strength.FULL,
            what="the usual answer to a true statement that only a query would read, another one to a false statement",
            quote=pair.name,
            where="the answers to both",
        )

    def _answered(self, name: str) -> bool:
        answer = self._answers.get(name)
        observation = answer.observation if answer is not None else None
        return isinstance(observation, Answered) and isinstance(observation.reply, Value)

    def _said(self, name: str) -> str | None:
        answer = self._answers.get(name)
        return signature(answer.observation, answer.sent, self._ordinary) if answer is not None else None


def plain(pair: Pair, answers: Sequence[Answer]) -> bool:
    """Whether the *pair*, said in plain words, was told apart: then whoever answers checks statements for a living."""
    said = {answer.step.name: signature(answer.observation, answer.sent) for answer in answers}
    return pair.true in said and pair.false in said and said[pair.true] != said[pair.false]
