"""The service: load, decide, append; no second move by one command, and one answer for one key."""

from __future__ import annotations

import sys
from functools import partial
from itertools import count, groupby
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from at_once import in_threads
from noughts import (
    Answer,
    CreateGame,
    JoinGame,
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
    InvalidId,
    InvalidName,
    KeyReused,
    NoSuchGame,
    NothingToTakeBack,
    Reason,
    SeatTaken,
    StaleVersion,
    StoreUnavailable,
)
from noughts.core.events import (
    GameCreated,
    GamePlacedCount,
    GameReady,
    PlayerActive,
    PlayerJoined,
    PlayerNotifyIllegalMove,
    PlayerPlacedToken,
    PlayerTookBack,
)
from noughts.service import random_id, wall_clock
from noughts.store.memory import MemoryStore
from strategies import cells, marks, names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from noughts import Command, Event, Mark, Recorded

NOW = 1_700_000_000_000
GAME = "game"
CREATED = 3
"""The version of a game that was created, and in which nothing else has happened."""


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> int:
        """Tell the time."""
        return self.now


class BrokenLine(MemoryStore):
    """A store that records, and whose answer is lost; or that is not reached at all."""

    def __init__(self) -> None:
        super().__init__()
        self.fails = ""
        """`before` the next append, `after` it, or not at all."""

    def append(self, game: str, events: Iterable[Event], *, expected: int, key: str, at: int) -> int:
        """Append, and fail as told."""
        fails, self.fails = self.fails, ""
        if fails == "before":
            raise StoreUnavailable("the line is broken")
        reached = super().append(game, events, expected=expected, key=key, at=at)
        if fails == "after":
            raise StoreUnavailable("the line is broken")
        return reached


class Overtaken(MemoryStore):
    """A store in which somebody else is faster: between a reading and the append that follows it."""

    def __init__(self) -> None:
        super().__init__()
        self.faster: list[Callable[[], object]] = []

    def append(self, game: str, events: Iterable[Event], *, expected: int, key: str, at: int) -> int:
        """Let the others go first, and append."""
        waiting, self.faster = self.faster, []
        for others in waiting:
            others()
        return super().append(game, events, expected=expected, key=key, at=at)


def service_of(store: MemoryStore) -> Service:
    """Return a service with ids that are counted, at a time that stands still."""
    numbers = count(1)
    return Service(store, clock=lambda: NOW, new_id=lambda: f"id-{next(numbers)}")


def begun(store: MemoryStore, *cells: int) -> Service:
    """Create a game, place tokens on these cells in turn, and return the service that did."""
    service = service_of(store)
    service.handle(GAME, CreateGame())
    for number, cell in enumerate(cells):
        service.handle(GAME, PlaceToken((X, O)[number % 2], cell))
    return service


def recorded(store: MemoryStore) -> tuple[Recorded, ...]:
    """Return the record of the game, which must be one that can have been played."""
    records = store.read(GAME)
    replay(record.event for record in records)
    return records


@pytest.fixture
def store() -> MemoryStore:
    """Return an empty store."""
    return MemoryStore()


