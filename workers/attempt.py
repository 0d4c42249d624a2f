"""One attempt at a skill: the detector's steps sent, what came back recorded and read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from workers.adapters._adapter import MAIN_CALLER
from workers.canaries import Canaries
from workers.carriers import PLAIN, carry
from workers.detectors._detector import Answer, Context, Detector, Reading, Step
from workers.fields import Leaf, leaves, place
from workers.identity import identities
from workers.observation import Answered, Broke, Failed, Malformed, Observation, Refused, TimedOut, Value
from workers.planted import Planted
from workers.session import Session
from workers.wire.job import SecurityJob
from workers.wire.result import KEPT_BODY_CHARS, Exchange

# Too early, too slow, too many: the skill has not looked at the text.
_BUSY = frozenset({408, 425, 429})


class Route(Struct, frozen=True):
    """One way in: a field and the carrier that takes the text through it."""

    field: Leaf
    carrier: str

    @property
    def name(self) -> str:
        """E.g. ``query/html_comment``."""
        return f"{self.field.name}/{self.carrier}"

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
    """Makes the attempts of one job and keeps what was exchanged."""

    def __init__(self, job: SecurityJob, session: Session, detector: Detector, context: Context) -> None:
        self._job = job
        self._session = session
        self._detector = detector
        self._context = context
        self.planted = Planted(session.skill)
        self._leaves = leaves(session.skill.input_schema, session.skill.example)
        # What leaks without an attack is not the attack's doing.
        self.leak_before = self.planted.leak(context.baseline)
        self.exchanges: list[Exchange] = []
        self.requests = 0

    def fields(self) -> list[Leaf]:
        """The inputs that can carry an attack. Two callers must differ by theirs, so these stay as they are."""
        return [
            leaf for leaf in self._leaves if leaf.is_free_text and not (self._job.attack.stateful and leaf.is_identity)
        ]

    def fits(self, route: Route) -> bool:
        """Whether the field declares to take texts of that length.

        Raises:
            BadJob: If the attack's texts cannot be rendered.
            SameCaller: If the attack needs two callers and the inputs allow only one.
        """
        canaries = self._canaries(route, "attack")
        steps = self._detector.steps(canaries)
        for step in steps:
            self._inputs(route.field, step.caller, None, canaries)
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
        answers: list[Answer] = []
        trouble = refused = leak = ""
        # Controls are said plainly: a document around them would be part of what they rule out.
        way = Route(route.field, PLAIN) if control else route
        for step in self._detector.steps(canaries, control):
            text = self._text(way, step, canaries)
            observation = await self._send(way, step, text, canaries, f"{turn} {route.name} {step.name}")
            answer = Answer(step, text, observation)
            answers.append(answer)
            if not self.leak_before:
                leak = leak or self.planted.leak(answer.scan, [answer.sent for answer in answers])
            trouble, refused = _trouble(observation, step), _refusal(observation)
            if trouble or refused:
                break
        return Attempt(
            reading=self._detector.read(answers, canaries, self._context),
            trouble=trouble,
            refused=refused,
            leak=leak,
            cut=any(answer.scan.cut for answer in answers),
        )

    def _canaries(self, route: Route, turn: str) -> Canaries:
        return Canaries(self._job.id, self._job.probe, f"{route.name} {turn}")

    def _text(self, route: Route, step: Step, canaries: Canaries) -> str:
        return carry(route.carrier, step.text, canaries) if step.text is not None else ""

    def _inputs(self, field: Leaf, caller: str, text: str | None, canaries: Canaries) -> Mapping[str, Any]:
        schema = self._session.skill.input_schema
        inputs = self._session.skill.example
        if caller != MAIN_CALLER:
            for leaf, value in identities(self._leaves, caller, canaries):
                inputs = place(inputs, leaf.path, value, schema)
        return inputs if text is None else place(inputs, field.path, text, schema)

    async def _send(self, route: Route, step: Step, text: str, canaries: Canaries, name: str) -> Observation:
        inputs = self._inputs(route.field, step.caller, None if step.text is None else text, canaries)
        observation = await self._session.call(inputs, timeout_ms=self._job.timeout_ms, caller=step.caller)
        self.requests += 1
        self.exchanges.append(exchange(name, observation))
        return observation


def exchange(step: str, observation: Observation) -> Exchange:
    """What is kept of one call."""
    status, body = 0, ""
    if isinstance(observation, Answered):
        status = observation.status
        body = observation.body[: 4 * KEPT_BODY_CHARS].decode("utf-8", "replace")[:KEPT_BODY_CHARS]
    return Exchange(step=step, status=status, body=body, elapsed_ms=observation.elapsed_ms)


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
    if (
        not trouble
        and step.text is None
        and not (isinstance(observation, Answered) and isinstance(observation.reply, Value))
    ):
        return "an ordinary call was refused"
    return trouble


def _refusal(observation: Observation) -> str:
    if isinstance(observation, Answered) and isinstance(observation.reply, Refused):
        return f"status {observation.status}"
    return ""
