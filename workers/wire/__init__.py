"""The contract: everything that crosses the broker, and the broker itself. Imports nothing else of ours."""