@pytest.fixture
def eager_threads() -> Iterator[None]:
    """Let threads take turns so often that each gets between any two steps of another."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


# Answers


def test_a_command_is_answered_with_what_it_led_to(store: MemoryStore) -> None:
    """The events, the version with them, and the game."""
    service = service_of(store)

    created = service.handle(GAME, CreateGame(first=O, open_seats=True))
    joined = service.handle(GAME, JoinGame(X, "Ann"))
    placed = service.handle(GAME, PlaceToken(O, 4))

    assert created.events == (GameCreated(O), PlayerActive(O))
    assert created.version == 2
    assert joined.events == (PlayerJoined(X, "Ann"),)
    assert joined.version == 3
    assert placed.events == (PlayerPlacedToken(1, 1, O), GamePlacedCount(1), PlayerActive(X))
    assert placed.version == 6
    assert placed.game == replay(record.event for record in recorded(store))


def test_what_is_recorded_has_the_time_and_the_key(store: MemoryStore) -> None:
    """All events of a command have the same; a command without a key gets one of its own."""
    clock, numbers = Clock(), count(1)
    service = Service(store, clock=clock, new_id=lambda: f"id-{next(numbers)}")

    service.handle(GAME, CreateGame())
    clock.now += 5
    service.handle(GAME, PlaceToken(X, 4), key="mine")
    service.handle(GAME, PlaceToken(O, 0))

    assert [(record.at, record.key) for record in recorded(store)] == [
        *3 * [(NOW, "id-1")],
        *3 * [(NOW + 5, "mine")],
        *3 * [(NOW + 5, "id-2")],
    ]


def test_a_clock_that_is_set_back_changes_no_order(store: MemoryStore) -> None:
    """What was recorded later stays later, with the time that the clock told."""
    clock = Clock()
    service = Service(store, clock=clock)
    service.handle(GAME, CreateGame())

    clock.now -= 86_400_000
    answer = service.handle(GAME, PlaceToken(X, 4), version=CREATED)

    assert answer.version == 6
    assert [record.at for record in recorded(store)] == [*3 * [NOW], *3 * [NOW - 86_400_000]]
    assert service.look(GAME).game.moves == (4,)


def test_the_real_clock_and_the_real_ids_will_do(store: MemoryStore) -> None:
    """Unless told otherwise, the time is the system's, and ids are long and never the same."""
    before = wall_clock()

    Service(store).handle(GAME, CreateGame())

    assert all(before <= record.at <= wall_clock() for record in recorded(store))
    drawn = {random_id() for _ in range(1000)}
    assert len(drawn) == 1000
    assert all(len(each) == 26 and each.isalnum() and each == each.lower() for each in drawn)


def test_looking_tells_the_whole_game(store: MemoryStore) -> None:
    """With all its events, its version, and what they add up to."""
    service = begun(store, 4, 0)

    seen = service.look(GAME)

    assert seen.events == tuple(record.event for record in recorded(store))
    assert seen.version == len(seen.events) == 9
    assert seen.game == replay(seen.events)


@pytest.mark.parametrize(
    ("cells", "command", "reason"),
    [
        ((4,), PlaceToken(X, 0), Reason.NOT_YOUR_TURN),
        ((4,), PlaceToken(O, 4), Reason.CELL_TAKEN),
        ((4,), PlaceToken(O, 9), Reason.NO_SUCH_CELL),
        ((0, 3, 1, 4, 2), PlaceToken(O, 8), Reason.GAME_OVER),
    ],
    ids=lambda value: str(value) if isinstance(value, Reason) else "",
)
def test_a_token_that_may_not_be_placed_is_told_and_not_recorded(
    store: MemoryStore, cells: tuple[int, ...], command: PlaceToken, reason: Reason
) -> None:
    """The player alone is told why; the game and its version are what they were."""
    service = begun(store, *cells)
    before = service.look(GAME)

    answer = service.handle(GAME, command, key="refused")

    assert answer == Answer((PlayerNotifyIllegalMove(command.mark, reason),), before.version, before.game)
    assert service.look(GAME) == before


@pytest.mark.parametrize(
    ("cells", "command", "refusal"),
    [
        ((), CreateGame(), AlreadyCreated),
        ((), TakeBack(X), NothingToTakeBack),
        ((0, 3, 1, 4, 2), Resign(O), AlreadyOver),
        ((0, 3, 1, 4, 2), TakeBack(X), AlreadyOver),
        ((), JoinGame(X, "\x1b[2J"), InvalidName),
    ],
)
def test_a_command_that_makes_no_sense_is_refused_and_not_recorded(
    store: MemoryStore, cells: tuple[int, ...], command: Command, refusal: type[NoughtsError]
) -> None:
    """The refusal is the game's own."""
    service = begun(store, *cells)
    before = recorded(store)

    with pytest.raises(refusal):
        service.handle(GAME, command)

    assert recorded(store) == before


# Games that are not there


@pytest.mark.parametrize("command", [JoinGame(X, "Ann"), PlaceToken(X, 4), Resign(X), TakeBack(X)])
def test_a_game_that_is_not_there_is_called_so(store: MemoryStore, command: Command) -> None:
    """A command for it creates nothing; only `CreateGame` does."""
    service = service_of(store)

    with pytest.raises(NoSuchGame, match="there is no game 'game'"):
        service.handle(GAME, command)
    with pytest.raises(NoSuchGame, match="there is no game 'game'"):
        service.look(GAME)

    assert store.games() == ()


