"""The ledger's schema through time: one file in `versions` for each step, applied by `coordinator.ledger.upgrade`."""
