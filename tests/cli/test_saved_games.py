"""Games that are saved as they go: listed, resumed, replayed and exported."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest

from noughts import (
    GEM,
    KATA,
    NARRATIVE,
    CreateGame,
    GameFilter,
    O,
    PlaceToken,
    Player,
    Service,
    TakeBack,
    Wording,
    X,
    decide,
    events,
    fold,
    open_store,
    parse_record,
)
from noughts.cli.commands.games import PAGE_GAMES, last_left, list_games
from noughts.cli.commands.replay import steps
from noughts.cli.recorder import Recorder
from noughts.cli.screen import Display, Screen
from noughts.store.base import nothing
from noughts.store.errors import StaleVersion, StoreUnavailable
from noughts.store.memory import MemoryStore
from noughts.store.rows import Change, Row
from support.command import run_unread, shell
from support.forked import noughts
from support.played import CREATED, PLACED, change_of, commit
from support.pseudo_terminal import CTRL_C, CTRL_D, Session, between_pipes, in_terminal
from support.saved_games import (
    DRAW,
    NOW,
    X_WINS,
    asked,
    digits,
    drawn,
    file,
    ids,
    play,
    save,
    saving,
    url,
)

LINE = re.compile(r"[a-z2-7]{8}  \d{4}-\d\d-\d\d \d\d:\d\d  (.*)")
"""A line of the list of games: what comes after the id and the time is the same on every run."""

DAY = 86_400_000


def listed(env: dict[str, str], *options: str) -> list[str]:
    """Return the listed games, without ids and times."""
    ran = noughts("games", *options, env=env)
    assert (ran.returncode, ran.stderr) == (0, "")
    return [found[1] if (found := LINE.fullmatch(line)) else line for line in ran.stdout.splitlines()[1:]]


@pytest.fixture
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Use UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


# What is saved


def test_a_move_is_saved_before_the_board_shows_it(tmp_path: Path) -> None:
    with between_pipes("play", env=saving(tmp_path)) as session:
        for number, cell in enumerate(DRAW[:-1], start=1):
            session.expect(asked(DRAW[: number - 1]))
            session.type(f"{cell}\n")
            session.expect(drawn(DRAW[:number]))
            assert digits(tmp_path) == [DRAW[:number]]


def test_a_new_game_replaces_one_without_a_move() -> None:
    store = MemoryStore()
    recorder = Recorder(Service(store), lasts=True)

    recorder.begin(X, (Player("Ann", X),))
    game = recorder.begin(O, (Player("Bob", O),))

    assert [player.name for player in game.players] == ["Bob"]
    assert recorder.short_id is None
    assert store.games() == ()


def test_a_game_is_recorded_with_its_players_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """The opening and the first move are one commit; after an unknown outcome it can be repeated."""
    store = MemoryStore()
    recorder = Recorder(Service(store), lasts=True)
    recorder.begin(X, (Player("Ann", X), Player("Bob", O)))
    write, pieces = store._commit, list[str]()  # noqa: SLF001 - a connection that breaks at the commit

    def commit_and_break(batch: list[Change]) -> None:
        pieces.extend(change.piece for change in batch)
        write(batch)
        if len(pieces) == 1:
            raise StoreUnavailable("nobody knows whether it was recorded")

    monkeypatch.setattr(store, "_commit", commit_and_break)
    with pytest.raises(StoreUnavailable):
        recorder.apply(PlaceToken(X, 4))
    answer = recorder.apply(PlaceToken(X, 4))
    after = recorder.apply(PlaceToken(O, 0))

    assert [piece.count("start-") for piece in pieces] == [4, 4, 0]
    assert [*map(str, answer.events)] == [
        "playerPlacedToken(1,1,X)",
        "gamePlacedCount(1)",
        "playerActive(O)",
    ]
    (summary,) = store.games()
    assert (summary.game, summary.version) == (after.game, after.version)


def test_a_move_is_recorded_without_reading_the_game_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a game that has changed elsewhere is read."""
    store = MemoryStore()
    recorder, other = (Recorder(Service(store), lasts=True) for _ in range(2))
    recorder.begin(X, ())
    recorder.apply(PlaceToken(X, 4))
    other.open(Service(store).look(recorder.full_id or ""))
    reads: list[str] = []
    read = store._rows  # noqa: SLF001 - whatever the service calls

    def read_and_count(games: list[str]) -> list[Row]:
        reads.extend(games)
        return read(games)

    monkeypatch.setattr(store, "_rows", read_and_count)

    recorder.apply(PlaceToken(O, 0))
    assert str(recorder.apply(PlaceToken(X, 0)).events[0]) == "playerNotifyIllegalMove(X,cellTaken)"
    assert reads == []

    with pytest.raises(StaleVersion):
        other.apply(PlaceToken(O, 8))
    assert len(reads) == 1
    assert str(other.reload().events[0]) == "playerPlacedToken(0,0,O)"


