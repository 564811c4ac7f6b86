"""Batches of games, learning environments and tournaments (extra `lab`).

A public name is imported on first use: array code needs no Gymnasium, and `import noughts.lab` no NumPy.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from noughts.lab.arrays import Rules as Rules
    from noughts.lab.batch_play import Records as Records, Tally as Tally
    from noughts.lab.greedy_policy import greedy as greedy
    from noughts.lab.gym_env import TicTacToeEnv as TicTacToeEnv
    from noughts.lab.lookup import (
        DRAWN as DRAWN,
        GOING as GOING,
        O_WON as O_WON,
        POSITIONS as POSITIONS,
        X_WON as X_WON,
    )
    from noughts.lab.plots import plot_curves as plot_curves, plot_ratings as plot_ratings
    from noughts.lab.ratings import Rating as Rating
    from noughts.lab.simulation import Simulation as Simulation
    from noughts.lab.vector_env import TicTacToeVectorEnv as TicTacToeVectorEnv
else:
    from importlib import import_module

    _NAMES = {
        name: module
        for module, names in {
            "arrays": "Rules",
            "batch_play": "Records Tally",
            "greedy_policy": "greedy",
            "gym_env": "TicTacToeEnv",
            "lookup": "DRAWN GOING O_WON POSITIONS X_WON",
            "plots": "plot_curves plot_ratings",
            "ratings": "Rating",
            "simulation": "Simulation",
            "vector_env": "TicTacToeVectorEnv",
        }.items()
        for name in names.split()
    }
    __all__ = sorted(_NAMES)  # noqa: PLE0605 - a type checker sees the imports above

    def __getattr__(name):  # noqa: ANN001, ANN202 - a type checker sees the imports above
        if name not in _NAMES:
            raise AttributeError(f"module 'noughts.lab' has no attribute {name!r}")
        return globals().setdefault(name, getattr(import_module(f"noughts.lab.{_NAMES[name]}"), name))

    def __dir__():  # noqa: ANN202 - a type checker sees the imports above
        return sorted({*globals(), *__all__})
