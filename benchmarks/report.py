"""The table that `make bench` prints."""

from __future__ import annotations

missed: list[str] = []
"""The figures that missed their target."""


def report(what: str, figure: str, limit: str, *, reached: bool | None) -> None:
    """Print one row, and remember a missed target."""
    if reached is False:
        missed.append(what)
    verdict = {True: "reached", False: "NOT REACHED", None: "-"}[reached]
    print(f"| {what} | {figure} | {limit} | {verdict} |", flush=True)
