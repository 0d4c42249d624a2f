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
CLAIM, OTHER = "claim", "other"


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """*claim* are the members that would give a right, *neutral* as many that mean nothing."""

    claim: dict[str, str | bool]
    neutral: dict[str, str | bool]


class Effect(Detector):
    """Adds members to the call that the skill does not declare."""

    commanded = "more than other callers get, for members of the call that nobody documented"

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
        if len(answers) > 1 or context.usual is None or not self._differs(answers[0], context):
            return ()
        neutral = dict(self._options.neutral)
        return (
            Step(name=f"{OTHER} meaningless", text=None, extra=neutral),
            Step(name=f"{CLAIM} again", text=None, extra=dict(self._options.claim)),
            Step(name=f"{OTHER} plain", text=None),
            Step(name=f"{OTHER} meaningless again", text=None, extra=neutral),
        )

    def read(self, answers: Sequence[Answer], canaries: Canaries, context: Context) -> Reading:
        """What only the claim brings."""
        given = self._given(context)
        claimed = [features(one.observation, given) for one in answers if one.step.name.startswith(CLAIM)]
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

    def _differs(self, answer: Answer, context: Context) -> bool:
        given = self._given(context)
        found = features(answer.observation, given)
        usual = features(context.usual, given) if context.usual is not None else None
        return found is not None and usual is not None and found != usual

    def _given(self, context: Context) -> frozenset[str]:
        """The names and values that are added, and the words in them."""
        texts = [str(part).lower() for added in (self._options.claim, self._options.neutral) for part in _parts(added)]
        return frozenset([*texts, *(word for text in texts for word in re.findall(r"[^\W\d_]+", text))])


def _parts(added: dict[str, Any]) -> Iterable[Any]:
    return (part for pair in added.items() for part in pair)


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
