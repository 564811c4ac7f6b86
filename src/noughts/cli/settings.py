"""What a player has set, and the lines typed before: private files in the config and state folders."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from noughts.core.errors import InvalidArgument, NoughtsError
from noughts.core.value import Value
from noughts.files import FileUnavailable, JsonFormat, replace_private

DEFAULT_LEVEL = "Medium"
MAX_PAUSE_SECONDS = 10
MAX_HISTORY_LINES = 200


class BadSettings(NoughtsError):
    """A file that does not hold settings."""


class GameSettings(Value):
    level: str = DEFAULT_LEVEL
    """The level that the computer played at last."""
    numpad: bool = False
    """Whether digits mean cells as on a numpad, with 7 at the top left."""
    pause_seconds: float = 0.4
    """How long a bot seems to think."""


_FORMAT = JsonFormat("noughtsSettings", 1, ("level", "numpad", "pauseSeconds"), BadSettings)


def load_settings() -> GameSettings:
    """Return the settings in the user's config folder, or the defaults; refuse a broken file."""
    path = _path("XDG_CONFIG_HOME", ".config", "settings.json")
    return _FORMAT.load(path, _read) if path and path.exists() else GameSettings()


def change_settings(**changes: object) -> None:
    """Save some settings, where that can be done; a broken file stays as it is."""
    path = _path("XDG_CONFIG_HOME", ".config", "settings.json")
    with suppress(BadSettings, FileUnavailable):
        settings = load_settings().replace(**changes)
        content = {
            _FORMAT.thing: _FORMAT.schema,
            "level": settings.level,
            "numpad": settings.numpad,
            "pauseSeconds": settings.pause_seconds,
        }
        if path:
            replace_private(path, f"{json.dumps(content, indent=2)}\n")


def load_history() -> list[str]:
    """Return the lines typed before, the latest last."""
    path = _path("XDG_STATE_HOME", ".local/state", "history")
    try:
        text = path.read_text("utf-8", "replace") if path else ""
    except OSError:
        text = ""
    return [line for line in text.split("\n") if line and line.isprintable()][-MAX_HISTORY_LINES:]


def save_history(lines: list[str]) -> None:
    path = _path("XDG_STATE_HOME", ".local/state", "history")
    with suppress(FileUnavailable):
        if path:
            replace_private(path, "".join(f"{line}\n" for line in lines[-MAX_HISTORY_LINES:]))


def _read(written: dict[str, Any]) -> GameSettings:
    defaults = GameSettings()
    level = written.get("level", defaults.level)
    numpad = written.get("numpad", defaults.numpad)
    pause = written.get("pauseSeconds", defaults.pause_seconds)
    if not isinstance(level, str):
        raise InvalidArgument("level is text")
    if not isinstance(numpad, bool):
        raise InvalidArgument("numpad is true or false")
    if (
        isinstance(pause, bool)
        or not isinstance(pause, int | float)
        or not 0 <= pause <= MAX_PAUSE_SECONDS
    ):
        raise InvalidArgument(f"pauseSeconds is a number from 0 to {MAX_PAUSE_SECONDS}")
    return GameSettings(level, numpad, pause)


def _path(variable: str, below_home: str, name: str) -> Path | None:
    """Return a file in a folder of the XDG base directory specification; None without a home."""
    folder, home = (Path(os.environ.get(each, "")) for each in (variable, "HOME"))
    for candidate in (folder, home / below_home):
        if candidate.is_absolute():
            return candidate / "noughts" / name
    return None
