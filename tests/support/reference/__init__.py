"""Second implementations, as simple as possible."""
