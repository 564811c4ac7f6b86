"""One file for each command: its help, its options and what it does."""
