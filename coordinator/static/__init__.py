"""What is known without calling the skill; one file a kind of evidence."""
