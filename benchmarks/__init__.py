"""The functional benchmarks: JSON task sets, and the loader that validates them."""