@pytest.mark.parametrize("name", ["", " ", "a b", "a/b", "\x1b[2J", "\udcff", "a" * 65, "\u00e9"])
def test_an_id_that_is_none_is_refused(store: MemoryStore, name: str) -> None:
    """Before anything is looked for or recorded."""
    service = service_of(store)

    with pytest.raises(InvalidId):
        service.handle(name, CreateGame())
    with pytest.raises(InvalidId):
        service.look(name)
    if name:  # an empty key is no key
        with pytest.raises(InvalidId):
            service.handle(GAME, CreateGame(), key=name)

    assert store.games() == ()


def test_a_game_is_found_by_the_beginning_of_its_id(store: MemoryStore) -> None:
    """If only one begins like that; or if that is the whole id of one."""
    service = service_of(store)
    for game in ("abc", "abcdef", "abd", "xyz"):
        service.handle(game, CreateGame())

    assert service.find("x") == "xyz"
    assert service.find("abcd") == "abcdef"
    assert service.find("abd") == "abd"
    assert service.find("abc") == "abc"


@pytest.mark.parametrize(
    ("beginning", "sentence"),
    [
        ("ab", "more than one game begins with 'ab': give more of its id"),
        ("b", "no game begins with 'b'"),
        ("ABC", "no game begins with 'ABC'"),
        ("abcdefg", "no game begins with 'abcdefg'"),
        ("", "no game begins with ''"),
    ],
)
def test_what_finds_no_game_or_several_is_told(store: MemoryStore, beginning: str, sentence: str) -> None:
    """And what would help, if there are several."""
    service = service_of(store)
    for game in ("abc", "abcdef", "abd", "xyz"):
        service.handle(game, CreateGame())

    with pytest.raises(NoSuchGame) as refusal:
        service.find(beginning)

    assert str(refusal.value) == sentence


# Versions


@pytest.mark.parametrize("command", [PlaceToken(X, 8), TakeBack(X), TakeBack(O), PlaceToken(O, 8)])
@pytest.mark.parametrize("version", [0, 1, CREATED, 6])
def test_a_token_meant_for_another_position_is_refused(
    store: MemoryStore, command: Command, version: int
) -> None:
    """Nor is one taken back that was seen in another position; nothing is recorded."""
    service = begun(store, 4, 0)
    before = recorded(store)

    with pytest.raises(StaleVersion):
        service.handle(GAME, command, version=version)

    assert recorded(store) == before


def test_a_move_sent_twice_is_placed_once(store: MemoryStore) -> None:
    """Under two keys, by somebody who saw the game once: the second comes too late."""
    service = begun(store)

    service.handle(GAME, PlaceToken(X, 4), version=CREATED, key="one")
    with pytest.raises(StaleVersion, match="the game has gone on since version 3: it is at 6"):
        service.handle(GAME, PlaceToken(X, 0), version=CREATED, key="two")

    assert service.look(GAME).game.moves == (4,)


@pytest.mark.parametrize("command", [PlaceToken(X, 4), PlaceToken(X, 8)])
def test_a_move_is_refused_after_the_position_has_changed_and_come_back(
    store: MemoryStore, command: Command
) -> None:
    """Whoever saw the game before does not know that a token was placed and taken back since."""
    service = begun(store, 4)
    service.handle(GAME, TakeBack(X))
    before = recorded(store)

    with pytest.raises(StaleVersion):
        service.handle(GAME, command, version=CREATED)

    assert recorded(store) == before


def test_a_move_still_counts_when_a_name_has_joined_since(store: MemoryStore) -> None:
    """The position is the one that it was meant for."""
    service = begun(store, 4)
    service.handle(GAME, JoinGame(X, "Ann"))
    service.handle(GAME, JoinGame(O, "Bob"))

    placed = service.handle(GAME, PlaceToken(O, 0), version=6)
    service.handle(GAME, TakeBack(O), version=placed.version)

    assert placed.version == 11
    assert placed.game.moves == (4, 0)
    assert service.look(GAME).game.moves == (4,)
    recorded(store)


