"""One attempt at a skill: the detector's steps sent, what came back recorded and read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from workers.adapters._adapter import MAIN_CALLER
from workers.canaries import REDIRECTED, Addresses, Canaries
from workers.carriers import PLAIN, carry
from workers.detectors._detector import Answer, Context, Detector, Reading, Step
from workers.faults import BadJob
from workers.fields import Leaf, leaves, place
from workers.identity import identities
from workers.kept import digest
from workers.kept import exchange as exchange
from workers.observation import Answered, Broke, Failed, Malformed, Observation, Refused, TimedOut, Value
from workers.planted import Planted
from workers.session import Session
from workers.wire.job import SecurityJob
from workers.wire.result import Exchange

# Too early, too slow, too many: the skill has not looked at the text.
_BUSY = frozenset({408, 425, 429})
MAX_STEPS = 24
CALL = Leaf(path=(), schema={})
"""No field: an attack that adds to the call as a whole."""


class Route(Struct, frozen=True):
    """One way in: a field and the carrier that takes the text through it."""

    field: Leaf
    carrier: str

    @property
    def name(self) -> str:
        """E.g. ``query/html_comment``."""
        return f"{self.field.name or 'the call'}/{self.carrier}"

    @property
    def is_indirect(self) -> bool:
        """Whether the text is handed over rather than said."""
        return self.carrier != PLAIN


class Attempt(Struct, frozen=True, kw_only=True):
    """What one attempt showed.

    *trouble* says why it decides nothing, empty where the skill answered or declined; *refused* that it declined.
    *leak* names the publisher's planted text that came back, if any did.
    """

    reading: Reading
    trouble: str = ""
    refused: str = ""
    leak: str = ""
    cut: bool = False


class Attempts:
    """Makes the attempts of one job and keeps what was exchanged. *addresses* are the listener's, if it is needed."""

    def __init__(
        self,
        job: SecurityJob,
        session: Session,
        detector: Detector,
        context: Context,
        addresses: Addresses | None = None,
    ) -> None:
        self._job = job
        self._session = session
        self._detector = detector
        self._context = context
        self._addresses = addresses
        self.planted = Planted(session.skill)
        self._leaves = leaves(session.skill.input_schema, session.skill.example)
        # What leaks without an attack is not the attack's doing.
        self.leak_before = self.planted.leak(context.baseline)
        self.exchanges: list[Exchange] = []
        self.requests = 0

    @property
    def takes_text(self) -> bool:
        """Whether any input can carry an attack at all."""
        return any(leaf.fits(("free_text", "url")) for leaf in self._leaves)

    def fields(self) -> list[Leaf]:
        """The inputs that can carry an attack. Two callers must differ by theirs, so these stay as they are."""
        attack = self._job.attack
        if "call" in attack.fits:
            return [CALL]
        return [leaf for leaf in self._leaves if leaf.fits(attack.fits) and not (attack.stateful and leaf.is_identity)]

    def fits(self, route: Route) -> bool:
        """Whether the field declares to take texts of that length.

        Raises:
            BadJob: If the attack's texts cannot be rendered.
            SameCaller: If the attack needs two callers and the inputs allow only one.
        """
        canaries = self._canaries(route, "attack")
        steps = self._detector.steps(canaries)
        for step in steps:
            self._inputs(route.field, step, "", canaries)
        longest = max((len(self._text(route, step, canaries)) for step in steps if step.text), default=0)
        return route.field.max_chars is None or longest <= route.field.max_chars

    async def make(self, route: Route, turn: str, control: str = "") -> Attempt:
        """One attempt through *route*; *turn* says which, and makes its canaries its own.

        Where it decides nothing it is made once more, with fresh canaries: a flaky skill is not a safe one.

        Raises:
            FleetFault, BadJob: As the adapter does.
        """
        attempt = await self._make(route, turn, control)
        if attempt.trouble and not attempt.leak and not attempt.reading.strength.counts:
            attempt = await self._make(route, f"{turn} again", control)
        return attempt

    async def restore(self, route: Route) -> None:
        """Ask the skill to forget what an attempt left behind."""
        canaries = self._canaries(route, "restore")
        for step in self._detector.restore(canaries):
            await self._send(route, step, step.text or "", canaries, f"{step.name} {route.name}")

    async def _make(self, route: Route, turn: str, control: str) -> Attempt:
        canaries = self._canaries(route, turn)
        tokens = self._watch(canaries)
        try:
            return await self._walk(route, turn, control, canaries, tokens)
        finally:
            if self._session.listener is not None:
                self._session.listener.forget(tokens.values())

    async def _walk(
        self, route: Route, turn: str, control: str, canaries: Canaries, tokens: Mapping[str, str]
    ) -> Attempt:
        answers: list[Answer] = []
        trouble = refused = leak = ""
        # Controls are said plainly: a document around them would be part of what they rule out.
        way = Route(route.field, PLAIN) if control else route
        steps: Sequence[Step] = self._detector.steps(canaries, control)
        while steps and len(answers) < MAX_STEPS:
            for step in steps:
                text = self._text(way, step, canaries)
                observation = await self._send(way, step, text, canaries, f"{turn} {route.name} {step.name}")
                answer = Answer(step, text, observation)
                answers.append(answer)
                if not self.leak_before:
                    leak = leak or self.planted.leak(answer.scan, [answer.sent for answer in answers])
                if step.instead:
                    trouble = refused = ""
                trouble = trouble or _trouble(observation, step)
                refused = refused or _refusal(observation)
                if (trouble or refused) and not self._detector.independent:
                    break
            if tokens:
                await self._listen(tokens, answers)
            elif (trouble or refused) and not self._detector.independent:
                break
            steps = self._detector.follow(answers, canaries, self._context, control)
        return Attempt(
            reading=self._detector.read(answers, canaries, self._context),
            trouble=trouble,
            # Of several that stand for themselves one refusal decides nothing about the others.
            refused=refused if len(answers) == 1 or not self._detector.independent else "",
            leak=leak,
            cut=any(answer.scan.cut for answer in answers),
        )

    def _watch(self, canaries: Canaries) -> dict[str, str]:
        """The tokens of the callbacks that the detector listens for, expected from now on."""
        names = self._detector.listens
        if not names:
            return {}
        if self._session.listener is None or self._addresses is None:
            raise BadJob("the attack needs the listener, and there is none")
        tokens = {name: canaries.token(name) for name in names}
        for name, token in tokens.items():
            leads_on = name == "redirect" and REDIRECTED in tokens
            self._session.listener.watch(token, canaries.redirected() if leads_on else "")
        return tokens

    async def _listen(self, tokens: Mapping[str, str], answers: list[Answer]) -> None:
        """Note with the last answer what was called until now, or within the grace window after it."""
        listener = self._session.listener
        assert listener is not None  # noqa: S101 - there are no tokens without one
        hits = await listener.hits(tokens, decisive=self._detector.decisive, grace_s=self._detector.grace_s)
        answers[-1] = Answer(answers[-1].step, answers[-1].sent, answers[-1].observation, hits)
        self.exchanges[-1] = msgspec.structs.replace(self.exchanges[-1], called=tuple(sorted(hits)))

    def _canaries(self, route: Route, turn: str) -> Canaries:
        example = route.field.example
        return Canaries(
            self._job.id,
            self._job.probe,
            f"{route.name} {turn}",
            example=example if isinstance(example, str) else "",
            addresses=self._addresses,
        )

    def _text(self, route: Route, step: Step, canaries: Canaries) -> str:
        if step.text is None:
            return ""
        text = carry(route.carrier, step.text, canaries)
        return f"{step.beside}\n\n{text}" if step.beside and self._other(route.field) is None else text

    def _other(self, field: Leaf) -> Leaf | None:
        """Another text input than *field*."""
        return next((leaf for leaf in self._leaves if leaf.is_free_text and leaf.path != field.path), None)

    def _inputs(self, field: Leaf, step: Step, text: str, canaries: Canaries) -> Mapping[str, Any]:
        schema = self._session.skill.input_schema
        inputs = self._session.skill.example
        if step.caller != MAIN_CALLER:
            for leaf, value in identities(self._leaves, step.caller, canaries):
                inputs = place(inputs, leaf.path, value, schema)
        other = self._other(field) if step.beside else None
        if other is not None:
            inputs = place(inputs, other.path, step.beside, schema)
        if step.text is not None and field.path:
            inputs = place(inputs, field.path, text, schema)
        if not step.extra:
            return inputs
        # What the skill documents is no smuggled member.
        declared = {leaf.path[0] for leaf in self._leaves}
        return {**{name: value for name, value in step.extra.items() if name not in declared}, **inputs}

    async def _send(self, route: Route, step: Step, text: str, canaries: Canaries, name: str) -> Observation:
        inputs = self._inputs(route.field, step, text, canaries)
        observation = await self._session.call(inputs, timeout_ms=self._job.timeout_ms, caller=step.caller)
        self.requests += 1
        self.exchanges.append(exchange(name, observation, digest(inputs, step.caller)))
        return observation


def trouble_of(observation: Observation) -> str:
    """Why *observation* decides nothing about the text that was sent; empty where it does."""
    match observation:
        case TimedOut():
            return f"no answer within {observation.deadline_ms:.0f} ms"
        case Broke():
            return f"broken off: {observation.reason[:120]}"
        case Answered(status=status, reply=Refused()) if status in _BUSY:
            return f"status {status}"
        case Answered(status=status, reply=Failed() | Malformed() as reply):
            return f"status {status}: {reply.reason[:120]}"
    return ""


def _trouble(observation: Observation, step: Step) -> str:
    trouble = trouble_of(observation)
    ordinary = step.text is None and not step.extra
    if not trouble and ordinary and not (isinstance(observation, Answered) and isinstance(observation.reply, Value)):
        return "an ordinary call was refused"
    return trouble


def _refusal(observation: Observation) -> str:
    if isinstance(observation, Answered) and isinstance(observation.reply, Refused):
        return f"status {observation.status}"
    return ""
