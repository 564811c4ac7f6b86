"""Problem responses: every code with its status, and which error has which code."""

from __future__ import annotations

from typing import Final

import msgspec

from noughts import errors

MEDIA_TYPE: Final = "application/problem+json"


class Problem(msgspec.Struct, omit_defaults=True, frozen=True):
    """Something was refused."""

    title: str
    status: int
    code: str
    detail: str
    type: str = "about:blank"
    version: int | None = None
    """The game's version, if the problem is about that."""


CODES: dict[str, tuple[int, str]] = {
    "badRequest": (400, "The request cannot be read"),
    "nameRefused": (400, "The name is not allowed"),
    "unknownPolicy": (400, "Unknown bot"),
    "unreadable": (400, "That is not a position or a game"),
    "notAcceptedHere": (403, "The request comes from another site"),
    "notFound": (404, "Not found"),
    "methodNotAllowed": (405, "Method not allowed"),
    "timeout": (408, "The request took too long"),
    "gameOver": (409, "The game is over"),
    "noSuchCell": (409, "No such cell"),
    "cellTaken": (409, "The cell is taken"),
    "notYourTurn": (409, "It is not your turn"),
    "notReady": (409, "Nobody has joined yet"),
    "staleVersion": (409, "The game has gone on"),
    "keyReused": (409, "The key was used for another command"),
    "seatTaken": (409, "The seat is taken"),
    "alreadyOver": (409, "The game is over"),
    "notOver": (409, "The game is not over"),
    "nothingToTakeBack": (409, "Nothing to take back"),
    "noOffer": (409, "No offer to answer"),
    "tooLong": (409, "The game has become too long"),
    "tooLarge": (413, "The request is too large"),
    "wrongType": (415, "The request is not JSON"),
    "tooMany": (429, "Too many requests"),
    "internal": (500, "Something went wrong on the server"),
    "storeUnavailable": (503, "The games cannot be reached now"),
    "tooBusy": (503, "The server is full"),
}


class InvalidSetting(errors.NoughtsError):
    """A setting of the server that can't be used."""


class GamesUnavailable(errors.NoughtsError):
    """The store does not answer, or has lost what it had acknowledged."""


class ServerFailed(errors.NoughtsError):
    """The server cannot continue, and exits."""

    exit_code = 1


# The first that an error is an instance of is its code.
_CODES_OF_ERRORS = (
    (errors.AlreadyOver, "alreadyOver"),
    (errors.SeatTaken, "seatTaken"),
    (errors.NothingToTakeBack, "nothingToTakeBack"),
    (errors.TooLong, "tooLong"),
    (errors.StaleVersion, "staleVersion"),
    (errors.KeyReused, "keyReused"),
    (errors.NoSuchGame, "notFound"),
    (errors.InvalidName, "nameRefused"),
    (errors.PolicyError, "unknownPolicy"),
    (errors.NotationError, "unreadable"),
    (errors.StoreError | errors.RecordError | GamesUnavailable, "storeUnavailable"),
)

STORE_LOST = "the store was moved, replaced or cut short while it was in use: the server ends in a moment"


class ApiError(errors.NoughtsError):
    """A refusal with a code of its own."""

    def __init__(
        self, code: str, detail: str = "", *, version: int | None = None, retry_after: int | None = None
    ) -> None:
        self.code = code
        self.status, self.title = CODES[code]
        super().__init__(detail or self.title)
        self.version = version
        self.headers: tuple[tuple[bytes, bytes], ...] = ()
        """Those apart from the headers of every problem."""
        if retry_after is not None:
            self.headers = ((b"retry-after", str(retry_after).encode()),)

    def body(self) -> bytes:
        detail = str(self)
        sentence = detail[:1].upper() + detail[1:] + ("" if detail.endswith((".", "!", "?")) else ".")
        return msgspec.json.encode(
            Problem(self.title, self.status, self.code, sentence, version=self.version)
        )


def api_error(error: errors.NoughtsError) -> ApiError:
    """Return the refusal for an error."""
    if isinstance(error, ApiError):
        return error
    code = next((code for kind, code in _CODES_OF_ERRORS if isinstance(error, kind)), "badRequest")
    if code != "storeUnavailable":
        return ApiError(code, str(error))
    if isinstance(error, errors.StoreLost):
        return ApiError(code, STORE_LOST, retry_after=1)
    if isinstance(error, errors.CorruptStore | errors.RecordError):
        return ApiError(code, "this game is damaged: its record has changed since it was written")
    # Why is in the log.
    return ApiError(code, "the games cannot be reached now: try again in a moment", retry_after=1)


def absent() -> ApiError:
    """Return the one refusal for a game that does not exist and for a seat that is not yours."""
    return ApiError("notFound", "no such game, or you have no seat in it")


class WrongSecret(ApiError):
    """A secret came with the request, and is of no seat: such requests are limited."""

    def __init__(self) -> None:
        super().__init__("notFound", str(absent()))
