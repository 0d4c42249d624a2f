"""What every adapter offers; each module beside this one has ``open() -> Adapter``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct

from workers.faults import BadJob
from workers.observation import Observation, Reply
from workers.wire.result import Tool
from workers.wire.skill import SkillRef

MAIN_CALLER = "main"


class NoHttpRequest(BadJob):
    """A call by this protocol is not one HTTP request that could be sent again and again."""


class HttpRequest(Struct, frozen=True, kw_only=True):
    """One HTTP request, ready to be framed by whoever measures it.

    *read* says what the body of a 2xx answer means in the adapter's protocol; without it any JSON body is an answer.
    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    read: Callable[[bytes], Reply] | None = None


class Adapter(Protocol):
    """A wire protocol through which skills are called. One instance serves a whole worker process.

    Where the inputs reach the skill as one text, the module says ``AS_TEXT = True``: they have no types then.
    """

    async def call(
        self, skill: SkillRef, inputs: Mapping[str, Any], *, deadline_s: float, caller: str = MAIN_CALLER
    ) -> Observation:
        """Call *skill* once and say what it did, within *deadline_s* seconds over everything.

        Calls of different *caller* share no connection, cookie or session: to the skill they are two users.

        Raises:
            FleetFault: If our own side failed.
            BadJob: If the call is not allowed or cannot be built.
        """
        ...

    def request(self, skill: SkillRef, inputs: Mapping[str, Any]) -> HttpRequest:
        """The HTTP request that `call` would send, for the latency probe's own clock.

        Raises:
            NoHttpRequest: If this protocol has no single HTTP request for a call.
            BadJob: If the call cannot be built.
        """
        ...

    async def aclose(self) -> None:
        """Close every connection."""
        ...


@runtime_checkable
class TakesBody(Protocol):
    """An adapter whose calls are a JSON body that can be replaced; its module says ``TAKES_BODY = True``."""

    async def send(self, skill: SkillRef, body: bytes, *, deadline_s: float) -> Observation:
        """Call *skill* as `Adapter.call` does, with *body* as it is, whether or not it is JSON."""
        ...


@runtime_checkable
class Prepares(Protocol):
    """An adapter that must have met the skill before it can give the `Adapter.request` of a call."""

    async def prepare(self, skill: SkillRef, *, deadline_s: float) -> Observation | None:
        """Meet *skill*; None when that worked, else what it did instead."""
        ...


@runtime_checkable
class ListsTools(Protocol):
    """An adapter of servers that say themselves which tools they have."""

    async def tools(self, skill: SkillRef, *, deadline_s: float) -> tuple[Tool, ...] | Observation:
        """The tools of the server that *skill*'s access names, or what it did instead of listing them."""
        ...
