"""The settings of a server: from options and the environment."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Network, ip_network

import msgspec

from noughts.core.errors import quoted
from noughts.web.problems import InvalidSetting


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Every setting, by its name in the environment after `NOUGHTS_`.

    `make docs` prints the docstrings into docs/serving.md.
    """

    store: str = "memory:"
    """Where the games are: `sqlite:PATH`, `postgresql://USER@HOST/DATABASE` or `memory:`."""
    bots: str = ""
    """Saved policies that are offered as bots, `NAME=FILE` separated by commas."""
    origin: str = ""
    """Where browsers find the server, such as `https://noughts.example`; default: from each request."""
    proxy: str = ""
    """Addresses or networks of trusted proxies, separated by commas; `*` trusts everybody."""
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
    streams_per_address: int = 256
    """Open streams of one address at a process."""
    most_streams: int = 20_000
    """Open streams of a process."""
    cache_megabytes: int = 64
    """How much memory a process uses for games that it may need again."""
    lobby_grace_seconds: int = 60
    """How long the lobby lists a new game, or one whose last player has disconnected."""
    expire_days: int = 30
    """Days of serving after which a web game is deleted that nobody has used; 0: never."""
    log: str = "info"
    """The minimum level that is logged: `debug`, `info`, `warning` or `error`."""
    log_format: str = "auto"
    """How it is logged: `plain`, `json`, or `auto`, which is plain on a terminal."""

    @property
    def proxies(self) -> tuple[IPv4Network | IPv6Network, ...]:
        """The networks of trusted proxies."""
        found = [one.strip() for one in self.proxy.split(",") if one.strip()]
        every = [network for one in found if one == "*" for network in ("0.0.0.0/0", "::/0")]
        return tuple(map(ip_network, [*every, *(one for one in found if one != "*")]))


GONE = {
    "CHECKPOINT_FILE": "there are no checkpoints any more",
    "SHARED": "a SQLite file has one server; use PostgreSQL for several",
    "WORKERS": "use several servers on PostgreSQL, or uvicorn --workers (docs/serving.md)",
    "CONNECTIONS_PER_ADDRESS": "a proxy limits connections: see docs/serving.md",
    "MOST_CONNECTIONS": "a proxy limits connections: see docs/serving.md",
    "CACHED_GAMES": "use NOUGHTS_CACHE_MEGABYTES",
}
"""Settings that went, and what to do instead."""

LOG_LEVELS = ("debug", "info", "warning", "error")
LOG_FORMATS = ("auto", "plain", "json")


def from_environment(environment: Mapping[str, str], **given: str) -> Settings:
    """Read the settings; an option overrides the environment.

    >>> from_environment({"NOUGHTS_JOINS_PER_MINUTE": "7"}, store="memory:").joins_per_minute
    7
    >>> from_environment({"NOUGHTS_MOST_STREAMS": "many"})
    Traceback (most recent call last):
    noughts.web.problems.InvalidSetting: NOUGHTS_MOST_STREAMS must be a number of at least 0, not 'many'
    """
    for name, instead in GONE.items():
        if environment.get(f"NOUGHTS_{name}"):
            raise InvalidSetting(f"NOUGHTS_{name} is not a setting any more: {instead}")
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
    try:
        settings.proxies  # noqa: B018 - reads them
    except ValueError:
        raise InvalidSetting(
            "NOUGHTS_PROXY must be addresses or networks such as 10.0.0.0/8, separated by commas, "
            f"not {quoted(settings.proxy)}"
        ) from None
    return settings


def variable(name: str) -> str:
    """Return the name of a setting in the environment."""
    return f"NOUGHTS_{name.upper()}"


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise InvalidSetting(f"{variable(name)} must be a number of at least 0, not {quoted(text)}")
    return int(text)


def _is_origin(text: str) -> bool:
    scheme, there, host = text.partition("://")
    return bool(there and scheme in ("http", "https") and host and not set(host) & set("/?#@ "))
