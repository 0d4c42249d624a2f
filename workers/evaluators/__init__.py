"""How an answer is scored against what was expected; one file a method."""
