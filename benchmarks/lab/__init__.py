"""Benchmarks of the lab against its peers and its limits."""
