"""The service: read, decide, append; a command counts once, with one answer for each key."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import count
from operator import attrgetter
from typing import NamedTuple, TypeAlias

import pytest
from hypothesis import given, strategies as st

from noughts import (
    Answer,
    Command,
    CreateGame,
    Event,
    JoinGame,
    Mark,
    NoughtsError,
    O,
    PlaceToken,
    Resign,
    Service,
    TakeBack,
    X,
    decide,
    facts,
    fold,
    replay,
)
from noughts.core.errors import (
    AlreadyCreated,
    AlreadyOver,
    IllegalMoveReason,
    InvalidArgument,
    InvalidName,
    NotCreated,
    NothingToTakeBack,
    SeatTaken,
)
from noughts.core.events import (
    GameCreated,
    GamePlacedCount,
    PlayerActive,
    PlayerJoined,
    PlayerNotifyIllegalMove,
    PlayerPlacedToken,
    PlayerTookBack,
)
from noughts.service import random_id, wall_clock
from noughts.store.appends import Batch
from noughts.store.base import GameFilter
from noughts.store.errors import (
    CorruptStore,
    InvalidId,
    KeyReused,
    NoSuchGame,
    StaleVersion,
    StoreUnavailable,
)
from noughts.store.memory import MemoryStore
from noughts.store.records import Record
from support.at_once import in_threads
from support.played import NOW, events_of
from support.strategies import cells, marks, names

Outcome: TypeAlias = type[NoughtsError] | IllegalMoveReason | tuple[Event, ...] | None

GAME = "game"
CREATED = 3
"""The version of a game that was created, and in which nothing else has happened."""


class Unreliable(MemoryStore):
    """A store on which others are faster, and whose connection breaks."""

    def __init__(self) -> None:
        super().__init__()
        self.faster: list[Callable[[], object]] = []
        """What others do before the next commit, after what it was judged by was read."""
        self.fails = ""
        """`before` the next commit, `after` it, or not at all."""

    def _write(self, batch: Batch) -> None:
        fails, self.fails = self.fails, ""
        if fails != "before":
            super()._write(batch)
        if fails:
            raise StoreUnavailable("the connection is broken")

    def append(self, game: str, events: Iterable[Event], *, expected: int, key: str, at: int) -> int:
        waiting, self.faster = self.faster, []
        for others in waiting:
            others()
        return super().append(game, events, expected=expected, key=key, at=at)


def service_of(store: MemoryStore) -> Service:
    """Return a service with counted ids and a fixed time."""
    numbers = count(1)
    return Service(store, clock=lambda: NOW, new_id=lambda: f"id-{next(numbers)}")


def tokens(cells: str) -> tuple[Command, ...]:
    """Return the commands that create a game and place tokens on these cells, counted from 0."""
    return CreateGame(), *(PlaceToken((X, O)[turn % 2], int(cell)) for turn, cell in enumerate(cells))


def begun(store: MemoryStore, cells: str = "") -> Service:
    """Create a game and place tokens on these cells; return the service."""
    service = service_of(store)
    for command in tokens(cells):
        service.handle(GAME, command)
    return service


def recorded(store: MemoryStore) -> tuple[Record, ...]:
    """Return the game's records, after checking that they make a valid game."""
    records = store.read(GAME)
    replay(events_of(records))
    return records


@pytest.fixture
def store() -> Unreliable:
    """Return an empty store."""
    return Unreliable()


@pytest.fixture
def eager_threads() -> Iterator[None]:
    """Make Python switch between threads as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


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
    """What others do between the service's reading and its append."""
    match: str | None = None
    key: str = "key"


COUNTS = None
NEW = tokens("")
WON = tokens("03142")
JOINED = (*tokens("4"), JoinGame(X, "Ann"), JoinGame(O, "Bob"))

