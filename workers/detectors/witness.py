"""Evidence: the composite witness in the answer to the attack itself."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from workers.canaries import Canaries
from workers.composite import COMMANDED, Composite
from workers.detectors._detector import NOTHING, Answer, Context, Detector, Reading, Step, Texts, parse_options
from workers.wire.job import Attack


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """None."""


class Witness(Detector):
    """One call that carries the instruction; the witness must stand in its answer."""

    commanded = COMMANDED
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


def detector(attack: Attack) -> Witness:
    """The detector of *attack*.

    Raises:
        BadJob: If its options do not fit.
    """
    return Witness(attack)
