"""The engine's version: it stamps every verdict and introduces us to every skill."""

__version__ = "0.1.0"