CASES = {
    # The answer is the events.
    "create": Case((), CreateGame(O, open_seats=True), (GameCreated(O), PlayerActive(O))),
    "join": Case((CreateGame(O, open_seats=True),), JoinGame(X, "Ann"), (PlayerJoined(X, "Ann"),)),
    "place": Case(
        (CreateGame(O),),
        PlaceToken(O, 4),
        (PlayerPlacedToken(1, 1, O), GamePlacedCount(1), PlayerActive(X)),
    ),
    # An illegal move is reported to the player alone.
    "not your turn": Case(tokens("4"), PlaceToken(X, 0), IllegalMoveReason.NOT_YOUR_TURN),
    "cell taken": Case(tokens("4"), PlaceToken(O, 4), IllegalMoveReason.CELL_TAKEN),
    "no such cell": Case(tokens("4"), PlaceToken(O, 9), IllegalMoveReason.NO_SUCH_CELL),
    "game over": Case(WON, PlaceToken(O, 8), IllegalMoveReason.GAME_OVER),
    # Other commands are refused by the game.
    "create twice": Case(NEW, CreateGame(), AlreadyCreated),
    "take back nothing": Case(NEW, TakeBack(X), NothingToTakeBack),
    "resign after the end": Case(WON, Resign(O), AlreadyOver),
    "take back after the end": Case(WON, TakeBack(X), AlreadyOver),
    "bad name": Case(NEW, JoinGame(X, "\x1b[2J"), InvalidName),
    # Only CreateGame creates a game.
    **{
        f"{command} without a game": Case((), command, NoSuchGame, match="no game has the id 'game'")
        for command in (JoinGame(X, "Ann"), PlaceToken(X, 4), Resign(X), TakeBack(X))
    },
    # A token that was meant for another position is neither placed nor taken back.
    **{
        f"{command} at version {version}": Case(tokens("40"), command, StaleVersion, version)
        for command in (PlaceToken(X, 8), TakeBack(X), TakeBack(O), PlaceToken(O, 8))
        for version in (0, 1, CREATED, 6)
    },
    "second move at one version": Case(
        tokens("4"),
        PlaceToken(X, 0),
        StaleVersion,
        CREATED,
        match="the game has changed since version 3: it is at 6",
    ),
    # The player doesn't know that a token was placed and taken back.
    **{
        f"{command} after a token was taken back": Case(
            (*tokens("4"), TakeBack(X)), command, StaleVersion, CREATED
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
            NEW, command, StaleVersion, version, match="the game is at version 3, and was never at "
        )
        for command in (CreateGame(), PlaceToken(X, 4), TakeBack(X), Resign(X), JoinGame(X, "Ann"))
        for version in (CREATED + 1, 10**30, -1, -4)
    },
    "create at version 1": Case(
        (), CreateGame(), StaleVersion, 1, match="the game is at version 0, and was never at 1"
    ),
    # A key belongs to one command; that of X's first token is id-2.
    **{
        f"{command} with a used key at {version}": Case(
            tokens("4"),
            command,
            KeyReused,
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
            NEW, PlaceToken(X, 8), StaleVersion, version, (PlaceToken(X, 4), PlaceToken(O, 0))
        )
        for version in (None, CREATED)
    },
    "place, overtaken by a name": Case(NEW, PlaceToken(X, 4), COUNTS, faster=(JoinGame(X, "Ann"),)),
    "resign, overtaken by a move": Case(NEW, Resign(O), COUNTS, faster=(PlaceToken(X, 4),)),
    "resign, overtaken by the end": Case(
        tokens("0314"), Resign(X), AlreadyOver, faster=(PlaceToken(X, 2),)
    ),
    "join, overtaken by a name": Case(NEW, JoinGame(X, "Bob"), SeatTaken, faster=(JoinGame(X, "Ann"),)),
    "create, overtaken": Case((), CreateGame(X), AlreadyCreated, faster=(CreateGame(O),)),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_command_has_the_expected_outcome(store: Unreliable, case: Case) -> None:
    """Its events are recorded after those of others, in one record with its key; or nothing is."""
    service = service_of(store)
    for command in case.given:
        service.handle(GAME, command)
    send = partial(service.handle, GAME, case.when, version=case.version, key=case.key)
    store.faster = [partial(service.handle, GAME, command) for command in case.faster]
    decided: tuple[Event, ...] = ()
    for command in (*case.given, *case.faster):
        decided += decide(fold(decided), command)

    if isinstance(case.then, type):
        with pytest.raises(case.then, match=case.match):
            send()
        assert events_of(store.read(GAME)) == decided
        return
    answer = send()
    if isinstance(case.then, IllegalMoveReason):
        assert isinstance(case.when, PlaceToken)
        notice = PlayerNotifyIllegalMove(case.when.mark, case.then)
        assert answer == Answer((notice,), len(decided), replay(decided))
        assert events_of(store.read(GAME)) == decided
        return
    events = decide(fold(decided), case.when) if case.then is COUNTS else case.then
    after = decided + events
    assert answer == Answer(events, len(after), replay(after))
    assert service.look(GAME) == Answer(after, len(after), replay(after))
    record = recorded(store)[-1]
    assert (record.key, record.events, record.at) == ("key", events, NOW)


# Times, ids and games


def test_a_record_has_the_time_and_the_key(store: MemoryStore) -> None:
    times, ids = iter((NOW, 5, 6)), iter(("one", "two"))
    service = Service(store, clock=partial(next, times), new_id=partial(next, ids))
    service.handle(GAME, CreateGame())
    service.handle(GAME, PlaceToken(X, 4), version=CREATED, key="mine")
    answer = service.handle(GAME, PlaceToken(O, 0))

    written = [(record.at, record.key) for record in recorded(store)]
    assert written == [(NOW, "one"), (5, "mine"), (6, "two")]
    assert (answer.version, answer.game.moves) == (9, (4, 0))


def test_the_real_clock_and_ids_are_the_default(store: MemoryStore) -> None:
    before = wall_clock()

    Service(store).handle(GAME, CreateGame())

    assert all(before <= record.at <= wall_clock() for record in recorded(store))
    drawn = {random_id() for _ in range(1000)}
    assert len(drawn) == 1000
    assert all(len(each) == 26 and each.isalnum() and each == each.lower() for each in drawn)


@pytest.mark.parametrize("name", ["", " ", "a b", "a/b", "\x1b[2J", "\udcff", "a" * 65, "\u00e9"])
def test_a_bad_id_is_refused(store: MemoryStore, name: str) -> None:
    service = service_of(store)
    attempts: list[Callable[[], object]] = [
        lambda: service.handle(name, CreateGame()),
        lambda: service.start(name, [CreateGame()]),
        lambda: service.look(name),
    ]
    if name:  # an empty key is replaced
        attempts.append(lambda: service.handle(GAME, CreateGame(), key=name))
    for attempt in attempts:
        with pytest.raises(InvalidId):
            attempt()

    assert store.games() == ()


def test_a_missing_game_cannot_be_read(store: MemoryStore) -> None:
    """Nor a deleted one, which accepts no command, not even to create it."""
    with pytest.raises(NoSuchGame, match="no game has the id 'game'"):
        service_of(store).look(GAME)
    service = begun(store)
    store.delete(GAME, at=NOW)

    attempts: list[Callable[[], object]] = [
        lambda: service.look(GAME),
        lambda: service.find(GAME),
        lambda: service.handle(GAME, PlaceToken(X, 4)),
        lambda: service.handle(GAME, CreateGame()),
        lambda: service.start(GAME, [CreateGame()]),
    ]
    for attempt in attempts:
        with pytest.raises(NoSuchGame):
            attempt()
    assert store.games() == ()


def test_a_game_that_is_deleted_before_the_append_is_missing(store: Unreliable) -> None:
    service = begun(store)
    store.faster = [lambda: store.delete(GAME, at=NOW)]

    with pytest.raises(NoSuchGame, match="game game was deleted"):
        service.handle(GAME, PlaceToken(X, 4))

    assert store.read(GAME) == ()


def test_records_that_do_not_make_a_game_are_reported(store: MemoryStore) -> None:
    store.append(GAME, [GamePlacedCount(5)], expected=0, key="key", at=NOW)

    with pytest.raises(CorruptStore, match="the records of game game don't make a game"):
        service_of(store).look(GAME)


IDS = ("abc", "abcdef", "abd", "xyz", "abcdefgh1", "abcdefgh2", "xyzxyzxyz1")


@pytest.mark.parametrize(
    ("prefix", "then"),
    [
        ("xyzx", "xyzxyzxyz1"),
        ("abd", "abd"),
        ("abc", "abc"),
        ("ab", "more than one game begins with 'ab': give more of its id"),
        ("b", "no game begins with 'b'"),
        ("ABC", "no game begins with 'ABC'"),
        ("abcdefghi", "no game begins with 'abcdefghi'"),
        ("", "the id of a game has 1 to 64 letters, digits, - and _, unlike ''"),
        (7, "the id of a game has 1 to 64 letters, digits, - and _, unlike 7"),
    ],
)
def test_a_game_is_found_by_a_prefix_of_its_id(store: MemoryStore, prefix: str, then: str) -> None:
    """If it is the only one, or the whole id; a short id is such a prefix."""
    service = service_of(store)
    for game in IDS:
        service.handle(game, CreateGame())

    assert [service.short(game) for game in IDS] == [*IDS[:-1], "xyzxyzxy"]
    assert [service.find(service.short(game)) for game in IDS] == [*IDS]
    if then in IDS:
        assert service.find(prefix) == then
    else:
        with pytest.raises((InvalidId, NoSuchGame)) as refusal:
            service.find(prefix)
        assert str(refusal.value) == then


# Starting a game with several commands

OPENING = (CreateGame(open_seats=True), JoinGame(X, "Ann"), JoinGame(O, "Bob"), PlaceToken(X, 4))


@pytest.mark.parametrize("game", [GAME, "g" * 64])
def test_a_game_is_started_with_several_commands(game: str) -> None:
    one, other = MemoryStore(), MemoryStore()
    answer, service = service_of(one).start(game, OPENING), service_of(other)
    for command in OPENING:
        service.handle(game, command)

    assert answer == service.look(game) == service_of(one).look(game)
    assert [record.events for record in one.read(game)] == [record.events for record in other.read(game)]
    assert len({record.key for record in one.read(game)}) == 4
    assert one.catalogue(GameFilter(), 9) == other.catalogue(GameFilter(), 9)


@pytest.mark.parametrize("fails", ["after", "before"])
def test_a_start_that_is_repeated_records_nothing_twice(store: Unreliable, fails: str) -> None:
    """After an unknown outcome, even if the game has gone on; a start is one commit."""
    service = service_of(store)
    store.fails = fails
    with pytest.raises(StoreUnavailable):
        service.start(GAME, OPENING)
    assert len(store.read(GAME)) == (4 if fails == "after" else 0)

    answer = service.start(GAME, OPENING)
    service.handle(GAME, PlaceToken(O, 0))
    before = recorded(store)

    assert len(before) == 5
    assert service.start(GAME, OPENING) == answer
    assert recorded(store) == before


@pytest.mark.parametrize(
    ("commands", "refusal"),
    [
        ([JoinGame(X, "Ann")], NotCreated),
        ([CreateGame(), CreateGame()], AlreadyCreated),
        ([CreateGame(), JoinGame(X, "Ann"), JoinGame(X, "Bob")], SeatTaken),
        ([CreateGame(), PlaceToken(X, 4), PlaceToken(O, 4)], InvalidArgument),
        ([], InvalidArgument),
    ],
    ids=str,
)
def test_a_start_with_a_refused_command_records_nothing(
    store: MemoryStore, commands: list[Command], refusal: type[NoughtsError]
) -> None:
    with pytest.raises(refusal):
        service_of(store).start(GAME, commands)

    assert store.read(GAME) == ()
    assert store.games() == ()


def test_a_game_that_others_started_is_not_started_again(store: MemoryStore) -> None:
    begun(store)
    before = recorded(store)

    for commands in (OPENING, NEW):
        with pytest.raises(StaleVersion):
            service_of(store).start(GAME, commands)

    assert recorded(store) == before


# Many threads


def _at_once(threads: int, work: Callable[[int], object]) -> list[object]:
    """Let many threads do the same, each with its own number."""
    return in_threads(*(partial(work, number) for number in range(threads)))


def _check_keys(records: Iterable[Record], sent: dict[str, Command]) -> None:
    """Check that each key is recorded once, with the events that its command leads to there."""
    state, seen = None, set()
    for record in records:
        assert record.key not in seen
        assert record.events == facts(decide(state, sent[record.key]))
        seen.add(record.key)
        state = fold(record.events, state)


@pytest.mark.usefixtures("eager_threads")
def test_of_eight_moves_at_one_version_one_is_placed(store: MemoryStore) -> None:
    service = begun(store)
    answers = _at_once(8, lambda number: service.handle(GAME, PlaceToken(X, number), version=CREATED))

    (placed,) = (answer for answer in answers if isinstance(answer, Answer))
    assert sum(isinstance(answer, StaleVersion) for answer in answers) == 7
    assert service.look(GAME).game.moves == placed.game.moves
    assert len(recorded(store)) == 2


@pytest.mark.usefixtures("eager_threads")
def test_one_key_sent_by_eight_threads_is_recorded_once(store: MemoryStore) -> None:
    service = begun(store)
    answers = _at_once(8, lambda _: service.handle(GAME, PlaceToken(X, 4), version=CREATED, key="one"))

    assert isinstance(answers[0], Answer)
    assert answers == [answers[0]] * 8
    assert len(recorded(store)) == 2


@pytest.mark.usefixtures("eager_threads")
@pytest.mark.parametrize("seed", range(10))
def test_many_threads_play_one_game(store: MemoryStore, seed: int) -> None:
    service = begun(store)

    def play(number: int) -> list[str]:
        mine: list[str] = []
        for turn in count():
            seen = service.look(GAME)
            if not (mark := seen.game.active):
                break
            free = seen.game.board.free_cells
            move = PlaceToken(mark, free[(seed + number) % len(free)])
            try:
                service.handle(GAME, move, version=seen.version, key=f"{number}-{turn}")
            except StaleVersion:
                continue
            mine.append(f"{number}-{turn}")
        return mine

    answered = [key for keys in _at_once(6, play) if isinstance(keys, list) for key in keys]

    assert sorted(answered) == sorted(record.key for record in recorded(store)[1:])
    assert service.look(GAME).game.is_over


@pytest.mark.usefixtures("eager_threads")
def test_many_threads_send_everything(store: MemoryStore) -> None:
    service = service_of(store)
    sent: dict[str, Command] = {"create": CreateGame()}
    service.handle(GAME, CreateGame(), key="create")

    def send(number: int) -> None:
        for turn in range(20):
            mark = (X, O)[(number + turn) % 2]
            command = (
                PlaceToken(mark, (number * 5 + turn) % 9),
                JoinGame(mark, f"name {number}"),
                TakeBack(mark),
                PlaceToken(mark, turn % 9),
                Resign(mark) if turn > 17 else PlaceToken(mark, 8 - turn % 9),
            )[turn % 5]
            key = f"{number}-{turn}"
            sent[key] = command
            version = None if turn % 3 else max(0, service.look(GAME).version - turn % 4)
            with suppress(NoughtsError):
                service.handle(GAME, command, version=version, key=key)

    assert _at_once(6, send) == [None] * 6
    _check_keys(recorded(store), sent)


# Keys


@pytest.mark.parametrize("fails", ["", "before", "after"])
@pytest.mark.parametrize(
    ("given_first", "command"),
    [
        ((), CreateGame(first=X)),
        (tokens("4"), JoinGame(O, "Bob")),
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
    services = [service_of(calm), service_of(store)]
    for service in services:
        for each in given_first:
            service.handle(GAME, each)
    version = len(events_of(store.read(GAME)))
    first, send = (
        partial(service.handle, GAME, command, version=version, key="key") for service in services
    )
    expected = first()

    if fails:
        store.fails = fails
        with pytest.raises(StoreUnavailable):
            send()
    if fails != "after":
        assert send() == expected
    assert store.read(GAME) == calm.read(GAME)
    if (mark := expected.game.active) is not None:
        for each in (PlaceToken(mark, 8), TakeBack(mark), Resign(X)):
            service.handle(GAME, each)
    before = recorded(store)

    assert [send(), send(), service.handle(GAME, command, key="key")] == [expected] * 3
    assert recorded(store) == before


def test_a_key_belongs_to_one_command_of_its_own_game(store: MemoryStore) -> None:
    """Another game may use the same."""
    service = service_of(store)
    answers = [
        service.handle(game, CreateGame(mark), key="key") for game, mark in (("one", X), ("two", O))
    ]

    assert [answer.game.board.first for answer in answers] == [X, O]


def test_an_illegal_move_sent_again_is_never_placed_in_another_position(store: MemoryStore) -> None:
    """It was not recorded, but the version shows that it was not meant for this position."""
    service = begun(store)
    send = partial(service.handle, GAME, PlaceToken(O, 0), version=CREATED, key="key")
    refused = send()
    assert refused.events == (PlayerNotifyIllegalMove(O, IllegalMoveReason.NOT_YOUR_TURN),)
    assert send() == refused
    service.handle(GAME, PlaceToken(X, 4))

    with pytest.raises(StaleVersion):
        send()

    assert service.look(GAME).game.moves == (4,)


# Anything, in any order

steps = st.one_of(
    st.tuples(st.just("look"), st.integers(0, 2)),
    st.tuples(
        st.just("send"),
        st.integers(0, 2),
        st.one_of(
            st.builds(PlaceToken, marks, cells),
            st.builds(PlaceToken, marks, cells),
            st.builds(TakeBack, marks),
            st.builds(JoinGame, marks, names),
            st.builds(Resign, marks),
            st.builds(CreateGame, marks),
        ),
        st.sampled_from(["", "", "", "before", "after"]),
    ),
    st.tuples(st.just("retry"), st.integers(0, 30)),
    st.tuples(st.just("reuse"), st.integers(0, 30), st.builds(PlaceToken, marks, cells)),
)


class Clients:
    """Three clients that play one game from what each saw last, and a model of the possible outcomes."""

    def __init__(self) -> None:
        self.store = Unreliable()
        self.service = service_of(self.store)
        self.seen = [0, 0, 0]
        self.sent: list[tuple[str, Command, int]] = []
        self.answers: dict[str, Answer] = {}
        """The first answer of each command that was recorded."""

    def look(self, client: int) -> None:
        """Let a client read the game."""
        self.seen[client] = len(events_of(self.store.read(GAME)))

    def send(self, client: int, command: Command, fails: str) -> None:
        """Send a command for what the client saw last; the connection may break."""
        self.sent.append((f"key-{len(self.sent)}", command, self.seen[client]))
        self.store.fails = fails
        self._try(*self.sent[-1])
        self.store.fails = ""

    def retry(self, number: int) -> None:
        """Send an earlier command again, unchanged."""
        self._try(*self.sent[number % len(self.sent)])

    def reuse(self, number: int, command: Command) -> None:
        """Send another command with a recorded key: it changes nothing."""
        key, first, version = self.sent[number % len(self.sent)]
        before = self.store.read(GAME)
        if command != first and any(record.key == key for record in before):
            with pytest.raises(KeyReused):
                self.service.handle(GAME, command, version=version, key=key)
            assert self.store.read(GAME) == before

    def _try(self, key: str, command: Command, version: int) -> None:
        before = self.store.read(GAME)
        known = any(record.key == key for record in before)
        try:
            answer = self.service.handle(GAME, command, version=version, key=key)
        except StoreUnavailable:
            return
        except NoughtsError:
            assert not known, "what was recorded has an answer"
            assert self.store.read(GAME) == before
            return
        after = self.store.read(GAME)
        if known:
            assert after == before
        elif after != before:
            assert [*map(attrgetter("key"), after)] == [*map(attrgetter("key"), before), key]
            assert answer.version == after[-1].next_version
            if isinstance(command, PlaceToken | TakeBack):
                since = {type(event) for event in events_of(before)[version:]}
                assert not since & {PlayerPlacedToken, PlayerTookBack}, (
                    "it was meant for another position"
                )
        if known or after != before:
            assert self.answers.setdefault(key, answer) == answer


def _tokens(events: Iterable[Event]) -> list[Mark]:
    """Return whose tokens are on the board; taking back a token also removes the answer to it."""
    placed: list[Mark] = []
    for event in events:
        if isinstance(event, PlayerPlacedToken):
            placed.append(event.mark)
        elif isinstance(event, PlayerTookBack):
            while placed.pop() is not event.mark:
                pass
    return placed


@given(st.lists(steps, max_size=40))
def test_whatever_clients_send_makes_a_valid_game(drawn: list[tuple[object, ...]]) -> None:
    """With stale versions, broken connections and retries, no key is used twice and no move is late."""
    clients = Clients()
    clients.send(0, CreateGame(), "")

    for kind, *arguments in drawn:
        getattr(clients, str(kind))(*arguments)

    records = recorded(clients.store)
    _check_keys(records, {key: command for key, command, _ in clients.sent})
    assert clients.service.look(GAME).game.board.count == len(_tokens(events_of(records)))
