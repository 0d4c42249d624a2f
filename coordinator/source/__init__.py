"""What a skill's source does, read and never run: files, facts, hosts, secrets, hidden text."""
