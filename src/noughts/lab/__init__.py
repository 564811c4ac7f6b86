"""Batches of games, learning environments and tournaments (extra `lab`).

A public name is imported on first use: array code needs no Gymnasium, and `import noughts.lab` no NumPy.
Type checkers read `__init__.pyi`, which `make names` writes from this table.
"""

from importlib import import_module

PUBLIC = {
    "arrays": "Rules",
    "batch_play": "Records Tally",
    "greedy_policy": "greedy",
    "gym_env": "TicTacToeEnv",
    "lookup": "DRAWN GOING O_WON POSITIONS X_WON",
    "plots": "plot_curves plot_ratings",
    "ratings": "Rating",
    "simulation": "Simulation",
    "vector_env": "TicTacToeVectorEnv",
}
"""Where each public name lives."""

_MODULES = {name: module for module, names in PUBLIC.items() for name in names.split()}
__all__ = sorted(_MODULES)  # noqa: PLE0605 - type checkers read the stub


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'noughts.lab' has no attribute {name!r}")
    return globals().setdefault(name, getattr(import_module(f"noughts.lab.{_MODULES[name]}"), name))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