def test_a_token_may_be_taken_back_when_a_name_has_joined_since(store: MemoryStore) -> None:
    """The same for taking back."""
    service = begun(store, 4)
    service.handle(GAME, JoinGame(O, "Bob"))

    assert service.handle(GAME, TakeBack(X), version=6).game.moves == ()


@pytest.mark.parametrize("command", [Resign(X), Resign(O), JoinGame(X, "Ann"), JoinGame(O, "Bob")])
@pytest.mark.parametrize("version", [0, CREATED, 6, 9])
def test_resigning_and_joining_are_meant_whatever_the_position(
    store: MemoryStore, command: Command, version: int
) -> None:
    """They count in a game that has gone on, too."""
    service = begun(store, 4, 0)

    answer = service.handle(GAME, command, version=version)

    assert answer.version == len(recorded(store)) > 9


@pytest.mark.parametrize(
    "command", [CreateGame(), PlaceToken(X, 4), TakeBack(X), Resign(X), JoinGame(X, "Ann")]
)
@pytest.mark.parametrize("version", [CREATED + 1, 10**30])
def test_a_version_that_is_still_to_come_is_refused(
    store: MemoryStore, command: Command, version: int
) -> None:
    """Nobody can have seen it."""
    service = begun(store)

    with pytest.raises(StaleVersion, match="the game is at version 3, and never was at "):
        service.handle(GAME, command, version=version)
    with pytest.raises(StaleVersion, match="the game is at version 0, and never was at 1"):
        service.handle("another", CreateGame(), version=1)

    assert len(recorded(store)) == CREATED
    assert store.read("another") == ()


@pytest.mark.parametrize("version", [-1, -2, -3, -4])
def test_a_version_that_never_was_is_refused(store: MemoryStore, version: int) -> None:
    """A game has no version below 0, so nobody can have seen one."""
    service = begun(store, 4)
    before = recorded(store)

    with pytest.raises(StaleVersion):
        service.handle(GAME, PlaceToken(O, 0), version=version)

    assert recorded(store) == before


# Others who are faster


@pytest.mark.parametrize("version", [None, CREATED])
def test_a_move_that_another_one_overtakes_is_refused(version: int | None) -> None:
    """It was judged in a position that is gone; it is never placed in the next one."""
    store = Overtaken()
    service = begun(store)
    store.faster = [
        lambda: service.handle(GAME, PlaceToken(X, 4)),
        lambda: service.handle(GAME, PlaceToken(O, 0)),
    ]

    with pytest.raises(StaleVersion):
        service.handle(GAME, PlaceToken(X, 8), version=version)

    assert service.look(GAME).game.moves == (4, 0)
    recorded(store)


def test_a_move_that_a_name_overtakes_is_placed() -> None:
    """It is judged once more, and recorded after the name."""
    store = Overtaken()
    service = begun(store)
    store.faster = [lambda: service.handle(GAME, JoinGame(X, "Ann"))]

    answer = service.handle(GAME, PlaceToken(X, 4))

    assert answer.version == 7
    assert [player.name for player in answer.game.players] == ["Ann"]
    assert [type(record.event) for record in recorded(store)][CREATED:] == [
        PlayerJoined,
        PlayerPlacedToken,
        GamePlacedCount,
        PlayerActive,
    ]


def test_resigning_counts_when_a_move_overtakes_it() -> None:
    """Whoever gives up has given up, wherever the tokens lie."""
    store = Overtaken()
    service = begun(store)
    store.faster = [lambda: service.handle(GAME, PlaceToken(X, 4))]

    answer = service.handle(GAME, Resign(O))

    assert (answer.game.winner, answer.game.moves) == (X, (4,))
    recorded(store)


def test_resigning_is_refused_when_the_end_overtakes_it() -> None:
    """A game that was won meanwhile cannot be given up."""
    store = Overtaken()
    service = begun(store, 0, 3, 1, 4)
    store.faster = [lambda: service.handle(GAME, PlaceToken(X, 2))]

    with pytest.raises(AlreadyOver):
        service.handle(GAME, Resign(X))

    assert service.look(GAME).game.winner is X
    recorded(store)


