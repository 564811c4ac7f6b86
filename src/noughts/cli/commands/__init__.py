"""One file for each command: its help, its options and what it does.

The table of commands is in `cli/main.py`.
"""
