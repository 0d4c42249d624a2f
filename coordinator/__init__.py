"""Reads catalogs, plans and publishes jobs, collects results, scores and certifies."""
