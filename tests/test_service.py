"""The service: read, judge, record; a command counts once, with one answer for each key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import Any, NamedTuple, TypeAlias
from unittest.mock import Mock

import pytest

from noughts import (
    Answer,
    Command,
    CreateGame,
    Event,
    JoinGame,
    NoughtsError,
    O,
    PlaceToken,
    Resign,
    Service,
    TakeBack,
    X,
    decide,
    errors,
    events,
    fold,
    replay,
    service as service_module,
)
from noughts.errors import IllegalMoveReason
from noughts.service import random_id, wall_clock
from noughts.store.base import Change, nothing
from noughts.store.memory import Database, MemoryStore
from noughts.store.rows import entries_of
from support.played import NOW, ROOM, change_of, commit, found

Outcome: TypeAlias = type[NoughtsError] | IllegalMoveReason | tuple[Event, ...] | None

GAME = "game"
CREATED = 3
"""The version of a game that was created, and in which nothing else has happened."""


class Unreliable(MemoryStore):
    """A store whose connection breaks, or on which others are always faster."""

    def __init__(self) -> None:
        self.database = Database()
        super().__init__(self.database)
        self.trouble = ""
        """`before` or `after` the next commit, or `late` for every one."""

    def _commit(self, batch: Sequence[Change]) -> None:
        if self.trouble == "late":
            others = MemoryStore(self.database)
            now = found(others, GAME)
            commit(others, Change(now, now.followed_by(hour=now.hour + 1)))
            super()._commit(batch)
            return
        trouble, self.trouble = self.trouble, ""
        if trouble != "before":
            super()._commit(batch)
        if trouble:
            raise errors.StoreUnavailable("the connection is broken")


def service_of(store: MemoryStore, who: str = "id") -> Service:
    """Return a service with counted ids and a fixed time."""
    numbers = count(1)
    return Service(store, clock=lambda: NOW, new_id=lambda: f"{who}-{next(numbers)}")


def tokens(cells: str) -> tuple[Command, ...]:
    """Return the commands that create a game and place tokens on these cells, counted from 0."""
    return CreateGame(), *(PlaceToken((X, O)[turn % 2], int(cell)) for turn, cell in enumerate(cells))


def begun(store: MemoryStore, commands: Sequence[Command] = (CreateGame(),)) -> Service:
    service = service_of(store)
    for command in commands:
        service.handle(GAME, command)
    return service


def entries(store: MemoryStore) -> list[tuple[str, tuple[Event, ...]]]:
    """Return the key and the events of each command, after checking that they make a valid game."""
    stored = store.read(GAME)
    if stored is None:
        return []
    replay(stored.events)
    return [(entry.key, entry.events) for entry in stored.entries]


@pytest.fixture
def store() -> Unreliable:
    return Unreliable()


# Given, when, then


class Case(NamedTuple):
    """A game, a command, and its expected outcome."""

    given: tuple[Command, ...]
    when: Command
    then: Outcome
    """An error, the reason why a move is illegal, the events, or None for what the rules say."""
    version: int | None = None
    """The version that the player has seen."""
    faster: tuple[Command, ...] = ()
    """What others do after the player's program has read the game."""
    match: str | None = None
    key: str = "key"


COUNTS = None
NEW = tokens("")
JOINED = (*tokens("4"), JoinGame(X, "Ann"), JoinGame(O, "Bob"))

