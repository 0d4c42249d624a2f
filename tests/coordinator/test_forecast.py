from __future__ import annotations

from coordinator import policy
from coordinator.catalog.skill import Rejection
from coordinator.forecast import forecast
from coordinator.plan import Planner
from payloads import loader
from tests.coordinator.skills import skill, text
from workers.wire.queues import FUNCTIONAL, LATENCY, SECURITY
from workers.wire.skill import Access


def test_a_forecast_counts_what_would_be_asked_and_of_whom() -> None:
    """Skills, servers whose tools are not known yet, programs that may not be started, and rejections."""
    planner = Planner(run_id="plan", policy=policy.load(None), corpus=loader.load())
    entries = [
        skill(text()),
        skill(access=Access(adapter="mcp", endpoint="https://mcp.example.com/mcp")),
        skill(access=Access(adapter="mcp", endpoint="stdio://program", options={"command": ["x"], "folder": ""})),
        skill(access=None),
        Rejection(source="x", pointer="", expected="a skill", found="none"),
    ]

    told = forecast(entries, planner)

    assert (told.skills, told.servers, told.uncalled, told.rejected) == (1, 1, 2, 1)
    assert told.attacks == len(loader.load().payloads)
    assert set(told.jobs) == {FUNCTIONAL, SECURITY, LATENCY}
    assert told.requests["mcp.example.com"] == 1
    assert told.requests["127.0.0.1:1"] >= 21 + 20  # quiet with its warm-up, and the sustained load
