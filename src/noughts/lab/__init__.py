"""A lab for people who train players: batches of games, environments, tournaments (extra `lab`).

What is used most stands here by its name, and is imported when it is asked for: who steps through arrays
needs no Gymnasium, and who asks for nothing needs no NumPy.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from noughts.lab.arrays import Rules
    from noughts.lab.batch_play import Records, Tally
    from noughts.lab.greedy_policy import greedy
    from noughts.lab.gym_env import TicTacToeEnv
    from noughts.lab.lookup import DRAWN, GOING, O_WON, POSITIONS, X_WON
    from noughts.lab.plots import plot_curves, plot_ratings
    from noughts.lab.ratings import Rating
    from noughts.lab.simulation import Simulation
    from noughts.lab.vector_env import TicTacToeVectorEnv

__all__ = [
    "DRAWN",
    "GOING",
    "O_WON",
    "POSITIONS",
    "X_WON",
    "Rating",
    "Records",
    "Rules",
    "Simulation",
    "Tally",
    "TicTacToeEnv",
    "TicTacToeVectorEnv",
    "greedy",
    "plot_curves",
    "plot_ratings",
]

_MODULES = {
    "arrays": ("Rules",),
    "greedy_policy": ("greedy",),
    "gym_env": ("TicTacToeEnv",),
    "batch_play": ("Records", "Tally"),
    "plots": ("plot_curves", "plot_ratings"),
    "ratings": ("Rating",),
    "simulation": ("Simulation",),
    "lookup": ("DRAWN", "GOING", "O_WON", "POSITIONS", "X_WON"),
    "vector_env": ("TicTacToeVectorEnv",),
}

if not TYPE_CHECKING:

    def __getattr__(name):  # noqa: ANN001, ANN202 - no type checker comes here
        from importlib import import_module  # noqa: PLC0415 - not before it is needed

        for module, names in _MODULES.items():
            if name in names:
                return globals().setdefault(name, getattr(import_module(f"noughts.lab.{module}"), name))
        raise AttributeError(f"module 'noughts.lab' has no attribute {name!r}")

    def __dir__():  # noqa: ANN202 - the same
        return sorted({*globals(), *__all__})