# The list of games


def test_the_list_to_the_letter(tmp_path: Path) -> None:
    """The newest game comes first, with local times and with escapes for letters that output lacks."""
    save(tmp_path, "aaaaaaaaaaaa", *DRAW, x="Ann", o="Bob")
    save(tmp_path, "bbbbbbbbbbbb", *X_WINS, x="Ann", at=NOW + DAY)
    save(tmp_path, "cccccccccccc", "5", "1", "resign", o="Zo\u00eb", at=NOW + 2 * DAY)
    save(tmp_path, "dddddddddddd", "5", "1", "undo", at=NOW + 3 * DAY)
    save(tmp_path, "eeeeeeeeeeee", at=NOW + 4 * DAY)
    save(tmp_path, "short", "9", at=0)

    ran = noughts("games", env=saving(tmp_path))
    local = noughts("games", env=saving(tmp_path, TZ="XYZ-5:30", PYTHONIOENCODING="ascii"))
    newest = shell('{ "$@"; echo "code $?" >&2; } | head -n 1', "games", env=saving(tmp_path))

    assert (ran.returncode, ran.stderr) == (local.returncode, local.stderr) == (0, "")
    assert ran.stdout == (
        "game      started           cells      X    O    result\n"
        "eeeeeeee  2023-11-18 22:13  -          -    -    X to move\n"
        "dddddddd  2023-11-17 22:13  5          -    -    O to move\n"
        "cccccccc  2023-11-16 22:13  51         -    Zo\u00eb  X resigned\n"
        "bbbbbbbb  2023-11-15 22:13  14253      Ann  -    X won\n"
        "aaaaaaaa  2023-11-14 22:13  123546879  Ann  Bob  draw\n"
        "short     1970-01-01 00:00  9          -    -    O to move\n"
    )
    assert "cccccccc  2023-11-17 03:43  51         -    Zo\\xeb  X resigned" in local.stdout
    assert (newest.stdout, newest.stderr) == (ran.stdout.splitlines(keepends=True)[0], "code 0\n")


@pytest.mark.usefixtures("utc")
@pytest.mark.parametrize(("limit", "more"), [(1, "2"), (2, "4"), (PAGE_GAMES, f"{2 * PAGE_GAMES}")])
def test_a_limited_list_says_that_there_are_more(limit: int, more: str) -> None:
    store, out = MemoryStore(), StringIO()
    for number in range(limit + 1):
        play(store, f"game-{number}", "5")

    list_games(store, GameFilter(), limit, out)
    list_games(store, GameFilter(), limit + 1, whole := StringIO())

    assert out.getvalue().splitlines()[limit + 1 :] == [
        f"There are more: --limit {more} lists up to {more}."
    ]
    assert len(whole.getvalue().splitlines()) == limit + 2
    assert "There are more" not in whole.getvalue()


def test_an_impossible_player_has_no_games(tmp_path: Path) -> None:
    """The filter is exact: a game may have been saved under other rules for names."""
    save(tmp_path, "aaaaaaaa", "5", x="bob")

    for name in ("\x1b[2J", "BOB", "", "a" * 33, "\udcff"):
        ran = noughts("games", "--player", name, env=saving(tmp_path))
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, "No such game is saved.\n", "")


