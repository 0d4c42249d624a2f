"""How a run is shown; one file a renderer."""
