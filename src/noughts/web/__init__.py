"""The web game: a server for browsers and programs, and the page that it serves.

`create_app` is a factory for ASGI servers: `uvicorn --factory noughts.web:create_app`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from noughts.web.app import Application

__all__ = ["create_app"]


def create_app() -> Application:
    """Create the ASGI application; its settings come from the environment."""
    from noughts.web.app import from_settings  # noqa: PLC0415 - it needs an extra

    return from_settings()
