"""Whose fault it was.

`FleetFault` is ours: the job is run again, and when it keeps failing the result is `Unjudged`. `BadJob` is a job that
no worker can run: never retried, `Unjudged` at once. What a skill does wrong is neither: it is an `Observation`.
"""

from __future__ import annotations


class FleetFault(Exception):
    """Our machine, network or broker failed; nothing is known of the skill."""


class BadJob(Exception):
    """A job that asks for something that does not exist here, or that cannot be parsed."""
