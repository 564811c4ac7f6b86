"""The client of `noughts join`."""
