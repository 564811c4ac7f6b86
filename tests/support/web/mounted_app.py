"""The application, mounted in another one at a prefix."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.routing import Mount

from noughts.web import create_app

application = Starlette(routes=[Mount("/games/of/ours", app=create_app())])
