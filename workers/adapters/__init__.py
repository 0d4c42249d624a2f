"""How a skill is called; one file a wire protocol."""
