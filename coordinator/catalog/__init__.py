"""The skills to certify; one file a catalog format."""
