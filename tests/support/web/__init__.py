"""Helpers of the tests of the web game."""
