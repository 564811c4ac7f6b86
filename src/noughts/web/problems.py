"""What is answered when something is refused: a status, a code that programs can rely on, a sentence."""

from __future__ import annotations

import msgspec

from noughts.core import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

API_HEADERS = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
"""What every answer has that is no page."""

MEDIA_TYPE: Final = "application/problem+json"


class Problem(msgspec.Struct, omit_defaults=True, frozen=True):
    """Something was refused."""

    title: str
    status: int
    code: str
    detail: str
    type: str = "about:blank"
    version: int | None = None
    """Where the game stands now, if that is what the problem is about."""


# Every code there is: its status, and what it is in general.
CODES: dict[str, tuple[int, str]] = {
    "badRequest": (400, "The request cannot be read"),
    "nameRefused": (400, "The name cannot be taken"),
    "unknownPolicy": (400, "There is no such bot"),
    "unreadable": (400, "That is no position and no game"),
    "notAcceptedHere": (403, "The request comes from another site"),
    "notFound": (404, "There is no such thing for you"),
    "methodNotAllowed": (405, "That cannot be done there"),
    "timeout": (408, "The request took too long"),
    "gameOver": (409, "The game is over"),
    "noSuchCell": (409, "There is no such cell"),
    "notYourTurn": (409, "It is not your turn"),
    "cellTaken": (409, "The cell is taken"),
    "notReady": (409, "The other seat is free still"),
    "staleVersion": (409, "The game has gone on"),
    "keyReused": (409, "The key stands for another command"),
    "seatTaken": (409, "The seat is taken"),
    "alreadyOver": (409, "The game is over"),
    "notOver": (409, "The game is not over"),
    "nothingToTakeBack": (409, "There is nothing to take back"),
    "noOffer": (409, "There is nothing to answer"),
    "tooLong": (409, "The game has become too long"),
    "tooLarge": (413, "The request is too large"),
    "wrongType": (415, "The request is not JSON"),
    "tooMany": (429, "Too many requests"),
    "headersTooLarge": (431, "The headers are too large"),
    "internal": (500, "Something went wrong here"),
    "storeUnavailable": (503, "The games cannot be reached now"),
    "tooBusy": (503, "The server is full"),
}

# The first that an error is an instance of says what it is called.
_OF_ERRORS: tuple[tuple[type[errors.NoughtsError], str], ...] = (
    (errors.GameOver, "gameOver"),
    (errors.NoSuchCell, "noSuchCell"),
    (errors.NotYourTurn, "notYourTurn"),
    (errors.CellTaken, "cellTaken"),
    (errors.AlreadyOver, "alreadyOver"),
    (errors.SeatTaken, "seatTaken"),
    (errors.NothingToTakeBack, "nothingToTakeBack"),
    (errors.StaleVersion, "staleVersion"),
    (errors.KeyReused, "keyReused"),
    (errors.NoSuchGame, "notFound"),
    (errors.InvalidName, "nameRefused"),
    (errors.InvalidId, "badRequest"),
    (errors.PolicyError, "unknownPolicy"),
    (errors.NotationError, "unreadable"),
    (errors.StoreError, "storeUnavailable"),
    (errors.RecordError, "storeUnavailable"),
)


class Refused(errors.NoughtsError):
    """A request that is answered with a problem."""

    def __init__(
        self, code: str, detail: str, *, version: int | None = None, retry_after: int | None = None
    ) -> None:
        super().__init__(detail)
        self.code = code
        self.version = version
        self.retry_after = retry_after

    @property
    def status(self) -> int:
        """What HTTP calls it."""
        return CODES[self.code][0]

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """What belongs to the answer beside its body."""
        found = [(b"content-type", MEDIA_TYPE.encode())]
        if self.retry_after is not None:
            found.append((b"retry-after", str(self.retry_after).encode()))
        return found

    def body(self) -> bytes:
        """Return the problem as it is sent."""
        status, title = CODES[self.code]
        detail = str(self)
        sentence = detail[:1].upper() + detail[1:] + ("" if detail.endswith((".", "!", "?")) else ".")
        return msgspec.json.encode(Problem(title, status, self.code, sentence, version=self.version))


def refusal(error: errors.NoughtsError) -> Refused:
    """Return how a request is answered that led to an error."""
    if isinstance(error, Refused):
        return error
    code = next((code for kind, code in _OF_ERRORS if isinstance(error, kind)), "badRequest")
    if isinstance(error, errors.StoreLost):
        return Refused(code, LOST, retry_after=1)
    if code == "storeUnavailable":  # where the games are kept is nobody's business out there
        return Refused(code, "the games cannot be reached now: try again in a moment", retry_after=1)
    return Refused(code, str(error))


LOST = "the store was moved, replaced or cut short while it was in use: the server ends in a moment"
ABSENT = "there is no such game, or there is no seat of yours at it"


def absent() -> Refused:
    """Return the one answer for what is not there, and for what is somebody else's."""
    return Refused("notFound", ABSENT)
