"""Which tools does a server have: what it says itself."""

from __future__ import annotations

import msgspec

from workers.adapters._adapter import ListsTools
from workers.faults import BadJob
from workers.observation import Answered, Broke, Failed, Malformed, Observation, Refused, TimedOut
from workers.probes.functional import unanswered
from workers.session import Session
from workers.wire.job import DiscoverJob
from workers.wire.result import EVIDENCE_CHARS, Tool, Verdict


async def discover(job: DiscoverJob, session: Session) -> tuple[Tool, ...] | Verdict:
    """The tools of the server that the session's skill stands for, or the verdict on one that does not tell.

    Raises:
        FleetFault: If our own side failed.
        BadJob: If the adapter is of a kind that has no tools, or the server may not be called.
    """
    adapter = session.adapter
    if not isinstance(adapter, ListsTools):
        raise BadJob(f"the adapter {session.skill.access.adapter!r} knows of no tools")
    found = await adapter.tools(session.skill, deadline_s=job.timeout_ms / 1000)
    if isinstance(found, tuple):
        return found
    return msgspec.structs.replace(unanswered(found), evidence=_told(found)[:EVIDENCE_CHARS])


def _told(observation: Observation) -> str:
    match observation:
        case TimedOut(deadline_ms=deadline_ms):
            return f"no answer within {deadline_ms:.0f} ms"
        case Broke(reason=reason):
            return reason
        case Answered(reply=Refused(reason=reason) | Failed(reason=reason) | Malformed(reason=reason)):
            return reason
    return "an answer that holds no list of tools"
