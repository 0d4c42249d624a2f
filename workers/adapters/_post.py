"""Adapters over HTTP: what they share, and all of those whose calls are one POST each.

An adapter of the latter kind gives the `Form` of its protocol: what is sent, and how the body of a 2xx answer is read.
The rest is the same for all: 4xx is a refusal; 5xx a failure; anything else, redirects among them, is no answer to the
call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from workers.adapters._adapter import MAIN_CALLER, HttpRequest
from workers.adapters._deadline import Deadline
from workers.adapters._target import Headers, Target
from workers.adapters._transport import Read, Response, Transport, whole_body
from workers.observation import Answered, Failed, Malformed, Observation, Refused, Reply
from workers.wire.skill import Access, SkillRef

KNOWN_FORMS = 4_096
LATEST_SKILLS = 64
QUOTED_CHARS = 200


class Endpoint(Protocol):
    """Where requests go, and what the answers mean."""

    @property
    def target(self) -> Target:
        """Where they go, and with which headers."""
        ...

    def read(self, body: bytes) -> Reply:
        """What *body*, that of a 2xx answer, says."""
        ...


class Form(Endpoint, Protocol):
    """How one skill is spoken to: its access, parsed once a process."""

    def body(self, skill: SkillRef, inputs: Mapping[str, Any]) -> bytes:
        """The body of one call.

        Raises:
            BadJob: If the inputs cannot be sent.
        """
        ...


K = TypeVar("K")
F = TypeVar("F", bound=Form)


class Exchanges(Generic[K]):
    """The connections of one adapter, and what it knows of each access. Belongs to one event loop.

    *known_of* makes what is known of an access; it is given our User-Agent.
    """

    def __init__(self, known_of: Callable[[Access, str], K]) -> None:
        self._known_of = known_of
        self._agent = f"skillmark/{version('skillmark')}"
        self._transport = Transport()
        self._known: dict[bytes, K] = {}
        self._latest: dict[int, tuple[SkillRef, K]] = {}  # holds the skill: else another could get its id

    def form(self, skill: SkillRef) -> K:
        """What is known of *skill*'s access.

        Raises:
            BadJob: If the access's options or secrets are not usable here.
        """
        # By identity first: the jobs of a parcel share one skill, and encoding costs more than the whole look-up.
        latest = self._latest.get(id(skill))
        if latest is not None:
            return latest[1]
        if len(self._latest) >= LATEST_SKILLS:
            self._latest.clear()
        known = self._equal(skill)
        self._latest[id(skill)] = (skill, known)
        return known

    def _equal(self, skill: SkillRef) -> K:
        key = msgspec.json.encode(skill.access, order="deterministic")
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= KNOWN_FORMS:
                self._known.clear()
            known = self._known[key] = self._known_of(skill.access, self._agent)
        return known

    async def post(
        self,
        skill: SkillRef,
        to: Endpoint,
        body: bytes,
        deadline: Deadline,
        caller: str = MAIN_CALLER,
        *,
        headers: Headers = (),
        read: Read = whole_body,
        method: str = "POST",
    ) -> Observation:
        """Send *body* and read what comes back, with *headers*, *read* and *method* as `Transport.post` has them.

        Raises:
            FleetFault, BadJob: If our own side failed, or the address may not be called.
        """
        got = await self._transport.post(
            to.target,
            body,
            deadline,
            allow_networks=skill.allow_networks,
            keep=caller == MAIN_CALLER,
            headers=headers,
            read=read,
            method=method,
        )
        if not isinstance(got, Response):
            return got
        return Answered(
            status=got.status,
            headers=got.headers,
            body=got.body,
            elapsed_ms=got.elapsed_ms,
            reply=_reply(got, to),
            waited_ms=got.waited_ms,
        )

    async def aclose(self) -> None:
        """Close every connection."""
        await self._transport.aclose()


class Poster(Exchanges[F]):
    """The adapter of a protocol whose calls are one POST each."""

    async def call(
        self, skill: SkillRef, inputs: Mapping[str, Any], *, deadline_s: float, caller: str = MAIN_CALLER
    ) -> Observation:
        """Call *skill* once; *deadline_s* covers everything from the look-up of the name to the last byte.

        Raises:
            FleetFault: If our own side failed.
            BadJob: If the address may not be called, or the access's options or secrets are not usable here.
        """
        form = self.form(skill)
        return await self.post(skill, form, form.body(skill, inputs), Deadline(deadline_s), caller)

    async def send(self, skill: SkillRef, body: bytes, *, deadline_s: float) -> Observation:
        """Call *skill* once with *body* as it is, in place of the one that holds the inputs.

        Raises:
            FleetFault, BadJob: As `call` does.
        """
        return await self.post(skill, self.form(skill), body, Deadline(deadline_s), MAIN_CALLER)

    def request(self, skill: SkillRef, inputs: Mapping[str, Any]) -> HttpRequest:
        """The request that `call` would send: every header, Host and Content-Length among them, and the secret.

        Raises:
            BadJob: If the access's options or secrets are not usable here.
        """
        form = self.form(skill)
        body = form.body(skill, inputs)
        headers = (*form.target.headers, ("Content-Length", str(len(body))))
        return HttpRequest(method="POST", url=str(form.target.url), headers=headers, body=body, read=form.read)


def _reply(got: Response, to: Endpoint) -> Reply:
    status = got.status
    if 200 <= status < 300:
        reply = to.read(got.body)
        return Malformed(f"HTTP {status}: {reply.reason}") if isinstance(reply, Malformed) else reply
    if 300 <= status < 400:
        where = got.header("location")[:QUOTED_CHARS]
        return Malformed(f"HTTP {status}, a redirect to {where!r} that is not followed")
    quoted = got.body[: QUOTED_CHARS * 4].decode(errors="replace")[:QUOTED_CHARS]
    if 400 <= status < 500:
        return Refused(f"HTTP {status}: {quoted}")
    if 500 <= status < 600:
        return Failed(f"HTTP {status}: {quoted}")
    return Malformed(f"HTTP {status}, which is no answer")
