"""Tic-tac-toe with exact rules: the library's front door.

The public names stand in `noughts.library`, and docs/reference.md shows them all. They are imported
when the first of them is asked for, so that the command does not pay for what it does not use.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from noughts.library import *  # noqa: F403 - the list of names is kept there alone


def __getattr__(name: str) -> object:
    from importlib import import_module  # noqa: PLC0415 - not before it is needed

    library = import_module("noughts.library")
    if name == "__all__" or name in library.__all__:
        return getattr(library, name)
    raise AttributeError(f"module 'noughts' has no attribute {name!r}")


def __dir__() -> list[str]:
    from noughts.library import __all__  # noqa: PLC0415 - the same

    return sorted({*globals(), *__all__})
