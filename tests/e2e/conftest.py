from __future__ import annotations

from tests.e2e.command import marketplace, skillmark

__all__ = ["marketplace", "skillmark"]
