from __future__ import annotations

import pytest

from tests.range import figures, shelves, trials
from tests.range.figures import Figures
from tests.range.trials import Trials


@pytest.fixture(scope="package")
def found() -> Trials:
    """Every attack on every skill of the range, once; the skills are gone when a test gets this."""
    return trials.try_all([*shelves.harmless(), *shelves.guilty()], trials.attacks())


@pytest.fixture(scope="package")
def added(found: Trials) -> Figures:
    return figures.add_up(found, shelves.harmless(), shelves.guilty())
