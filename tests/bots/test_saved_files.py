"""Machines and policies in files: written and read exactly, and nothing else is accepted."""

from __future__ import annotations

import errno
import json
import os
import pickle
import resource
from collections.abc import Callable, Mapping
from copy import deepcopy
from fractions import Fraction
from functools import cache
from math import gcd
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings, strategies as st

from noughts import (
    Board,
    Cell,
    Mark,
    Menace,
    O,
    Policy,
    Training,
    X,
    certify,
    errors,
    find_policy,
    load_policy,
    odds,
    parse_board,
    parse_moves,
    reachable,
    save_policy,
    system,
)
from noughts.analysis.solver import Result
from noughts.bots.ladder import perfect, random
from noughts.bots.menace.boxes import boxes
from noughts.bots.menace.file import load_machine, save_machine
from noughts.bots.menace.machine import MAX_BEADS, BeadRules
from noughts.bots.policy import CachedPolicy, weigh
from noughts.bots.policy_file import MAX_WEIGHT
from noughts.bots.registry import BUILT_IN
from noughts.core.value import Value
from noughts.files import MAX_FILE_BYTES
from support.length import short_or_long
from support.played import DRAW, O_WINS, X_WINS
from support.strategies import json_values

pytestmark = pytest.mark.thorough

EMPTY, CORNER, LAST = "___/___/___", "X__/___/___", "XOX/XOO/OX_"
Json: TypeAlias = dict[str, Any]


def learned() -> Menace:
    """Return a machine that has learned a little."""
    machine = Menace(BeadRules(beads=(8, 4, 2, 1), empty="refill"))
    for moves in (X_WINS, O_WINS, DRAW, DRAW):
        machine.learn(parse_moves(moves), X)
    return machine


def last_free(board: Board) -> Mapping[Cell, Fraction]:
    """Take the last free cell."""
    return {board.free_cells[-1]: Fraction(1)}


def machine_state(machine: Menace) -> object:
    """Return the whole state of a machine."""
    return machine.rules, machine.boxes, machine.results


