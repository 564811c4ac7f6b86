"""Fixtures of the web tests."""

from __future__ import annotations

import asyncio
from inspect import iscoroutinefunction

import pytest

from support.store_fixtures import postgres  # noqa: F401 - a fixture
from support.web.browser import own_server, users, users_of_own_server, users_who_install  # noqa: F401 - fixtures
from support.web.fixtures import *  # noqa: F403 - fixtures


@pytest.fixture
def store(store_url: str) -> str:
    return store_url


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a coroutine test in its own event loop."""
    if not iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames  # noqa: SLF001 - pytest has no public equivalent
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True