OLD = "bob\u2800", "BOB\u2800 \x1b[2J"
"""Names that are refused now, but that an old record may have."""


@pytest.fixture
def old_game(tmp_path: Path) -> Path:
    """Return a data folder with a game that was saved under other rules for names."""
    history = (
        *decide(None, CreateGame(open_seats=True)),
        events.PlayerJoined(X, OLD[0]),
        events.PlayerJoined(O, OLD[1]),
        events.GameReady(),
    )
    with open_store(url(tmp_path)) as store:
        commit(store, change_of(nothing("oldgame"), history))
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "typed", "words"),
    [
        (["games"], "", "bob\u2800  BOB\u2800 \\x1b[2J  X to move\n"),
        (["events", "old"], "", "playerJoined(O,BOB\u2800 \\x1b[2J)\n"),
        (["games", "--player", OLD[0]], "", "bob\u2800  BOB"),
        (["resume", "old"], "1\n2\nquit\n", "BOB\u2800 \\x1b[2J, enter a position from 1 to 9:\n"),
        (["resume", "old"], "resign\nn\n", "BOB\u2800 \\x1b[2J Won!\n"),
        (["resume", "old"], "resign\ny\nquit\n", "bob\u2800 starts.\n"),
        (["resume", "old", "--describe"], "1\nquit\n", "1; BOB\u2800 \\x1b[2J (O) to move.\n"),
        (["replay", "old", "--describe"], "", "The board is empty; bob\u2800 (X) to move.\n"),
        (["analyse", "old"], "", "bob\u2800 (X) to move.\n"),
        (["store", "verify"], "", "1 game, 5 events: no faults found.\n"),
        (["store", "export", "old"], "", '"name":"bob\u2800"}'),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_game_with_names_of_other_rules_stays_readable(
    old_game: Path, arguments: list[str], typed: str, words: str
) -> None:
    """No control character in a name reaches the terminal."""
    ran = noughts(*arguments, typed=typed, env=saving(old_game))

    assert (ran.returncode, ran.stderr) == (0, "")
    assert words in ran.stdout
    assert "\x1b" not in ran.stdout


def test_a_name_with_joiners_is_saved_and_shown_as_it_is(tmp_path: Path) -> None:
    names = "گل\u200cپری", "👩\u200d🚀"
    ran = noughts("play", "--x", names[0], "--o", names[1], typed="5\nquit\n", env=saving(tmp_path))
    listed = noughts("games", env=saving(tmp_path))

    assert f"{names[1]}, enter a position from 1 to 9:\n" in ran.stdout
    assert f"{names[0]}  {names[1]}  O to move\n" in listed.stdout


@pytest.mark.parametrize(
    "command",
    ["games", "replay a", "events a", "store export a", "store export", "store verify", "resume"],
)
def test_output_that_is_full_closed_or_unread(tmp_path: Path, command: str) -> None:
    save(tmp_path, "aaaaaaaa", "5")
    arguments, env = command.split(), saving(tmp_path)

    full = shell('"$@" > /dev/full', *arguments, env=env)
    closed = shell('"$@" <&- >&-', *arguments, env=env)
    unread = run_unread(*arguments, env=env)

    assert (full.returncode, full.stderr) == (1, "noughts: cannot continue: No space left on device\n")
    assert (closed.returncode, closed.stderr) == (unread.returncode, unread.stderr) == (0, "")
    assert digits(tmp_path) == ["5"]
    names = {path.name for path in file(tmp_path).parent.iterdir()}
    assert names == {"saved.sqlite", "saved.sqlite-lock"}


# Playing on


def test_the_game_that_was_left_last_is_found_among_very_many() -> None:
    store = MemoryStore()
    for number in range(2 * PAGE_GAMES + 5):
        play(store, f"game-{number}", "5", at=NOW + number // 2)
    play(store, "game-3", "1", at=NOW + DAY)

    assert last_left(store) == "game-3"


def test_nothing_is_taken_back_in_a_game_that_has_become_too_long(tmp_path: Path) -> None:
    taken_back = decide(fold((*CREATED, *PLACED)), TakeBack(X))
    with open_store(url(tmp_path)) as store:
        commit(store, change_of(nothing("long"), CREATED, *(PLACED, taken_back) * 220, PLACED))

    ran = noughts("resume", "long", typed="undo\n1\n", env=saving(tmp_path))

    assert "\nThe game has become too long: nothing can be taken back any more.\n" in ran.stdout
    assert digits(tmp_path) == ["51"]


BAD_ID = "the id of a game has 1 to 64 letters, digits, - and _, unlike"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("ab", "more than one game begins with 'ab': give more of its id"),
        ("b", "no game begins with 'b'"),
        ("", f"{BAD_ID} ''"),
        ("a b", f"{BAD_ID} 'a b'"),
        ("\x1b[2J", f"{BAD_ID} '\\x1b[2J'"),
        ("\udcff", f"{BAD_ID} '\\udcff'"),
        ("%", f"{BAD_ID} '%'"),
    ],
)
def test_a_game_is_named_by_a_prefix_of_its_id(tmp_path: Path, name: str, sentence: str) -> None:
    save(tmp_path, "abcdefgh", "5")
    save(tmp_path, "abxxxxxx", "1")

    for command in ("resume", "store export", "events", "replay"):
        ran = noughts(*command.split(), name, env=saving(tmp_path))
        assert (ran.returncode, ran.stdout, ran.stderr) == (2, "", f"noughts: {sentence}\n")
    for enough in ("abc", "abcdefgh"):
        assert noughts("resume", enough, env=saving(tmp_path)).stdout.startswith(drawn("5"))


