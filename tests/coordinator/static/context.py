"""What the static checks of a test may use, where it does not matter."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from coordinator.policy import load
from coordinator.static.evidence import Context

CONTEXT = Context(policy=load(), folder=Path(), advisories="there is none", now=datetime(2026, 1, 1, tzinfo=UTC))
