from __future__ import annotations

import pytest

from coordinator import policy
from coordinator.policy import Policy


@pytest.fixture(scope="session")
def rules() -> Policy:
    return policy.load()