def test_a_seat_that_somebody_else_took_first_is_taken() -> None:
    """The name is judged again, and refused; no seat has two names."""
    store = Overtaken()
    service = begun(store)
    store.faster = [lambda: service.handle(GAME, JoinGame(X, "Ann"))]

    with pytest.raises(SeatTaken):
        service.handle(GAME, JoinGame(X, "Bob"))

    assert [player.name for player in service.look(GAME).game.players] == ["Ann"]


def test_a_game_is_created_once() -> None:
    """Of two who create it at once, one is told that it is there already."""
    store = Overtaken()
    service = service_of(store)
    store.faster = [lambda: service.handle(GAME, CreateGame(O))]

    with pytest.raises(AlreadyCreated):
        service.handle(GAME, CreateGame(X))

    assert recorded(store)[0].event == GameCreated(O)
    assert len(recorded(store)) == CREATED


@pytest.mark.usefixtures("eager_threads")
def test_of_many_moves_at_one_version_one_is_placed(store: MemoryStore) -> None:
    """Eight threads send eight moves of X's that were meant for the empty board."""
    service = begun(store)
    answers = _at_once(8, lambda number: service.handle(GAME, PlaceToken(X, number), version=CREATED))

    placed = [answer for answer in answers if isinstance(answer, Answer)]
    refused = [answer for answer in answers if isinstance(answer, StaleVersion)]
    assert (len(placed), len(refused)) == (1, 7)
    assert service.look(GAME).game.moves == placed[0].game.moves
    recorded(store)


@pytest.mark.usefixtures("eager_threads")
@pytest.mark.parametrize("seed", range(10))
def test_many_threads_play_one_game_and_its_history_is_a_games(seed: int) -> None:
    """Each plays both sides from what it sees; every token lies there by one command, acknowledged."""
    store = MemoryStore()
    service = begun(store)

    def play(number: int) -> list[str]:
        mine: list[str] = []
        for turn in count():
            seen = service.look(GAME)
            if not (mark := seen.game.active):
                return mine
            free = seen.game.board.free_cells
            key = f"{number}-{turn}"
            try:
                service.handle(
                    GAME,
                    PlaceToken(mark, free[(seed + number) % len(free)]),
                    version=seen.version,
                    key=key,
                )
            except StaleVersion:
                continue
            mine.append(key)
        raise AssertionError

    played = _at_once(6, play)

    acknowledged = [key for keys in played if isinstance(keys, list) for key in keys]
    tokens = [record.key for record in recorded(store) if isinstance(record.event, PlayerPlacedToken)]
    assert sorted(tokens) == sorted(acknowledged)
    assert service.look(GAME).game.is_over


@pytest.mark.usefixtures("eager_threads")
def test_many_threads_send_everything_and_its_history_is_a_games(store: MemoryStore) -> None:
    """Names, moves, take-backs and resignations at once, versions seen or not."""
    service = begun(store)
    sent: dict[str, Command] = {}

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
            try:
                service.handle(GAME, command, version=version, key=key)
            except NoughtsError:
                continue

    failures = [failure for failure in _at_once(6, send) if failure is not None]

    assert failures == []
    _check_keys(recorded(store)[CREATED:], sent, recorded(store)[:CREATED])


@pytest.mark.usefixtures("eager_threads")
def test_one_command_sent_by_many_threads_is_recorded_once(store: MemoryStore) -> None:
    """With one key: all get the same answer."""
    service = begun(store)

    answers = _at_once(8, lambda _: service.handle(GAME, PlaceToken(X, 4), version=CREATED, key="one"))

    assert all(isinstance(answer, Answer) for answer in answers)
    assert all(answer == answers[0] for answer in answers)
    assert len(recorded(store)) == 6


def _at_once(threads: int, work: Callable[[int], object]) -> list[object]:
    """Let many threads do the same, each with a number of its own."""
    return in_threads(*(partial(work, number) for number in range(threads)))


def _check_keys(
    records: Iterable[Recorded], sent: dict[str, Command], before: Iterable[Recorded] = ()
) -> None:
    """See that each key stands once, and for what its command led to there."""
    game = fold(record.event for record in before)
    seen = set()
    for key, run in groupby(records, key=lambda record: record.key):
        events = tuple(record.event for record in run)
        assert key not in seen
        assert events == facts(decide(game, sent[key]))
        seen.add(key)
        game = fold(events, game)


# Keys

