"""Evidence: an answer that is another one because the call claims a right that the skill does not document.

That a field is accepted or repeated is no effect. The claim must bring values or words that no call without it brings,
neither the plain one nor one with as many meaningless fields; of a skill that does not repeat itself word for word,
only new places in the answer count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from workers.canaries import Canaries
from workers.detectors._detector import NOTHING, Answer, Context, Detector, Reading, Step, Strength, parse_options
from workers.faults import BadJob
from workers.likeness import Features, features
from workers.wire.job import Attack

MIN_WORDS = 2
CLAIM, FLAT, OTHER = "claim", "flat claim", "other"


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """*claim* are the members that would give a right, *neutral* as many that mean nothing.

    *flat*, if any, takes the claim's place where that was turned down.
    """

    claim: dict[str, Any]
    neutral: dict[str, Any]
    flat: dict[str, Any] = {}


class Effect(Detector):
    """Adds members to the call that the skill does not declare."""

    commanded = "more than other callers get, for members of the call that nobody documented"
    independent = True

    def __init__(self, attack: Attack) -> None:
        self._options = parse_options(attack, Options)
        if not self._options.claim or not self._options.neutral:
            raise BadJob(f"attack {attack.id}: the options `claim` and `neutral` must name members")

    def steps(self, canaries: Canaries, control: str = "") -> tuple[Step, ...]:
        """The usual call with the claim."""
        return (Step(name=CLAIM, text=None, extra=dict(self._options.claim)),)

    def follow(
        self, answers: Sequence[Answer], canaries: Canaries, context: Context, control: str = ""
    ) -> tuple[Step, ...]:
        """Where the answer is another one: the same call without the claim, and with it once more."""
        name, claim = self._claim(answers)
        if len(answers) == 1 and self._options.flat and features(answers[0].observation, frozenset()) is None:
            return (Step(name=FLAT, text=None, extra=dict(self._options.flat), instead=True),)
        asked = any(answer.step.name.startswith(OTHER) for answer in answers)
        if asked or context.usual is None or not self._differs(answers[-1], context):
            return ()
        neutral = {
            member: value
            for member, value in self._options.neutral.items()
            if name == CLAIM or not isinstance(value, dict)
        }
        return (
            Step(name=f"{OTHER} meaningless", text=None, extra=neutral),
            Step(name=f"{name} again", text=None, extra=dict(claim)),
            Step(name=f"{OTHER} plain", text=None),
            Step(name=f"{OTHER} meaningless again", text=None, extra=neutral),
        )

    def read(self, answers: Sequence[Answer], canaries: Canaries, context: Context) -> Reading:
        """What only the claim brings."""
        given = self._given(context)
        name, _ = self._claim(answers)
        claimed = [features(one.observation, given) for one in answers if one.step.name.startswith(name)]
        others = [features(one.observation, given) for one in answers if one.step.name.startswith(OTHER)]
        if context.usual is None or len(claimed) < 2 or len(others) < 3:
            return NOTHING
        with_, without = _known(claimed), _known([*others, features(context.usual, given)])
        if len(with_) < len(claimed) or len(without) <= len(others):
            return NOTHING
        places = _only(with_, without, lambda one: one.places)
        words = _only(with_, without, lambda one: one.words) if _steady(with_) and _steady(without) else frozenset()
        if not places and len(words) < MIN_WORDS:
            return NOTHING
        new = f"{len(places)} values" if places else f"{len(words)} words"
        return Reading(
            strength=Strength.FULL,
            what=f"{new} that no call without the claim brings, twice each",
            quote=", ".join(sorted(places or words))[:80],
            where="the answer to an ordinary call",
        )

    def _claim(self, answers: Sequence[Answer]) -> tuple[str, dict[str, Any]]:
        """The claim that counts, and the name of its steps."""
        is_flat = any(answer.step.name == FLAT for answer in answers)
        return (FLAT, self._options.flat) if is_flat else (CLAIM, self._options.claim)

    def _differs(self, answer: Answer, context: Context) -> bool:
        given = self._given(context)
        found = features(answer.observation, given)
        usual = features(context.usual, given) if context.usual is not None else None
        return found is not None and usual is not None and found != usual

    def _given(self, context: Context) -> frozenset[str]:
        """The names and values that are added, and the words in them."""
        every = (self._options.claim, self._options.flat, self._options.neutral)
        texts = [str(part).lower() for added in every for part in _parts(added)]
        return frozenset([*texts, *(word for text in texts for word in re.findall(r"[^\W\d_]+", text))])


def _parts(added: dict[str, Any]) -> Iterable[Any]:
    """The names and values in *added*, and those in its objects; the corpus is bounded in depth."""
    for name, value in added.items():
        yield name
        yield from _parts(value) if isinstance(value, dict) else (value,)


def _known(found: Iterable[Features | None]) -> list[Features]:
    return [one for one in found if one is not None]


def _only(with_: Sequence[Features], without: Sequence[Features], of: Any) -> frozenset[str]:
    shared: frozenset[str] = frozenset.intersection(*(of(one) for one in with_))
    return shared - frozenset().union(*(of(one) for one in without))


def _steady(found: Sequence[Features]) -> bool:
    return len({one.words for one in found}) == 1


def detector(attack: Attack) -> Effect:
    """The detector of *attack*.

    Raises:
        BadJob: If its options do not fit.
    """
    return Effect(attack)
