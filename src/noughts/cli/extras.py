"""Optional dependencies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from noughts.core.errors import NotInstalled, quoted


@contextmanager
def needs_extra(extra: str | None) -> Iterator[None]:
    """Turn a failed import into a sentence that says what to install."""
    try:
        yield
    except ImportError as error:
        if extra is None:
            raise
        raise NotInstalled(
            f"this needs {quoted(error.name)}, which is not installed: pip install 'noughts[{extra}]'"
        ) from error
