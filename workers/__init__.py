"""Stateless workers: they call live skills and judge what comes back."""
