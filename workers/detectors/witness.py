"""Evidence: the composite witness in the answer to the attack itself."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from workers.canaries import Canaries
from workers.composite import COMMANDED, Composite
from workers.detectors._detector import NOTHING, Answer, Context, Reading, Step, Texts, parse_options
from workers.wire.job import Attack
from workers.wire.result import Outcome


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """None."""


class Witness:
    """One call that carries the instruction; the witness must stand in its answer."""

    commanded = COMMANDED
    explained = Outcome.INCONCLUSIVE
    obedience = True

    def __init__(self, attack: Attack) -> None:
        parse_options(attack, Options)
        self._attack = attack

    def steps(self, canaries: Canaries, control: str = "") -> tuple[Step, ...]:
        """The one call."""
        return (Step(name="attack", text=Texts(self._attack, canaries).attack(control)),)

    def read(self, answers: Sequence[Answer], canaries: Canaries, context: Context) -> Reading:
        """The witness, or what there is of it."""
        if not answers:
            return NOTHING
        return Composite(self._attack, canaries).read(answers[-1].scan, answers, context.baseline)

    def restore(self, canaries: Canaries) -> tuple[Step, ...]:
        """Nothing: the attack changes nothing."""
        return ()


def detector(attack: Attack) -> Witness:
    """The detector of *attack*.

    Raises:
        BadJob: If its options do not fit.
    """
    return Witness(attack)
