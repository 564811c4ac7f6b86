"""The settings of a server: from options and the environment."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address

import msgspec

from noughts.core.errors import quoted
from noughts.store.urls import is_on_server
from noughts.web.problems import InvalidSetting


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Every setting, by its name in the environment after `NOUGHTS_`.

    `make docs` prints the docstrings into docs/serving.md.
    """

    store: str = "memory:"
    """Where the games are: `sqlite:PATH`, `postgresql://USER@HOST/DATABASE` or `memory:`."""
    checkpoint_file: str = ""
    """A file for a copy of the checkpoint of a store on PostgreSQL."""
    bots: str = ""
    """Saved policies that are offered as bots, `NAME=FILE` separated by commas."""
    origin: str = ""
    """Where browsers find the server, such as `https://noughts.example`; default: as requests say."""
    proxy: str = ""
    """Addresses of trusted proxies, separated by commas; `*` trusts everybody."""
    creates_per_minute: int = 60
    """Games that one address may create; QR codes have the same limit, counted separately."""
    joins_per_minute: int = 120
    """Attempts to join from one address."""
    moves_per_minute: int = 3000
    """Moves from one address."""
    wrong_secrets_per_minute: int = 60
    """Wrong secrets from one address."""
    analyses_per_minute: int = 1200
    """Requests to the coach from one address."""
    connections_per_address: int = 512
    """Open connections of one address, unless it is a trusted proxy."""
    streams_per_address: int = 256
    """Open streams of one address."""
    most_streams: int = 20_000
    """Open streams of a process."""
    most_connections: int = 50_000
    """Open connections of a process, streams included, and never more than its open files allow."""
    cached_games: int = 4096
    """Games that a process keeps in memory while nobody is watching them."""
    lobby_grace_seconds: int = 60
    """How long the lobby lists a new game, or one whose last player has disconnected."""
    expire_days: int = 30
    """Days without a move, a join or a reader after which a web game is deleted; 0: never."""
    shared: int = 0
    """`1` if servers that were started separately share a SQLite file."""
    log: str = "info"
    """The minimum level that is logged: `debug`, `info`, `warning` or `error`."""
    log_format: str = "auto"
    """How it is logged: `plain`, `json`, or `auto`, which is plain on a terminal."""

    @property
    def is_shared(self) -> bool:
        """True if other processes may serve the same games."""
        return bool(self.shared) or is_on_server(self.store)


LOG_LEVELS = ("debug", "info", "warning", "error")
LOG_FORMATS = ("auto", "plain", "json")


def from_environment(environment: Mapping[str, str], **given: str) -> Settings:
    """Read the settings; an option overrides the environment.

    >>> from_environment({"NOUGHTS_JOINS_PER_MINUTE": "7"}, store="memory:").joins_per_minute
    7
    >>> from_environment({"NOUGHTS_CACHED_GAMES": "many"})
    Traceback (most recent call last):
    noughts.web.problems.InvalidSetting: NOUGHTS_CACHED_GAMES must be a number of at least 0, not 'many'
    """
    read: dict[str, str | int] = {}
    for field in msgspec.structs.fields(Settings):
        if text := environment.get(variable(field.name)):
            read[field.name] = _number(field.name, text) if field.type is int else text
    settings = Settings(**{**read, **given})  # type: ignore[arg-type]  # each was read as what it is
    for name, choices in (("log", LOG_LEVELS), ("log_format", LOG_FORMATS)):
        if (chosen := getattr(settings, name)) not in choices:
            raise InvalidSetting(
                f"{variable(name)} must be one of {', '.join(choices)}, not {quoted(chosen)}"
            )
    if settings.origin and not _is_origin(settings.origin):
        raise InvalidSetting(
            "NOUGHTS_ORIGIN must be like https://noughts.example, without a path, "
            f"not {quoted(settings.origin)}"
        )
    for proxy in filter(None, settings.proxy.split(",")):
        if proxy.strip() != "*" and not _is_address(proxy.strip()):
            raise InvalidSetting(
                f"NOUGHTS_PROXY must be addresses separated by commas, not {quoted(proxy)}"
            )
    return settings


def variable(name: str) -> str:
    """Return the name of a setting in the environment."""
    return f"NOUGHTS_{name.upper()}"


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise InvalidSetting(f"{variable(name)} must be a number of at least 0, not {quoted(text)}")
    return int(text)


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _is_origin(text: str) -> bool:
    scheme, there, host = text.partition("://")
    return bool(there and scheme in ("http", "https") and host and not set(host) & set("/?#@ "))