CASES = {
    # The answer is the events.
    "create": Case((), CreateGame(O, open_seats=True), (events.GameCreated(O), events.PlayerActive(O))),
    "join": Case((CreateGame(O, open_seats=True),), JoinGame(X, "Ann"), (events.PlayerJoined(X, "Ann"),)),
    "place": Case(
        (CreateGame(O),),
        PlaceToken(O, 4),
        (events.PlayerPlacedToken(1, 1, O), events.GamePlacedCount(1), events.PlayerActive(X)),
    ),
    # An illegal move is reported to the player alone.
    "not your turn": Case(tokens("4"), PlaceToken(X, 0), IllegalMoveReason.NOT_YOUR_TURN),
    # Other commands are refused by the game.
    "create twice": Case(NEW, CreateGame(), errors.AlreadyCreated),
    # Only CreateGame creates a game.
    **{
        f"{command} without a game": Case(
            (), command, errors.NoSuchGame, match="no game has the id 'game'"
        )
        for command in (JoinGame(X, "Ann"), PlaceToken(X, 4), Resign(X), TakeBack(X))
    },
    # A token that was meant for another position is neither placed nor taken back.
    **{
        f"{command} at version {version}": Case(tokens("40"), command, errors.StaleVersion, version)
        for command in (PlaceToken(X, 8), TakeBack(X), TakeBack(O), PlaceToken(O, 8))
        for version in (0, 1, CREATED, 6)
    },
    "second move at one version": Case(
        tokens("4"),
        PlaceToken(X, 0),
        errors.StaleVersion,
        CREATED,
        match="the game has changed since version 3: it is at 6",
    ),
    # The player doesn't know that a token was placed and taken back.
    **{
        f"{command} after a token was taken back": Case(
            (*tokens("4"), TakeBack(X)), command, errors.StaleVersion, CREATED
        )
        for command in (PlaceToken(X, 4), PlaceToken(X, 8))
    },
    # A name doesn't change the position.
    "place after names": Case(JOINED, PlaceToken(O, 0), COUNTS, 6),
    "take back after names": Case(JOINED, TakeBack(X), COUNTS, 6),
    "take back at the end": Case((*JOINED, PlaceToken(O, 0)), TakeBack(O), COUNTS, 11),
    # Resigning and joining count in any position.
    **{
        f"{command} at version {version}": Case(tokens("40"), command, COUNTS, version)
        for command in (Resign(X), Resign(O), JoinGame(X, "Ann"), JoinGame(O, "Bob"))
        for version in (0, CREATED, 6, 9)
    },
    # Nobody can have seen a version that never was.
    **{
        f"{command} at version {version}": Case(
            NEW,
            command,
            errors.StaleVersion,
            version,
            match="the game is at version 3, and was never at ",
        )
        for command in (CreateGame(), PlaceToken(X, 4), TakeBack(X), Resign(X), JoinGame(X, "Ann"))
        for version in (CREATED + 1, 10**30, -1, -4)
    },
    "create at version 1": Case(
        (), CreateGame(), errors.StaleVersion, 1, match="the game is at version 0, and was never at 1"
    ),
    # A key belongs to one command; that of X's first token is id-2.
    **{
        f"{command} with a used key at {version}": Case(
            tokens("4"),
            command,
            errors.KeyReused,
            version,
            match="the key 'id-2' was used for another command",
            key="id-2",
        )
        for command in (
            *(PlaceToken(X, 0), PlaceToken(O, 4), PlaceToken(X, 9)),
            *(TakeBack(X), Resign(X), JoinGame(X, "Ann"), CreateGame()),
        )
        for version in (None, 0, CREATED, 6)
    },
    # If others are faster, the command is judged again.
    **{
        f"place at {version}, overtaken by moves": Case(
            NEW, PlaceToken(X, 8), errors.StaleVersion, version, (PlaceToken(X, 4), PlaceToken(O, 0))
        )
        for version in (None, CREATED)
    },
    "place, overtaken by a name": Case(NEW, PlaceToken(X, 4), COUNTS, faster=(JoinGame(X, "Ann"),)),
    "resign, overtaken by a move": Case(NEW, Resign(O), COUNTS, faster=(PlaceToken(X, 4),)),
    "resign, overtaken by the end": Case(
        tokens("0314"), Resign(X), errors.AlreadyOver, faster=(PlaceToken(X, 2),)
    ),
    "join, overtaken by a name": Case(
        NEW, JoinGame(X, "Bob"), errors.SeatTaken, faster=(JoinGame(X, "Ann"),)
    ),
    "create, overtaken": Case((), CreateGame(X), errors.AlreadyCreated, faster=(CreateGame(O),)),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_command_has_the_expected_outcome(store: Unreliable, case: Case) -> None:
    """Its events are recorded after those of others, as one entry with its key; or nothing is."""
    service, other = begun(store, case.given), service_of(store, "other")
    seen = store.read(GAME) or nothing(GAME)
    for command in case.faster:
        other.handle(GAME, command)
    send = partial(service.record, seen, case.when, version=case.version, key=case.key)
    decided: tuple[Event, ...] = ()
    for command in (*case.given, *case.faster):
        decided += decide(fold(decided), command)

    if isinstance(case.then, type):
        with pytest.raises(case.then, match=case.match):
            send()
    elif isinstance(case.then, IllegalMoveReason):
        assert isinstance(case.when, PlaceToken)
        notice = events.PlayerNotifyIllegalMove(case.when.mark, case.then)
        assert send() == (Answer((notice,), len(decided), replay(decided)), seen)
    else:
        new = decide(fold(decided), case.when) if case.then is COUNTS else case.then
        decided += new
        answer, after = send()
        assert answer == Answer(new, len(decided), replay(decided))
        assert after.hash == found(store, GAME).hash
        assert entries(store)[-1] == ("key", new)
        assert after.entries[-1].at == NOW
    assert tuple(event for _, one in entries(store) for event in one) == decided


# What refuses every command


def is_on_the_web(store: Unreliable) -> None:
    stored = found(store, GAME)
    commit(store, Change(stored, stored.followed_by(room=ROOM)))


def is_long(store: Unreliable) -> None:
    now = found(store, GAME)
    taken = decide(now.game, TakeBack(X))
    token = decide(fold(taken, now.game), PlaceToken(X, 4))
    commit(store, change_of(now, *(taken, token) * 220))


def is_damaged(store: Unreliable) -> None:
    games = store.database.games
    games[GAME] = (*games[GAME][:2], 7, *games[GAME][3:])


def is_no_game(store: Unreliable) -> None:
    bad = nothing(GAME).followed_by(entries_of([("key", NOW, (events.GamePlacedCount(5),))]))
    store.database.games[GAME] = (GAME, 1, 0, bad.record, "", bad.hash)


ALL = (PlaceToken(O, 0), TakeBack(X), Resign(X), JoinGame(X, "Ann"), CreateGame())
STATES: dict[str, tuple[Callable[[Unreliable], None], type[NoughtsError], tuple[Command, ...]]] = {
    "on the web": (is_on_the_web, errors.WebGame, ALL),
    "deleted": (lambda store: store.delete(GAME), errors.NoSuchGame, ALL),
    "damaged": (is_damaged, errors.CorruptStore, ALL),
    "events of no game": (is_no_game, errors.CorruptStore, ALL),
    "too long": (is_long, errors.TooLong, (TakeBack(X), TakeBack(O))),
    "overtaken again and again": (
        lambda store: setattr(store, "trouble", "late"),
        errors.StoreUnavailable,
        ALL[:4],
    ),
}


@pytest.mark.parametrize("state", STATES)
def test_a_game_that_takes_no_command_stays_as_it_is(
    store: Unreliable, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_module, "MAX_TRIES", 5)
    service = begun(store, tokens("4"))
    change, refusal, commands = STATES[state]
    change(store)
    before = store.database.games[GAME]

    for command in commands:
        with pytest.raises(refusal):
            service.handle(GAME, command)

    assert store.database.games[GAME][3:5] == before[3:5]
    if state == "too long":
        assert service.handle(GAME, PlaceToken(O, 0)).game.moves == (4, 0)
    if state in ("deleted", "damaged"):
        with pytest.raises(refusal):
            service.look(GAME)
    if state == "deleted":
        with pytest.raises(errors.NoSuchGame):
            service.start(GAME, [CreateGame()])


# Times, ids and games


def test_a_record_has_the_time_and_the_key(store: Unreliable) -> None:
    """The wall clock and random ids are the default."""
    times, ids = iter((NOW, 5, 6)), iter(("one", "two"))
    service = Service(store, clock=partial(next, times), new_id=partial(next, ids))
    service.handle(GAME, CreateGame())
    service.handle(GAME, PlaceToken(X, 4), version=CREATED, key="mine")
    assert service.handle(GAME, PlaceToken(O, 0)).game.moves == (4, 0)
    before = wall_clock()
    Service(store).handle("other", CreateGame())

    assert [(entry.at, entry.key) for entry in found(store, GAME).entries] == [
        (NOW, "one"),
        (5, "mine"),
        (6, "two"),
    ]
    [entry] = found(store, "other").entries
    assert before <= entry.at <= wall_clock()
    drawn = {entry.key, *(random_id() for _ in range(1000))}
    assert len(drawn) == 1001
    assert all(len(each) == 26 and each.isalnum() and each == each.lower() for each in drawn)


@pytest.mark.parametrize("name", ["", "a b", "\udcff", "a" * 65, 7])
def test_a_bad_id_is_refused(store: Unreliable, name: Any) -> None:  # noqa: ANN401 - anything else is refused
    service = service_of(store)
    attempts: list[Callable[[], object]] = [
        lambda: service.handle(name, CreateGame()),
        lambda: service.start(name, [CreateGame()]),
        lambda: service.look(name),
        lambda: service.find(name),
    ]
    if name:  # an empty key is replaced
        attempts.append(lambda: service.handle(GAME, CreateGame(), key=name))
    for attempt in attempts:
        with pytest.raises(errors.InvalidId):
            attempt()

    assert store.count() == 0


IDS = ("abc", "abcdef", "abd", "xyz", "abcdefgh1", "abcdefgh2", "xyzxyzxyz1")


def test_a_game_is_found_by_a_prefix_of_its_id(store: Unreliable) -> None:
    """If it is the only one, or the whole id; a short id is such a prefix."""
    service = service_of(store)
    for game in IDS:
        service.handle(game, CreateGame())

    assert [service.short(game) for game in IDS] == [*IDS[:-1], "xyzxyzxy"]
    assert [service.find(service.short(game)) for game in IDS] == [*IDS]
    assert service.find("xyzx") == "xyzxyzxyz1"
    for beginning, why in {
        "ab": "more than one game begins with 'ab': give more of its id",
        "ABC": "no game begins with 'ABC'",
        "abcdefghi": "no game begins with 'abcdefghi'",
    }.items():
        with pytest.raises(errors.NoSuchGame, match=f"^{why}$"):
            service.find(beginning)


# Starting a game with several commands

OPENING = (CreateGame(open_seats=True), JoinGame(X, "Ann"), JoinGame(O, "Bob"), PlaceToken(X, 4))


@pytest.mark.parametrize("fails", ["", "before", "after"])
def test_a_game_is_started_with_several_commands(store: Unreliable, fails: str) -> None:
    """In one commit; it can be repeated after an unknown outcome, even if the game has gone on."""
    other, service = MemoryStore(), service_of(store)
    begun(other, OPENING)
    if fails:
        store.trouble = fails
        with pytest.raises(errors.StoreUnavailable):
            service.start(GAME, OPENING)
    assert len(entries(store)) == (4 if fails == "after" else 0)

    started = service.start(GAME, OPENING)
    _, after = service.record(started, PlaceToken(O, 0))

    assert [one for _, one in entries(other)] == [entry.events for entry in started.entries]
    assert started.columns == found(other, GAME).columns
    assert len({key for key, _ in entries(store)}) == 5
    assert service.start(GAME, OPENING).record == after.record == found(store, GAME).record
    for commands in ((CreateGame(),), (*OPENING[:-1], PlaceToken(X, 0))):
        with pytest.raises(errors.StaleVersion):
            service_of(other).start(GAME, [*commands, Resign(X)])


@pytest.mark.parametrize(
    ("commands", "refusal"),
    [
        ([JoinGame(X, "Ann")], errors.NotCreated),
        ([CreateGame(), CreateGame()], errors.AlreadyCreated),
        ([CreateGame(), JoinGame(X, "Ann"), JoinGame(X, "Bob")], errors.SeatTaken),
        ([CreateGame(), PlaceToken(X, 4), PlaceToken(O, 4)], errors.InvalidArgument),
        ([], errors.InvalidArgument),
    ],
    ids=str,
)
def test_a_start_with_a_refused_command_records_nothing(
    store: Unreliable, commands: list[Command], refusal: type[NoughtsError]
) -> None:
    with pytest.raises(refusal):
        service_of(store).start(GAME, commands)

    assert store.count() == 0


# Keys


@pytest.mark.parametrize("fails", ["", "before", "after"])
@pytest.mark.parametrize(
    ("given_first", "command"),
    [
        ((), CreateGame(first=X)),
        (tokens("4"), JoinGame(O, "  Bob  ")),
        (tokens("4"), JoinGame(O, "Zoe\u0308")),
        ((CreateGame(open_seats=True), JoinGame(X, "Ann")), JoinGame(O, " Bob ")),
        (tokens("4"), PlaceToken(O, 0)),
        (tokens("40"), TakeBack(X)),
        (tokens("40"), TakeBack(O)),
        (tokens("40"), Resign(X)),
    ],
    ids=str,
)
def test_a_command_sent_again_gets_its_first_answer(
    store: Unreliable, fails: str, given_first: tuple[Command, ...], command: Command
) -> None:
    """It is recorded once, whether or not its first outcome was known, and whatever came since."""
    calm = MemoryStore()
    services = [begun(calm, given_first), begun(store, given_first)]
    seen = store.read(GAME) or nothing(GAME)
    first, send = (
        partial(service.handle, GAME, command, version=seen.version, key="key") for service in services
    )
    expected = first()

    if fails:
        store.trouble = fails
        with pytest.raises(errors.StoreUnavailable):
            send()
    if fails != "after":
        assert send() == expected
    assert found(store, GAME).record == found(calm, GAME).record
    if (mark := expected.game.active) is not None:
        for each in (PlaceToken(mark, 8), TakeBack(mark), Resign(X)):
            services[1].handle(GAME, each)
    before = entries(store)

    assert [send(), send(), services[1].handle(GAME, command, key="key")] == [expected] * 3
    assert services[1].record(seen, command, key="key")[0] == expected, "judged on what was there before"
    assert entries(store) == before
    assert services[1].handle("another", CreateGame(O), key="key").game.board.first is O
    store.confirm = Mock(side_effect=errors.StoreUnavailable)  # type: ignore[method-assign]
    with pytest.raises(errors.StoreUnavailable):  # it is there, and may be lost again
        send()
