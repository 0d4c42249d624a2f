"""``python -m coordinator.cli``."""

from coordinator.cli import main

main()
