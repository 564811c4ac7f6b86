"""Tic-tac-toe with exact rules: the library's front door.

The public names stand in `noughts.library`, and those of the players in `noughts.bots.library`;
docs/reference.md shows them all. They are imported when the first of them is asked for, so that nobody
pays for what is not used.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:  # a type checker sees the names themselves, and so a name that is not there
    from noughts import library
    from noughts.bots import library as bots_library
    from noughts.bots.library import *  # noqa: F403 - the same
    from noughts.library import *  # noqa: F403 - the lists of names are kept there alone

    __all__ = []
    __all__ += library.__all__
    __all__ += bots_library.__all__
else:
    _SHELVES = "noughts.library", "noughts.bots.library"

    def __getattr__(name):  # noqa: ANN001, ANN202 - no type checker comes here
        from importlib import import_module  # noqa: PLC0415 - not before it is needed

        if name == "__all__":
            return [known for shelf in _SHELVES for known in import_module(shelf).__all__]
        for shelf in map(import_module, _SHELVES):
            if name in shelf.__all__:
                return globals().setdefault(name, getattr(shelf, name))
        raise AttributeError(f"module 'noughts' has no attribute {name!r}")

    def __dir__():  # noqa: ANN202 - the same
        return sorted({*globals(), *__getattr__("__all__")})
