"""What is asked of a skill; one file a pillar."""