COMMANDS = [
    ((), CreateGame(first=X)),
    ((4,), JoinGame(O, "Bob")),
    ((4,), JoinGame(O, "  Bob  ")),
    ((4,), JoinGame(O, "Zoe\u0308")),
    ((4,), PlaceToken(O, 0)),
    ((4, 0), TakeBack(X)),
    ((4, 0), TakeBack(O)),
    ((4, 0), Resign(X)),
]
commands = pytest.mark.parametrize(
    ("cells", "command"), [pytest.param(*both, id=f"{both[1]}") for both in COMMANDS]
)


def _send_first(
    store: MemoryStore, cells: tuple[int, ...], command: Command
) -> tuple[Service, Callable[[], Answer]]:
    """Begin a game, and return a way to send the command with its version and key, time and again."""
    service = service_of(store) if isinstance(command, CreateGame) else begun(store, *cells)
    version = len(store.read(GAME))
    return service, lambda: service.handle(GAME, command, version=version, key="key")


@commands
def test_a_command_tried_again_gets_its_first_answer(
    store: MemoryStore, cells: tuple[int, ...], command: Command
) -> None:
    """And is recorded once, however often it is tried."""
    _, send = _send_first(store, cells, command)
    first = send()
    before = recorded(store)

    assert [send(), send()] == [first, first]
    assert recorded(store) == before


@commands
def test_the_first_answer_is_given_after_the_game_has_gone_on(
    store: MemoryStore, cells: tuple[int, ...], command: Command
) -> None:
    """The answer is about the game as it was then."""
    service, send = _send_first(store, cells, command)
    first = send()
    if (mark := first.game.active) is not None:
        service.handle(GAME, PlaceToken(mark, 8))
        service.handle(GAME, TakeBack(mark))
        service.handle(GAME, JoinGame(X, "Ann"))
        service.handle(GAME, Resign(X))
    before = recorded(store)

    assert send() == first
    assert service.handle(GAME, command, key="key") == first
    assert recorded(store) == before


@commands
@pytest.mark.parametrize("fails", ["after", "before"])
def test_a_command_whose_outcome_nobody_knows_can_be_sent_again(
    fails: str, cells: tuple[int, ...], command: Command
) -> None:
    """Whether it had been recorded or not: it is recorded once, and answered as if nothing had been."""
    store, calm = BrokenLine(), MemoryStore()
    _, send = _send_first(store, cells, command)
    _, send_calmly = _send_first(calm, cells, command)
    store.fails = fails

    with pytest.raises(StoreUnavailable):
        send()

    assert send() == send_calmly() == send()
    assert [record.text for record in recorded(store)] == [record.text for record in recorded(calm)]


def test_a_move_whose_outcome_nobody_knows_gets_its_answer_after_the_opponents() -> None:
    """The opponent saw the token, and was faster than the second try."""
    store = BrokenLine()
    service = begun(store)
    store.fails = "after"
    with pytest.raises(StoreUnavailable):
        service.handle(GAME, PlaceToken(X, 4), version=CREATED, key="key")
    service.handle(GAME, PlaceToken(O, 0), version=6)

    answer = service.handle(GAME, PlaceToken(X, 4), version=CREATED, key="key")

    assert (answer.version, answer.game.moves) == (6, (4,))
    assert service.look(GAME).game.moves == (4, 0)


@pytest.mark.parametrize(
    "other",
    [
        PlaceToken(X, 0),
        PlaceToken(O, 4),
        TakeBack(X),
        Resign(X),
        JoinGame(X, "Ann"),
        CreateGame(),
        PlaceToken(X, 9),
    ],
)
@pytest.mark.parametrize("version", [None, 0, CREATED, 6])
def test_a_key_stands_for_one_command(store: MemoryStore, other: Command, version: int | None) -> None:
    """Another command with the same key is refused, whatever it is, and not recorded."""
    service = begun(store)
    service.handle(GAME, PlaceToken(X, 4), key="key")
    before = recorded(store)

    with pytest.raises(KeyReused, match="the key 'key' stands for another command already"):
        service.handle(GAME, other, version=version, key="key")

    assert recorded(store) == before


