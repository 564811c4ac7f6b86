"""The `noughts` command."""