# One game in two windows


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[Session, Session]]:
    """Let two terminals resume the same game, in which X is to move."""
    save(tmp_path, "aaaaaaaa", "5", "1")
    env = saving(tmp_path)
    with (
        in_terminal("resume", "--color=never", env=env) as one,
        in_terminal("resume", "--color=never", env=env) as other,
    ):
        for session in (one, other):
            session.expect(asked("51"))
        yield one, other


ELSEWHERE = "This game has moved on in another window; here it is now."


@pytest.mark.parametrize("typed", ["3", "undo"])
def test_a_command_for_an_old_position_is_refused(
    tmp_path: Path, two: tuple[Session, Session], typed: str
) -> None:
    """The board is shown as it is now, and the player to move now is asked."""
    one, other = two
    one.type("9\n")
    one.expect(asked("519"))

    other.type(f"{typed}\n")

    assert other.expect(asked("519")).endswith(
        f"{ELSEWHERE}\r\n{drawn('519', end=chr(13) + chr(10))}\r\n{asked('519')}"
    )
    assert digits(tmp_path) == ["519"]
    other.type("3\n")
    other.expect(drawn("5193", end="\r\n"))
    assert digits(tmp_path) == ["5193"]


def test_a_game_that_ended_elsewhere_has_ended_here(tmp_path: Path, two: tuple[Session, Session]) -> None:
    one, other = two
    one.type("resign\n")
    one.expect("Play again?")

    other.type("3\n")

    shown = other.expect("Play again? (y")
    assert "Player O Won!" in shown
    assert ELSEWHERE in shown
    other.type("y\n5\n")
    other.expect("Player O, enter")
    assert digits(tmp_path)[1:] == ["51"]


def test_a_resignation_counts_in_a_newer_position(tmp_path: Path, two: tuple[Session, Session]) -> None:
    """A resignation counts in any position, for the player who was to move."""
    one, other = two
    one.type("9\n")
    one.expect(asked("519"))

    other.type("resign\n")

    other.expect("Player X resigned.")
    one.type("3\n")
    assert "Player O Won!" in one.expect("Play again? (y")
    assert listed(saving(tmp_path)) == ["519    -  -  X resigned"]