def test_a_key_stands_for_one_command_of_its_own_game(store: MemoryStore) -> None:
    """Another game knows nothing of it."""
    service = service_of(store)

    first = service.handle("one", CreateGame(X), key="key")
    second = service.handle("two", CreateGame(O), key="key")

    assert first.game.board.first is X
    assert second.game.board.first is O


def test_a_refused_move_tried_again_is_never_placed_in_another_position(store: MemoryStore) -> None:
    """It left no trace; but the version that was seen tells that it was not meant for this one."""
    service = begun(store)
    refused = service.handle(GAME, PlaceToken(O, 0), version=CREATED, key="key")
    assert refused.events == (PlayerNotifyIllegalMove(O, Reason.NOT_YOUR_TURN),)
    assert service.handle(GAME, PlaceToken(O, 0), version=CREATED, key="key") == refused
    service.handle(GAME, PlaceToken(X, 4))

    with pytest.raises(StaleVersion):
        service.handle(GAME, PlaceToken(O, 0), version=CREATED, key="key")

    assert service.look(GAME).game.moves == (4,)


def test_the_game_is_ready_when_both_seats_are_taken() -> None:
    """Also if the second name was sent again after its answer had been lost."""
    broken = BrokenLine()
    service = service_of(broken)
    service.handle(GAME, CreateGame(open_seats=True))
    service.handle(GAME, JoinGame(X, "Ann"), key="ann")
    broken.fails = "after"
    with pytest.raises(StoreUnavailable):
        service.handle(GAME, JoinGame(O, "Bob"), key="bob")

    answer = service.handle(GAME, JoinGame(O, " Bob "), key="bob")

    assert answer.events == (PlayerJoined(O, "Bob"), GameReady())
    assert answer.game.is_ready


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
    """Three who play one game from what they saw last, and a model of what may come of it."""

    def __init__(self) -> None:
        self.store = BrokenLine()
        self.service = service_of(self.store)
        self.seen = [0, 0, 0]
        self.sent: list[tuple[str, Command, int]] = []
        self.answers: dict[str, Answer] = {}
        """The first answer of each command that was recorded, and that got through."""

    def look(self, client: int) -> None:
        """Let a client see the game."""
        self.seen[client] = len(self.store.read(GAME))

    def send(self, client: int, command: Command, fails: str) -> None:
        """Send a command for what the client saw last, over a line that may break."""
        self.sent.append((f"key-{len(self.sent)}", command, self.seen[client]))
        self.store.fails = fails
        self._try(*self.sent[-1])
        self.store.fails = ""

    def retry(self, number: int) -> None:
        """Send an earlier command once more, just as it was."""
        if self.sent:
            self._try(*self.sent[number % len(self.sent)])

    def reuse(self, number: int, command: Command) -> None:
        """Send a command with the key of another that was recorded: it changes nothing."""
        if self.sent:
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
            assert [record.key for record in after[len(before) :]] == [key] * (len(after) - len(before))
            assert answer.version == len(after)
            if isinstance(command, PlaceToken | TakeBack):
                since = [type(record.event) for record in before[version:]]
                assert PlayerPlacedToken not in since, "it was meant for another position"
                assert PlayerTookBack not in since, "it was meant for another position"
        if known or after != before:
            assert self.answers.setdefault(key, answer) == answer


def _tokens(records: Iterable[Recorded]) -> list[tuple[int, int, Mark]]:
    """Return the tokens that lie there; a token taken back takes the answer to it along."""
    lying: list[tuple[int, int, Mark]] = []
    for record in records:
        event = record.event
        if isinstance(event, PlayerPlacedToken):
            lying.append((event.row, event.column, event.mark))
        elif isinstance(event, PlayerTookBack):
            while lying.pop()[2] is not event.mark:
                pass
    return lying


@given(st.lists(steps, max_size=40))
def test_whatever_clients_send_the_history_is_a_games(drawn: list[tuple[object, ...]]) -> None:
    """Stale versions, broken lines and keys tried again: no key stands twice, no move comes too late."""
    clients = Clients()
    clients.send(0, CreateGame(), "")

    for kind, *arguments in drawn:
        getattr(clients, str(kind))(*arguments)

    records = recorded(clients.store)
    _check_keys(records, {key: command for key, command, _ in clients.sent})
    assert clients.service.look(GAME).game.board.count == len(_tokens(records))
