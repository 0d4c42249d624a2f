"""Whether this worker starts programs at all: its own operator says so, and the one who sent the job.

Both must. A message could come from anybody who reaches the broker, and must not make a worker run a command.
"""

from __future__ import annotations

from workers.faults import BadJob
from workers.wire.skill import SkillRef

_given = False


def give(allowed: bool) -> None:
    """Let this process start programs, or not."""
    global _given
    _given = allowed


def check(skill: SkillRef) -> None:
    """Make sure that *skill* may be started as a program.

    Raises:
        BadJob: If not; the message names the flag.
    """
    if not skill.allow_exec:
        raise BadJob("it would have to be started as a program; --allow-exec allows that")
    if not _given:
        raise BadJob("this worker starts no programs; start it with --allow-exec (or SKILLMARK_ALLOW_EXEC=true)")
