"""Known vulnerabilities of packages: OSV records, kept in a local database."""