def chances(policy: Policy, board: Board) -> dict[Cell, tuple[int, int]]:
    """Return the cells with a chance, each chance in lowest terms."""
    found = weigh(policy, board)
    common = gcd(*found.shares)
    shares = zip(found.cells, found.shares, strict=True)
    return {cell: (share // common, found.total // common) for cell, share in shares}


def all_chances(policy: Policy) -> object:
    """Return what a policy does in every position, whichever mark starts."""
    boards = (board for first in Mark for board in reachable(first) if not board.is_over)
    return [chances(policy, board) for board in boards]


class Kind(Value):
    """A kind of saved file."""

    name: str
    save: Callable[[Any, Path | str], None]
    load: Callable[[Path | str], Any]
    refusal: type[errors.NoughtsError]
    sample: Any
    other: Any
    state: Callable[[Any], object]
    """Equal for equal things."""

    def check(self, path: Path | str, expected: object) -> None:
        """Check that a file contains exactly this."""
        assert self.state(self.load(path)) == self.state(expected)

    def refused(self, path: Path) -> str:
        """Check that a file is refused and not changed, and return the reason."""
        before = path.read_bytes()
        with pytest.raises(self.refusal) as refusal:
            self.load(path)
        start, sentence = f"{path} is not a {self.name}: ", str(refusal.value)
        assert sentence.startswith(start)
        assert sentence.isprintable()
        assert path.read_bytes() == before
        return sentence.removeprefix(start)


KINDS = (
    Kind("menace", save_machine, load_machine, errors.NotAMachine, learned(), Menace(), machine_state),
    Kind("policy", save_policy, load_policy, errors.NotAPolicy, last_free, random, all_chances),
)
MENACE, POLICY = KINDS


@pytest.fixture(params=KINDS, ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> Kind:
    """Every kind of file."""
    found: Kind = request.param
    return found


@cache
def text_of(kind: Kind) -> str:
    """Return the file of the sample."""
    with TemporaryDirectory() as folder:
        kind.save(kind.sample, Path(folder) / "sample")
        return (Path(folder) / "sample").read_text()


@pytest.fixture
def path(kind: Kind, tmp_path: Path) -> Path:
    """Return a file with the sample."""
    path = tmp_path / "saved.json"
    path.write_text(text_of(kind))
    return path


# Written and read


def test_what_was_written_is_read_exactly(kind: Kind, path: Path) -> None:
    kind.check(path, kind.sample)

    assert text_of(kind).isascii()
    assert text_of(kind).endswith("}\n")
    assert len(text_of(kind)) < MAX_FILE_BYTES / (20 if kind is MENACE else 5)


def test_layout_and_order_make_no_difference(kind: Kind, path: Path) -> None:
    def turned(part: object) -> object:
        is_object = isinstance(part, dict)
        return {name: turned(one) for name, one in reversed(part.items())} if is_object else part  # type: ignore[attr-defined]  # a dict

    path.write_text(json.dumps(turned(json.loads(path.read_text())), indent=3))

    kind.check(path, kind.sample)


def test_saving_replaces_any_file_and_keeps_its_mode(kind: Kind, path: Path) -> None:
    path.write_text("something else")
    path.chmod(0o644)
    kind.save(kind.other, path)

    kind.check(path, kind.other)
    assert path.stat().st_mode & 0o777 == 0o644
    assert list(path.parent.iterdir()) == [path]


def test_a_path_may_be_relative_and_have_any_letters(
    kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = ". Zo\u00eb\u2019s \u540d\u524d.json"
    monkeypatch.chdir(tmp_path)
    kind.save(kind.sample, Path(name))

    kind.check(name, kind.sample)
    kind.check(tmp_path / name, kind.sample)


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_is_followed_and_stays_a_link(kind: Kind, path: Path, exists: bool) -> None:  # noqa: FBT001 - a parameter of the test
    link = path.parent / "elsewhere" / "link"
    link.parent.mkdir()
    link.symlink_to(path)
    if not exists:
        path.unlink()
    kind.save(kind.other, link)

    assert link.is_symlink()
    assert not path.is_symlink()
    kind.check(path, kind.other)
    kind.check(link, kind.other)
    assert sorted(path.parent.rglob("*")) == sorted([path, link, link.parent])


def test_missing_folders_are_made_for_a_machine_only(tmp_path: Path) -> None:
    """For its user alone; the folder of a policy is more likely mistyped."""
    save_machine(learned(), tmp_path / "data" / "a" / "machine")
    MENACE.check(tmp_path / "data" / "a" / "machine", learned())
    assert (tmp_path / "data" / "a").stat().st_mode & 0o777 == 0o700
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "machine")
    save_machine(learned(), tmp_path / "link")
    MENACE.check(tmp_path / "folder" / "machine", learned())

    place = tmp_path / "modles" / "q.json"
    with pytest.raises(errors.FileUnavailable) as refusal:
        save_policy(random, place)
    assert str(refusal.value) == f"{place} cannot be written: the folder {place.parent} is missing"
    assert not place.parent.exists()


# Files that cannot be read


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("missing", "No such file or directory"),
        ("missing/machine", "No such file or directory"),
        (".", "Is a directory"),
        ("saved.json/machine", "Not a directory"),
        ("a" * 300, "File name too long"),
        ("/dev/null", "it is not a regular file"),
        ("/dev/zero", "it is not a regular file"),
        ("pipe", "it is not a regular file"),
        ("loop", "Too many levels of symbolic links"),
        ("a\0b", "it is not a valid file name"),
        ("\ud800", "it is not a valid file name"),
        ("/proc/self/mem", "Input/output error"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(kind: Kind, path: Path, name: str, why: str) -> None:
    """A pipe without a writer is not even opened."""
    os.mkfifo(path.parent / "pipe")
    (path.parent / "loop").symlink_to(path.parent / "loop")
    with pytest.raises(kind.refusal) as refusal:
        kind.load(path.parent / name)
    assert str(refusal.value) == f"{path.parent / name} cannot be read: {why}"


def test_a_file_without_permission_is_refused(
    kind: Kind, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "open", failing(errno.EACCES))
    with pytest.raises(kind.refusal, match=r"cannot be read: Permission denied$"):
        kind.load(path)


# Files with something else in them

NO_SCHEMA = "it does not say that it is a KIND of schema 1"


@pytest.mark.parametrize(
    ("text", "because"),
    [
        *((text.encode(), f"'{text}' is not JSON") for text in ("", "hello", "{")),
        *((text, "is not JSON") for text in (b"\n", b"\x1b[2J", b'{"a": 1,}')),
        *((text, "is not JSON") for text in (b"{'a': 1}", b"\xef\xbb\xbf{}", b"SQLite format 3\x00")),
        *((text, "is not JSON") for text in (b"\x00" * 100, b"[" * 100_000, b'{"a":' * 100_000)),
        *((text, "is not JSON") for text in (b"[" * 100_000 + b"]" * 100_000, b"9" * 5000)),
        (b"NaN", "NaN is not JSON"),
        (b"Infinity", "Infinity is not JSON"),
        *((text, "it is not text") for text in (b"\xff\xfe{\x00}\x00", b"\x80", b"\xed\xa0\x80")),
        (b'{"KIND": 1, "KIND": 1}', "a field is given twice"),
        (b" " * (MAX_FILE_BYTES + 1), "it is too long"),
        *((text, NO_SCHEMA) for text in (b"null", b"1", b'"KIND"', b"[1]", b"{}", b'{"other": 1}')),
        *((b'{"KIND": ' + one + b"}", NO_SCHEMA) for one in (b"0", b"2", b'"1"', b"null", b"[1]")),
        *((b'{"KIND": ' + one + b"}", NO_SCHEMA) for one in (b"true", b"1.0")),
        (b'{"KIND": 1, "luck": 1}', "it has unknown parts"),
    ],
    ids=lambda value: repr(value[:16]) if isinstance(value, bytes) else "",
)
def test_other_content_is_refused(kind: Kind, tmp_path: Path, text: bytes, because: str) -> None:
    path = tmp_path / "garbage"
    path.write_bytes(text.replace(b"KIND", kind.name.encode()))

    assert kind.refused(path).endswith(because.replace("KIND", kind.name))


def test_the_longest_file_is_read_and_one_byte_more_is_not(kind: Kind, path: Path) -> None:
    text = path.read_bytes()
    path.write_bytes(text.ljust(MAX_FILE_BYTES))
    kind.check(path, kind.sample)

    path.write_bytes(text.ljust(MAX_FILE_BYTES + 1))
    assert kind.refused(path) == "it is too long"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@given(st.data())
@settings(max_examples=short_or_long(30, 2_000))
def test_damage_is_refused_or_read(
    tmp_path_factory: pytest.TempPathFactory, kind: Kind, data: st.DataObject
) -> None:
    whole = bytearray(text_of(kind).encode())
    path = tmp_path_factory.mktemp("damaged") / "saved.json"
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 2))])
    kind.refused(path)
    path.write_bytes(
        data.draw(st.binary(max_size=200) | json_values.map(lambda it: json.dumps(it).encode()))
    )
    kind.refused(path)
    whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(whole)
    try:
        read = kind.load(path)
    except kind.refusal as refusal:
        assert str(refusal).startswith(f"{path} is not a {kind.name}: ")
    else:
        assert sum(read(Board()).values()) == 1
        assert kind is POLICY or all(0 <= count <= MAX_BEADS for beads in read.boxes for count in beads)


