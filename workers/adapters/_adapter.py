"""What every adapter offers; each module beside this one has ``open() -> Adapter``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from msgspec import Struct

from workers.observation import Observation
from workers.wire.skill import SkillRef

MAIN_CALLER = "main"


class HttpRequest(Struct, frozen=True, kw_only=True):
    """One HTTP request, ready to be framed by whoever measures it."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


class Adapter(Protocol):
    """A wire protocol through which skills are called. One instance serves a whole worker process."""

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
            BadJob: If this protocol has no single HTTP request for a call.
        """
        ...

    async def aclose(self) -> None:
        """Close every connection."""
        ...