@pytest.mark.parametrize("options", [[], ["--describe"]])
def test_a_newer_position_is_shown_between_pipes(tmp_path: Path, options: list[str]) -> None:
    save(tmp_path, "aaaaaaaa", "5", "1")
    with between_pipes("resume", *options, env=saving(tmp_path)) as session:
        session.expect(asked("51"))
        save(tmp_path, "aaaaaaaa", "9")

        session.type("3\n")

        shown = session.expect(asked("519"))
    position = "X on 5 and 9, O on 1; O to move.\n" if options else drawn("519")
    assert shown == f"\n{ELSEWHERE}\n{position}{asked('519')}"


def test_an_end_elsewhere_is_shown_between_pipes(tmp_path: Path) -> None:
    save(tmp_path, "aaaaaaaa", *X_WINS[:4])
    with between_pipes("resume", env=saving(tmp_path)) as session:
        session.expect(asked(X_WINS[:4]))
        save(tmp_path, "aaaaaaaa", X_WINS[4])

        session.type("9\n")

        assert "Player X Won!" in session.expect("Play again?")


# Replaying

READY_FIRST = """\
{"schema":1,"event":"gameCreated","first":"X"}
{"schema":1,"event":"gameReady"}
{"schema":1,"event":"playerActive","mark":"X"}
{"schema":1,"event":"playerJoined","mark":"X","name":"Ann"}
{"schema":1,"event":"playerJoined","mark":"O","name":"Bob"}
{"schema":1,"event":"playerPlacedToken","row":1,"column":1,"mark":"X"}
{"schema":1,"event":"gamePlacedCount","count":1}
{"schema":1,"event":"playerActive","mark":"O"}
"""
"""A record as it was written before, when names came after gameReady."""


def test_a_game_with_names_after_ready_still_works(tmp_path: Path) -> None:
    env, elsewhere = saving(tmp_path), saving(tmp_path / "elsewhere")
    with open_store(url(tmp_path)) as store:
        commit(store, change_of(nothing("aaaaaaaa"), parse_record(READY_FIRST)))
    line = "5      Ann  Bob  O to move"

    assert noughts("store", "verify", env=env).returncode == 0
    assert noughts("games", env=env).stdout.endswith(f"{line}\n")
    shown = noughts("replay", "a", env=env).stdout
    assert shown == " | |\n-+-+-\n | |\n-+-+-\n | |\nAnn:\n | |\n-+-+-\n |X|\n-+-+-\n | |\n"

    exported = noughts("store", "export", env=env).stdout
    noughts("store", "import", "-", typed=exported, env=elsewhere)
    assert noughts("store", "export", env=elsewhere).stdout == exported

    assert "Bob, enter a position" in noughts("resume", typed="1\n", env=env).stdout
    assert digits(tmp_path) == ["51"]


@pytest.mark.parametrize("wording", [NARRATIVE, GEM, KATA], ids=lambda wording: wording.title)
def test_a_step_is_a_position_and_what_led_to_it(wording: Wording) -> None:
    store = MemoryStore()
    play(store, "game", "1", "4", "2", x="Ann")
    play(store, "game", "5", "3", o="Bob")
    events = Service(store).look("game").events

    found = steps(events, Screen(StringIO(), Display(wording)))

    assert [step.line for step in found] == ["", "Ann:", "Player O:", "Ann:", "Bob:", "Ann:"]
    assert [len(step.game.moves) for step in found] == [0, 1, 2, 3, 4, 5]
    assert [step.game.is_over for step in found] == [*5 * [False], True]
    assert [len(step.game.players) for step in found] == [1, 1, 1, 2, 2, 2]


def test_a_long_pause_between_moves_is_ended_by_ctrl_c(tmp_path: Path) -> None:
    save(tmp_path, "aaaaaaaa", "5", "1")
    with in_terminal("replay", "a", "--interval", "60", env=saving(tmp_path)) as session:
        session.expect("-+-+-")

        session.type(CTRL_C)

        assert session.end() == 130
        assert session.output.endswith(b"\r\nGoodbye!\r\n")
        assert session.settings() == session.initial_settings