# Files that cannot be written


def failing(number: int) -> Callable[..., object]:
    """Return a function that raises this system error."""

    def fail(*_: object, **__: object) -> object:
        raise OSError(number, os.strerror(number))

    return fail


def check_unwritten(kind: Kind, path: Path, why: str) -> None:
    """Check that a file cannot be written, and that its folder stays as it was."""
    before = path.read_bytes()
    with pytest.raises(errors.FileUnavailable) as refusal:
        kind.save(kind.other, path)
    assert str(refusal.value) == f"{path} cannot be written: {why}"
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    ("where", "name", "number"),
    [
        (os, "fsync", errno.EIO),
        (os, "fsync", errno.ENOSPC),
        (Path, "replace", errno.EACCES),
        (os, "chown", errno.EIO),
        (Path, "chmod", errno.EPERM),
        (Path, "resolve", errno.EACCES),
    ],
)
def test_a_failed_write_leaves_the_file_as_it_was(
    kind: Kind, path: Path, monkeypatch: pytest.MonkeyPatch, where: object, name: str, number: int
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(where, name, failing(number))
        check_unwritten(kind, path, os.strerror(number))


def test_a_full_disk_leaves_the_file_as_it_was(kind: Kind, path: Path) -> None:
    """The kernel itself refuses, in the middle of the file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        check_unwritten(kind, path, "File too large")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("kind", [MENACE], ids=lambda kind: kind.name)
def test_a_folder_that_cannot_be_made_is_reported(
    kind: Kind, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "mkdir", failing(errno.EACCES))
    check_unwritten(kind, path, "Permission denied")


def test_a_folder_that_cannot_be_synced_is_reported(
    kind: Kind, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file has the new content, whole."""
    monkeypatch.setattr(system, "sync_folder", failing(errno.EIO))
    with pytest.raises(errors.FileUnavailable, match=r"cannot be written: Input/output error$"):
        kind.save(kind.other, path)

    kind.check(path, kind.other)
    assert list(path.parent.iterdir()) == [path]


def test_an_interrupt_leaves_the_file_as_it_was(
    kind: Kind, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        kind.save(kind.other, path)

    assert path.read_text() == text_of(kind)
    assert list(path.parent.iterdir()) == [path]


def test_the_file_and_its_folder_are_synced(
    kind: Kind, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The content first, before it replaces the old one; then the folder."""
    synced = []
    real = os.fsync

    def fsync(number: int) -> None:
        is_folder = os.fstat(number).st_mode & 0o170000 == 0o040000
        synced.append("folder" if is_folder else path.read_text() == text_of(kind))
        real(number)

    monkeypatch.setattr(os, "fsync", fsync)
    kind.save(kind.other, path)

    assert synced == [True, "folder"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("folder", "Is a directory"),
        ("pipe", "it is not a regular file"),
        ("loop", "(it is a link to itself|Too many levels of symbolic links)"),
        ("saved.json/below", "(Not a directory|File exists)"),
        ("saved.json/further/below", "(Not a directory|File exists|the folder .* is missing)"),
        *((name, "it is not a valid file name") for name in ("a\0b", "\ud800")),
    ],
)
def test_what_is_not_a_file_is_not_replaced(kind: Kind, path: Path, name: str, why: str) -> None:
    (path.parent / "folder").mkdir()
    os.mkfifo(path.parent / "pipe")
    (path.parent / "loop").symlink_to(path.parent / "loop")
    before = sorted((one, one.lstat().st_mode) for one in path.parent.rglob("*"))
    with pytest.raises(errors.FileUnavailable, match=f"cannot be written: {why}$"):
        kind.save(kind.other, path.parent / name)

    assert sorted((one, one.lstat().st_mode) for one in path.parent.rglob("*")) == before
    assert path.read_text() == text_of(kind)


# Machines

counts = st.integers(0, MAX_BEADS)
changes = st.integers(-MAX_BEADS, MAX_BEADS)
some_rules = st.builds(
    BeadRules,
    beads=st.tuples(*[st.integers(1, MAX_BEADS)] * 4),
    win=changes,
    draw=changes,
    loss=changes,
    blame=st.sampled_from(["all", "last"]),
    empty=st.sampled_from(["resign", "refill", "keep"]),
)


@given(some_rules, st.integers(0), st.tuples(counts, counts, st.integers(0, 10 * MAX_BEADS)))
@settings(max_examples=short_or_long(30, 2_000))
def test_any_machine_is_read_exactly(
    tmp_path_factory: pytest.TempPathFactory, rules: BeadRules, seed: int, results: tuple[int, ...]
) -> None:
    rng, machine = Random(seed), Menace(rules)
    for beads in machine.boxes:
        beads[:] = [rng.choice((0, 1, rng.randrange(100), rng.randint(0, MAX_BEADS))) for _ in beads]
    machine.results = dict(zip(Result, results, strict=True))
    path = tmp_path_factory.mktemp("exact") / "machine.json"
    save_machine(machine, path)

    read = load_machine(path)

    assert machine_state(read) == machine_state(machine)
    for one in (read, machine):
        one.learn(parse_moves(O_WINS), X)
    assert machine_state(read) == machine_state(machine)


def test_the_file_of_a_machine_can_be_read_by_people() -> None:
    written = json.loads(text_of(MENACE))

    rules = {"beads": [8, 4, 2, 1], "win": 3, "draw": 1, "loss": -1, "blame": "all", "empty": "refill"}
    assert (written["menace"], written["rules"]) == (1, rules)
    assert written["results"] == {"win": 1, "draw": 2, "loss": 1}
    assert len(written["boxes"]) == len(boxes()) == 593
    assert written["boxes"][EMPTY] == {"1": 12, "2": 8, "5": 8}


REMOVED = object()
NOT_NUMBERS, FOUR = "its rules are not numbers", "four numbers of at least 1"
WRONG_COUNT = "{0} has {1}, which is not a number from 0 to "
SPOILED: list[tuple[str, object, str]] = [
    *((part, REMOVED, f"{part} are not those of a menace") for part in ("rules", "results", "boxes")),
    *((part, None, f"{part} are not those of a menace") for part in ("rules", "results", "boxes")),
    ("boxes", [{}], "boxes are not those"),
    *(("rules." + name, REMOVED, "rules are not those") for name in BeadRules.__match_args__),
    ("rules.luck", 1, "rules are not those"),
    *(("rules.beads", beads, FOUR) for beads in ([1] * 3, [1] * 5, [], [1, 1, 1, 0])),
    *(("rules.beads", beads, NOT_NUMBERS) for beads in ("4321", None, [True] * 4, [1.5] * 4, [[1]] * 4)),
    *(("rules.win", number, NOT_NUMBERS) for number in (True, 3.0, "1", None)),
    ("rules.draw", "1", NOT_NUMBERS),
    ("rules.loss", None, NOT_NUMBERS),
    ("rules.loss", -(10**18), "at most 1,000,000,000 beads"),
    *(("rules.blame", blame, "blame is all or last, not ") for blame in (1, ["all"], "me")),
    ("rules.empty", "\x1b[2J", "not '\\x1b[2J'"),
    ("rules.empty", None, "resign, refill or keep, not None"),
    ("results.win", REMOVED, "results are not those"),
    ("results.lost", 1, "results are not those"),
    *(("results.draw", n, WRONG_COUNT.format("results", repr(n))) for n in (-1, 1.0, True, "1")),
    (f"boxes.{EMPTY}", REMOVED, "boxes are not those of a menace"),
    ("boxes.XXX/OO_/___", {}, "boxes are not those"),
    ("boxes.__X/___/___", {"1": 1}, "boxes are not those"),
    *((f"boxes.{EMPTY}", put, f"{EMPTY} are not those of a menace") for put in (None, [8, 8, 8])),
    (f"boxes.{EMPTY}", {}, f"{EMPTY} are not those of a menace"),
    (f"boxes.{EMPTY}.5", REMOVED, f"{EMPTY} are not those"),
    (f"boxes.{EMPTY}.3", 1, f"{EMPTY} are not those"),
    (f"boxes.{EMPTY}", {"1": 1, "2": 1, "6": 1}, f"{EMPTY} are not those of a menace"),
    *(
        (f"boxes.{EMPTY}.1", number, WRONG_COUNT.format(EMPTY, repr(number)) + "1,000,000,000")
        for number in (-1, 1.0, 1e308, True, None, "8", MAX_BEADS + 1)
    ),
    (f"boxes.{EMPTY}.1", 10**4000, f"{EMPTY} has a number that long, which"),
]


@pytest.mark.parametrize(("where", "put", "because"), SPOILED, ids=range(len(SPOILED)))
def test_an_invalid_machine_is_refused(tmp_path: Path, where: str, put: object, because: str) -> None:
    written: Json = json.loads(text_of(MENACE))
    *folders, name = where.split(".")
    part = written
    for folder in folders:
        part = part[folder]
    part[name] = put
    if put is REMOVED:
        del part[name]
    (tmp_path / "machine").write_text(json.dumps(written))

    assert because in MENACE.refused(tmp_path / "machine")


NOT_COUNTS = ("1e5", "8.0", "NaN", "-Infinity", "1e999", "-0.0", "9" * 5000)
REPLACED = [
    *(
        (f'"{name}":', f'"{name}": 1, "{name}":', "a field is given twice")
        for name in ("rules", "results", "boxes", "win", EMPTY, "5")
    ),
    (f'"{CORNER}"', '"__X/___/___"', "boxes are not those of a menace"),
    *(('"5": 8', f'"5": {number}', "") for number in NOT_COUNTS),
]


@pytest.mark.parametrize(("old", "new", "because"), REPLACED, ids=range(len(REPLACED)))
def test_a_machine_is_checked_as_it_is_written(tmp_path: Path, old: str, new: str, because: str) -> None:
    """No name twice, and no number that Python would convert to a count."""
    path = tmp_path / "machine"
    path.write_text(text_of(MENACE).replace(old, new, 1))

    reason = MENACE.refused(path)
    assert reason
    assert reason.endswith(because)


@given(st.data())
def test_any_value_in_a_machine_is_refused_or_read(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    written: Json = json.loads(text_of(MENACE))
    part = data.draw(st.sampled_from(["rules", "results", "boxes"]))
    name = data.draw(st.sampled_from([None, *sorted(written[part])[:20]]))
    put = data.draw(json_values)
    spoiled = deepcopy({**written, part: put if name is None else {**written[part], name: put}})
    path = tmp_path_factory.mktemp("part") / "machine.json"
    path.write_text(json.dumps(spoiled))
    try:
        machine = load_machine(path)
    except errors.NotAMachine as refusal:
        assert str(refusal).startswith(f"{path} is not a menace: ")
    else:
        save_machine(machine, path)
        assert json.loads(path.read_text()) == spoiled


# Policies


def faint_hearted(board: Board) -> Mapping[Cell, Fraction]:
    """Take the centre; resign once it is taken."""
    return {4: Fraction(1)} if 4 in board.free_cells else {}


@pytest.mark.parametrize("name", [*BUILT_IN, "club:block=1/3,win=1/1000", "trained"])
def test_any_policy_is_read_exactly(tmp_path: Path, name: str) -> None:
    machine = Menace()
    if name == "trained":
        Training(machine, perfect, Random(3)).play(200)
    policy = CachedPolicy(machine if name == "trained" else find_policy(name))
    save_policy(policy, tmp_path / "policy")

    read = load_policy(tmp_path / "policy")

    assert all_chances(read) == all_chances(policy)


def test_a_saved_policy_is_as_good_as_the_policy(tmp_path: Path) -> None:
    careful = CachedPolicy(find_policy("newell-simon"))
    save_policy(careful, tmp_path / "policy.json")
    read = load_policy(tmp_path / "policy.json")

    assert odds(read, random) == odds(careful, random)
    assert odds(random, read, Board(first=O)) == odds(random, careful, Board(first=O))
    assert certify(read, O) == certify(careful, O)
    assert all_chances(pickle.loads(pickle.dumps(read))) == all_chances(careful)  # noqa: S301 - our own
    assert read(parse_board("XXX/OO_/___")) == {}


def test_the_marks_are_swapped_in_a_game_that_o_starts(tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    save_policy(lambda board: last_free(board) if board.first is X else random(board), path)

    assert path.read_text() == text_of(POLICY)
    assert load_policy(path)(Board(first=O)) == {8: 1}
    POLICY.check(path, last_free)


def test_the_file_of_a_policy_can_be_read_by_people(tmp_path: Path) -> None:
    lines = text_of(POLICY).splitlines()

    assert lines[:3] == ['{"policy":1,"weights":{', f'"{EMPTY}":{{"9":1}},', f'"{CORNER}":{{"9":1}},']
    assert lines[-1] == "}}"
    assert len(json.loads(text_of(POLICY))["weights"]) == len(lines) - 2 == 4520
    save_policy(faint_hearted, tmp_path / "policy")
    weights = json.loads((tmp_path / "policy").read_text())["weights"]
    assert (weights[EMPTY], weights["___/_X_/___"]) == ({"5": 1}, {})
    POLICY.check(tmp_path / "policy", faint_hearted)


def test_equal_policies_are_equal_files(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    save_policy("random", one)
    save_policy(lambda board: dict(reversed([*random(board).items()])), other)
    assert one.read_bytes() == other.read_bytes()

    save_policy(load_policy(one), other)
    assert one.read_bytes() == other.read_bytes()


def test_the_finest_chances_fit_into_a_file(tmp_path: Path) -> None:
    path, rng = tmp_path / "policy.json", Random(1)

    def fine(board: Board) -> Mapping[Cell, Fraction]:
        shares = {cell: MAX_WEIGHT - rng.randrange(2) for cell in board.free_cells}
        return {cell: Fraction(share, sum(shares.values())) for cell, share in shares.items()}

    save_policy(fine, path)

    assert path.stat().st_size < MAX_FILE_BYTES / 2
    assert sum(load_policy(path)(Board()).values()) == 1


@pytest.mark.parametrize(
    ("weights", "chances"),
    [
        ({"1": 2, "5": 2}, {0: Fraction(1, 2), 4: Fraction(1, 2)}),
        ({"5": 1, "1": 3}, {0: Fraction(3, 4), 4: Fraction(1, 4)}),
        ({"1": 0, "9": 7}, {8: 1}),
        ({"2": MAX_WEIGHT}, {1: 1}),
        ({}, {}),
    ],
)
def test_weights_are_shares_of_their_sum(
    tmp_path: Path, weights: dict[str, int], chances: dict[int, Fraction]
) -> None:
    written: Json = json.loads(text_of(POLICY))
    written["weights"][EMPTY] = weights
    (tmp_path / "policy").write_text(json.dumps(written))

    assert load_policy(tmp_path / "policy")(Board()) == chances


def test_a_policy_that_cannot_be_written_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "policy"
    path.write_text("before")
    fine = Fraction(1, MAX_WEIGHT + 2)
    for policy, because in (
        (lambda board: {board.free_cells[0]: Fraction(1, 2)}, r"chances add up to 1"),
        (lambda board: {board.free_cells[9]: Fraction(1)}, r"a policy fails in '___/___/___'"),
        (lambda _board: {0: fine, 1: 1 - fine}, r"the chances in '___/___/___' are too fine for a file"),
    ):
        with pytest.raises(errors.BadPolicy, match=because):
            save_policy(policy, path)

    assert path.read_text() == "before"
    assert [*tmp_path.iterdir()] == [path]


NO_POSITION = "is not an unfinished position of a game that X starts, such as 'X_O/_X_/___'"
NO_CELL, NO_WEIGHT = ", which is not a free cell from 1 to 9", ", which is not a number from 0 to 1,"
STRANGE = (
    *("XXX/OO_/___", "XOX/XOO/OXX", "XX_/___/___", "O__/___/___"),  # over, full, unreachable, O starts
    *("X.O/.X./...", "X_O_X____", "", "\x1b[2J", "\ud800"),  # written in another way
)
BAD_WEIGHTS: list[tuple[str, str]] = [
    *(
        (put, f"has {shown} instead of weights, such as ")
        for put, shown in (("null", "None"), ("9", "9"))
    ),
    *((put, f"has {shown} instead of weights") for put, shown in (('"9"', "'9'"), ("[9]", "[9]"))),
    *((f'{{"{cell}":1}}', f"has '{cell}'{NO_CELL}") for cell in ("1", "10", "0", "c3", "")),
    *((f'{{"9":{number}}}', f"has {number}{NO_WEIGHT}") for number in ("-1", "1.0", f"{MAX_WEIGHT + 1}")),
    *((f'{{"9":{n}}}', f"has {shown}{NO_WEIGHT}") for n, shown in (("1e3", "1000.0"), ("true", "True"))),
    *((f'{{"9":{n}}}', f"has {shown}{NO_WEIGHT}") for n, shown in (("null", "None"), ('"1/2"', "'1/2'"))),
    (f'{{"9":{"9" * 4000}}}', f"has a number that long{NO_WEIGHT}"),
    (f'{{"9":{"9" * 5000}}}', "is not JSON"),
    ('{"9":NaN}', "NaN is not JSON"),
    ('{"9":-Infinity}', "Infinity is not JSON"),
    ('{"9":1,"9":1}', "a field is given twice"),
    ('{"9":0}', "has no weight above 0: write {} to resign"),
]
LINE = f'"{CORNER}":{{"9":1}}'
BAD_POLICIES: list[tuple[str, str, str]] = [
    *((f'"{CORNER}"', json.dumps(position), NO_POSITION) for position in STRANGE),
    *((LINE, f'"{CORNER}":{weights}', because) for weights, because in BAD_WEIGHTS),
    (f"{LINE},", "", f"'{CORNER}' is missing: there are 4,520 positions; write {{}} to resign"),
    (LINE, f"{LINE},{LINE}", "a field is given twice"),
    ('"weights"', '"other"', "it has unknown parts"),
]


@pytest.mark.parametrize(("old", "new", "because"), BAD_POLICIES, ids=range(len(BAD_POLICIES)))
def test_an_invalid_policy_is_refused(tmp_path: Path, old: str, new: str, because: str) -> None:
    path = tmp_path / "policy"
    assert old in text_of(POLICY)
    path.write_text(text_of(POLICY).replace(old, new, 1))

    sentence = POLICY.refused(path)

    assert because in sentence
    assert not because.startswith("has ") or sentence.startswith(f"'{CORNER}' has ")


NO_WEIGHTS = 'it has no weights, such as {"___/___/___": {"1": 2, "5": 1}, …}'


@pytest.mark.parametrize(
    ("weights", "reason"),
    [
        ("", NO_WEIGHTS),
        (', "weights": []', NO_WEIGHTS),
        (', "weights": {}', f"'{EMPTY}' is missing: there are 4,520 positions; write {{}} to resign"),
    ],
)
def test_a_policy_without_weights_is_refused(tmp_path: Path, weights: str, reason: str) -> None:
    (tmp_path / "policy").write_text(f'{{"policy": 1{weights}}}')

    assert POLICY.refused(tmp_path / "policy") == reason


@given(
    st.sampled_from([EMPTY, CORNER, LAST]),
    json_values | st.dictionaries(st.text("123456789"), st.integers()),
)
@settings(max_examples=short_or_long(25, 2_000))
def test_any_weights_are_refused_or_read(
    tmp_path_factory: pytest.TempPathFactory, position: str, put: object
) -> None:
    path = tmp_path_factory.mktemp("weights") / "policy"
    line = f'"{position}":{{"9":1}}'
    assert line in text_of(POLICY)
    path.write_text(text_of(POLICY).replace(line, f'"{position}":{json.dumps(put)}', 1))
    try:
        policy = load_policy(path)
    except errors.NotAPolicy as refusal:
        assert str(refusal).startswith(f"{path} is not a policy: ")
        assert str(refusal).isprintable()
    else:
        board = parse_board(position)
        assert {*policy(board)} <= {*board.free_cells}
        assert sum(policy(board).values()) == (1 if put else 0)


def test_no_name_opens_a_file(tmp_path: Path) -> None:
    """A policy that a stranger may name gives no access to files."""
    for kind, name, because in (
        (MENACE, "menace", "menace has no 'file'"),
        (POLICY, "saved", "unknown policy 's"),
    ):
        (tmp_path / name).write_text(text_of(kind))
        with pytest.raises(errors.UnknownPolicy, match=because):
            find_policy(f"{name}:file={tmp_path / name}")
