"""Benchmarks of the web game, next to boardgame.io."""