# Replaying step by step

KEYS = "(Enter: next, b: back, q: quit)"


class Stepping:
    """A terminal that replays a game of three moves in lines."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def type(self, line: str, place: int) -> str:
        """Type a line; return what was shown for it."""
        self.session.type(f"{line}\n")
        return self.session.expect(f"{place}/3 {KEYS} ")


@pytest.fixture
def stepping(tmp_path: Path) -> Iterator[Stepping]:
    """Start a replay of a game of three moves."""
    save(tmp_path, "aaaaaaaa", "5", "1", "9", x="Ann", o="Bob")
    with in_terminal("replay", "a", "--color=never", env=saving(tmp_path)) as session:
        session.expect(f"0/3 {KEYS} ")
        yield Stepping(session)


def test_enter_goes_on_and_b_goes_back(stepping: Stepping) -> None:
    first = stepping.session.output.decode()
    on = [stepping.type("", 1), stepping.type("n", 2)]

    assert first == f" | |\r\n-+-+-\r\n | |\r\n-+-+-\r\n | |\r\n0/3 {KEYS} "
    assert on == [
        f"Ann:\r\n | |\r\n-+-+-\r\n |X|\r\n-+-+-\r\n | |\r\n1/3 {KEYS} ",
        f"Bob:\r\nO| |\r\n-+-+-\r\n |X|\r\n-+-+-\r\n | |\r\n2/3 {KEYS} ",
    ]
    assert stepping.type("b", 1) == on[0]


def test_other_lines_change_nothing(stepping: Stepping) -> None:
    """Back at the start, on at the end, and lines without a meaning; the board isn't drawn again."""
    for line in ("b", "x", "5", "\u00e9", "\u202e"):
        assert stepping.type(line, 0) == f"0/3 {KEYS} "
    for place in (1, 2, 3):
        stepping.type("", place)
    assert stepping.type("", 3) == f"3/3 {KEYS} "


@pytest.mark.parametrize(
    "way", ["q\n", "quit\n", "exit\n", CTRL_D, CTRL_C, signal.SIGINT, signal.SIGTERM]
)
@pytest.mark.parametrize("echo", [False, True])
@pytest.mark.parametrize(
    ("command", "question"),
    [("replay a", KEYS), ("games --delete a", "Delete this game for good? (y/n)")],
    ids=["replay", "delete"],
)
def test_leaving_restores_the_terminal(
    tmp_path: Path, command: str, question: str, way: str | bytes | signal.Signals, *, echo: bool
) -> None:
    """With and without our own editing of lines."""
    save(tmp_path, "aaaaaaaa", "5", "1", "9")
    with in_terminal(*command.split(), env=saving(tmp_path), echo=echo) as session:
        session.expect(f"{question} ")

        if isinstance(way, signal.Signals):
            session.send(way)
        else:
            session.type(way)

        code = {signal.SIGTERM: 143, signal.SIGINT: 130, CTRL_C: 130}.get(way, 0)
        assert session.end() == code
        assert session.settings() == session.initial_settings
        assert session.output.endswith(b"\n") or (code == 0 and not echo)
    assert ids(tmp_path) == ["aaaaaaaa"]


def test_closing_the_terminal_ends_the_steps(stepping: Stepping) -> None:
    stepping.session.close()

    assert stepping.session.end() == 128 + signal.SIGHUP


def test_a_small_terminal_leaves_out_the_keys(tmp_path: Path) -> None:
    save(tmp_path, "aaaaaaaa", "5")
    with in_terminal("replay", "a", "--color=never", size=(20, 5), env=saving(tmp_path)) as session:
        session.expect("0/1 ")
        session.type("\n")
        shown = session.expect("1/1 ")

    assert shown == "Player X:\r\n1 2 3\r\n4 X 6\r\n7 8 9\r\n1/1 "
