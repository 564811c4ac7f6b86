"""The solver, tactics, and the coach."""
