"""The attack corpus: one file a probe, and the loader that validates them."""
