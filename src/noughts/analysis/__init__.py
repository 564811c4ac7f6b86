"""What a position is worth: the solver, tactics, and the coach."""
