"""What lock and requirement files say; one file a format, found by listing this folder."""
