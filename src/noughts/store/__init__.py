"""Stores of games: one contract, and one module for each engine."""
