"""Helpers for the web tests."""
