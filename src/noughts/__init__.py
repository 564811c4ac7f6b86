"""Tic-tac-toe with exact rules: the library's front door.

The public names stand in `noughts.library`, and docs/reference.md shows them all. They are imported
when the first of them is asked for, so that the command does not pay for what it does not use.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:  # a type checker sees the names themselves, and so a name that is not there
    from noughts.library import *  # noqa: F403 - the list of names is kept there alone
    from noughts.library import __all__ as __all__
else:

    def __getattr__(name):  # noqa: ANN001, ANN202 - no type checker comes here
        from importlib import import_module  # noqa: PLC0415 - not before it is needed

        library = import_module("noughts.library")
        if name != "__all__" and name not in library.__all__:
            raise AttributeError(f"module 'noughts' has no attribute {name!r}")
        return globals().setdefault(name, getattr(library, name))

    def __dir__():  # noqa: ANN202 - the same
        return sorted({*globals(), *__getattr__("__all__")})
