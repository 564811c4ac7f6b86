"""Where games are kept: one contract, and an engine a file."""
