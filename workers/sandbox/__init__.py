"""How a program of somebody else's is started: confined, bounded, and ended with all that it started itself."""
