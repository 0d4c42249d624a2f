"""What proves an attack; one file a kind of evidence."""
