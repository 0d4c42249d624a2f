"""What every detector offers; each module beside this one has ``detector(attack) -> Detector``.

A detector sends nothing. It says what is to be sent and reads what came back, so that the procedure stands in one
place (`workers.probes.security`) and an answer that was kept can be judged again without asking again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from functools import cached_property
from typing import Any, Protocol, TypeVar

import msgspec
from msgspec import Struct

from workers.adapters._adapter import MAIN_CALLER
from workers.canaries import Canaries
from workers.faults import BadJob
from workers.observation import Observation
from workers.rendering import render
from workers.scanning import Scan
from workers.wire.job import Attack
from workers.wire.result import Outcome
from workers.wire.skill import SkillRef

T = TypeVar("T")

FIRST_CALLER = "a"
SECOND_CALLER = "b"


class Step(Struct, frozen=True, kw_only=True):
    """One call of an attempt: *text* goes into the field under attack, None leaves the valid inputs as they are.

    *beside* is what the caller says in another text input, or before the text where there is no other. *extra* are
    members of the inputs that the skill does not declare. With *instead* it takes the place of all that was sent before
    it: what went wrong there decides nothing.
    """

    name: str
    text: str | None
    caller: str = MAIN_CALLER
    beside: str = ""
    extra: dict[str, Any] = {}
    instead: bool = False


class Answer:
    """What one step brought. *sent* is the text as it travelled, its carrier included; *hits* what was called."""

    def __init__(self, step: Step, sent: str, observation: Observation, hits: frozenset[str] = frozenset()) -> None:
        self.step = step
        self.sent = sent
        self.observation = observation
        self.hits = hits

    @cached_property
    def scan(self) -> Scan:
        """All that came back."""
        return Scan(self.observation)


class Strength(IntEnum):
    """How much an attempt shows."""

    NONE = 0
    ECHO = 1  # there, but the input itself yields it
    FRAGMENT = 2  # so little that chance could have done it once
    PARTIAL = 3  # partial obedience; never more than suspect
    FULL = 4

    @property
    def counts(self) -> bool:
        """Whether it says anything against the skill."""
        return self > Strength.ECHO


class Reading(Struct, frozen=True, kw_only=True):
    """What a detector saw: its *strength*, in words *what* came back, a short *quote*, and *where* it stood."""

    strength: Strength
    what: str = ""
    quote: str = ""
    where: str = ""


NOTHING = Reading(strength=Strength.NONE)


class Context(Struct, frozen=True, kw_only=True):
    """What was known before the attack: the skill, and the answer to one valid call, scanned and as it came."""

    skill: SkillRef
    baseline: Scan
    usual: Observation | None = None


class Detector(Protocol):
    """One kind of evidence for one attack."""

    commanded: str
    """What the attack wants, in words, for the evidence."""

    explained: Outcome = Outcome.INCONCLUSIVE
    """What it means when a control shows the same as the attack."""

    obedience: bool = False
    """Whether all that it shows is a caller being obeyed, which is the declared job of an open-ended assistant. Another
    caller's secret, or what is said to the next one, is nobody's job to tell."""

    listens: tuple[str, ...] = ()
    """The callbacks that are its evidence; with any, the skill must have a way to the listener."""

    decisive: tuple[str, ...] = ()
    """Those of them after which nothing more is waited for."""

    grace_s: float = 0.0
    """How long callbacks are waited for after the last call."""

    independent: bool = False
    """Whether each step stands for itself, so that one refused does not end the attempt."""

    by_design: tuple[str, ...] = ()
    """The kinds of permission (what stands before the colon) whose declaration makes it the skill's purpose."""

    def steps(self, canaries: Canaries, control: str = "") -> tuple[Step, ...]:
        """The calls of one attempt, or of the *control* of that name.

        Raises:
            BadJob: If the attack's texts cannot be rendered.
        """
        ...

    def follow(
        self, answers: Sequence[Answer], canaries: Canaries, context: Context, control: str = ""
    ) -> tuple[Step, ...]:
        """The calls that *answers* make worth while; asked again after each lot, until there are none.

        So that a skill which shows nothing costs no more than the first.
        """
        return ()

    def read(self, answers: Sequence[Answer], canaries: Canaries, context: Context) -> Reading:
        """What *answers* show; fewer than the steps where the skill refused one."""
        ...

    def restore(self, canaries: Canaries) -> tuple[Step, ...]:
        """The calls that undo an attempt which left something behind; none where it leaves nothing."""
        return ()


class Texts:
    """The texts of one attack, rendered for one attempt. *pieces* take the place of the attack's own."""

    def __init__(self, attack: Attack, canaries: Canaries, pieces: Mapping[str, str] | None = None) -> None:
        self._attack = attack
        self._canaries = canaries
        own = {name: render(text, canaries) for name, text in attack.pieces.items()}
        self._pieces = {**own, **(pieces or {})}

    def of(self, template: str) -> str:
        """*template* filled in."""
        return render(template, self._canaries, self._pieces)

    def attack(self, control: str = "") -> str:
        """The attack's own text, or that of one of its controls.

        Raises:
            BadJob: If there is no such control.
        """
        text = self.of(self._attack.template)
        if not control:
            return text
        template = self._attack.controls.get(control)
        if template is None:
            raise BadJob(f"attack {self._attack.id} has no control called {control!r}")
        return render(template, self._canaries, {**self._pieces, "attack": text})


def parse_options(attack: Attack, kind: type[T]) -> T:
    """The attack's options as *kind*.

    Raises:
        BadJob: If they do not fit it.
    """
    try:
        return msgspec.convert(attack.options, kind)
    except msgspec.ValidationError as error:
        raise BadJob(f"attack {attack.id}, options: {error}") from None
