"""A machine in a file: written and read exactly, and nothing else is taken for one."""

from __future__ import annotations

import errno
import json
import os
import resource
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings, strategies as st

from noughts import Board, X, errors, files, parse_moves
from noughts.analysis.solver import Result
from noughts.bots.menace.boxes import boxes
from noughts.bots.menace.file import load_machine, save_machine
from noughts.bots.menace.machine import MAX_BEADS, BeadRules, Menace, menace_policy
from noughts.bots.registry import find_policy
from noughts.files import MAX_FILE_BYTES
from support.played import DRAW, O_WINS, X_WINS
from support.strategies import json_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeAlias

    Written: TypeAlias = dict[str, Any]  # what JSON says is looked into at will here
    Spoil: TypeAlias = Callable[[Written], object]

FIRST = "___/___/___"
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
counts = st.integers(0, MAX_BEADS)


def learned() -> Menace:
    """Return a machine that has learned a little."""
    machine = Menace(BeadRules(beads=(8, 4, 2, 1), empty="refill"))
    for moves in (X_WINS, O_WINS, DRAW, DRAW):
        machine.learn(parse_moves(moves), X)
    return machine


def check_same(one: Menace, other: Menace) -> None:
    """See that two machines are the same in everything."""
    assert one.rules == other.rules
    assert one.boxes == other.boxes
    assert one.results == other.results


def check_refused(path: Path, because: str = "") -> str:
    """See that a file is no machine, and stays what it is; return the sentence."""
    before = path.read_bytes()
    with pytest.raises(errors.NotAMachine) as refusal:
        load_machine(path)
    sentence = str(refusal.value)
    assert sentence.startswith(f"{path} holds no menace: ")
    assert because in sentence
    assert sentence.isprintable()
    assert path.read_bytes() == before
    return sentence


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of a file with a machine that has learned a little."""
    path = tmp_path / "machine.json"
    save_machine(learned(), path)
    return path


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """Return what is written of a machine."""
    path = tmp_path_factory.mktemp("written") / "machine.json"
    save_machine(learned(), path)
    found: Written = json.loads(path.read_text())
    return found


@contextmanager
def small_files(limit: int) -> Iterator[None]:
    """Let the kernel refuse to make any file longer than that."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


# Written and read


@given(some_rules, st.integers(0), st.tuples(counts, counts, counts))
@settings(max_examples=30)
def test_what_was_written_is_read_exactly(
    tmp_path_factory: pytest.TempPathFactory, rules: BeadRules, seed: int, results: tuple[int, ...]
) -> None:
    """Whatever its rules are, and whatever is in its boxes."""
    rng, machine = Random(seed), Menace(rules)
    for beads in machine.boxes:
        beads[:] = [rng.choice((0, 1, rng.randrange(100), rng.randint(0, MAX_BEADS))) for _ in beads]
    machine.results = dict(zip(Result, results, strict=True))
    path = tmp_path_factory.mktemp("exact") / "machine.json"
    save_machine(machine, path)

    check_same(load_machine(path), machine)


def test_a_new_machine_is_read_exactly(tmp_path: Path) -> None:
    """With Michie's rules, and no game learned."""
    save_machine(Menace(), tmp_path / "new")

    check_same(load_machine(tmp_path / "new"), Menace())
    assert load_machine(tmp_path / "new").games == 0


def test_a_machine_goes_on_learning_where_it_stopped(path: Path) -> None:
    """What is read is as good as what was written."""
    here, there = learned(), load_machine(path)
    for machine in (here, there):
        machine.learn(parse_moves(O_WINS), X)

    check_same(here, there)


def test_the_file_can_be_read_by_people(written: Written) -> None:
    """Its rules, its results, and its boxes by their labels, with the beads by cells from 1 to 9."""
    assert written["menace"] == 1
    assert written["rules"] == {
        "beads": [8, 4, 2, 1],
        "win": 3,
        "draw": 1,
        "loss": -1,
        "blame": "all",
        "empty": "refill",
    }
    assert written["results"] == {"win": 1, "draw": 2, "loss": 1}
    assert len(written["boxes"]) == len(boxes()) == 593
    assert written["boxes"][FIRST] == {"1": 12, "2": 8, "5": 8}


def test_the_file_is_text_that_ends_with_a_line(path: Path) -> None:
    """Plain letters alone, and far from the longest that is read."""
    text = path.read_bytes()

    assert text.isascii()
    assert text.endswith(b"}\n")
    assert len(text) < MAX_FILE_BYTES / 20


def test_how_the_text_is_laid_out_makes_no_difference(path: Path, written: Written) -> None:
    """Nor does the order of its parts."""
    turned = {
        name: dict(reversed(part.items())) if isinstance(part, dict) else part
        for name, part in reversed(written.items())
    }
    path.write_text(json.dumps(turned))

    check_same(load_machine(path), learned())


def test_saving_replaces_what_was_there(path: Path) -> None:
    """Whatever it was, and nothing else is left in the folder."""
    path.write_text("something else")
    save_machine(Menace(), path)

    check_same(load_machine(path), Menace())
    assert list(path.parent.iterdir()) == [path]


def test_saving_makes_the_folders_that_are_missing(tmp_path: Path) -> None:
    """As many as it takes."""
    path = tmp_path / "a" / "b" / "machine.json"
    save_machine(learned(), path)

    check_same(load_machine(path), learned())


def test_a_path_may_be_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is meant from where the program runs."""
    monkeypatch.chdir(tmp_path)
    save_machine(learned(), Path("machine"))

    check_same(load_machine(tmp_path / "machine"), learned())
    check_same(load_machine("machine"), learned())


def test_a_name_may_have_any_letters(tmp_path: Path) -> None:
    """Blanks, dots and letters of all the world."""
    path = tmp_path / ". Zo\u00eb\u2019s \u540d\u524d.json"
    save_machine(learned(), path)

    check_same(load_machine(path), learned())


def test_a_link_is_followed_and_stays_a_link(path: Path, tmp_path: Path) -> None:
    """It is the file that it points to, in its own folder, that is replaced."""
    link = tmp_path / "elsewhere" / "link"
    link.parent.mkdir()
    link.symlink_to(path)
    save_machine(Menace(), link)

    assert link.is_symlink()
    assert not path.is_symlink()
    check_same(load_machine(path), Menace())
    check_same(load_machine(link), Menace())
    assert sorted(tmp_path.rglob("*")) == sorted([path, link, link.parent])


def test_a_link_that_points_nowhere_is_followed_too(tmp_path: Path) -> None:
    """The file is made where it points to."""
    link, target = tmp_path / "link", tmp_path / "folder" / "machine"
    link.symlink_to(target)
    save_machine(learned(), link)

    assert link.is_symlink()
    check_same(load_machine(target), learned())


def test_a_link_that_points_to_itself_cannot_be_read(tmp_path: Path) -> None:
    """There is no end to following it."""
    link = tmp_path / "link"
    link.symlink_to(link)

    with pytest.raises(errors.NotAMachine, match=r"cannot be read: "):
        load_machine(link)


# Files that cannot be read


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("missing", "No such file or directory"),
        ("missing/machine", "No such file or directory"),
        (".", "Is a directory"),
        ("machine.json/machine", "Not a directory"),
        ("a" * 300, "File name too long"),
    ],
)
def test_a_file_that_is_not_there_is_told_so(path: Path, name: str, why: str) -> None:
    """In words, with its name."""
    asked = path.parent / name
    with pytest.raises(errors.NotAMachine) as refusal:
        load_machine(asked)
    assert str(refusal.value) == f"{asked} cannot be read: {why}"


def test_a_file_that_may_not_be_read_is_told_so(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the system puts it."""

    def refuse(*_: object, **__: object) -> object:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(errors.NotAMachine, match=r"cannot be read: Permission denied$"):
        load_machine(path)


def test_a_file_that_fails_while_it_is_read_is_told_so() -> None:
    """Here the first bytes of a process's own memory, which are never there."""
    with pytest.raises(errors.NotAMachine, match=r"cannot be read: "):
        load_machine(Path("/proc/self/mem"))


@pytest.mark.parametrize("device", ["null", "zero"])
def test_a_device_is_no_machine(device: str) -> None:
    """Neither one that has nothing to say, nor one that never ends."""
    with pytest.raises(errors.NotAMachine) as refusal:
        load_machine(Path("/dev") / device)
    assert str(refusal.value) == f"/dev/{device} cannot be read: it is no file"


def test_a_pipe_that_nobody_writes_into_is_no_machine(tmp_path: Path) -> None:
    """It is not even opened, which would last for ever."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(errors.NotAMachine, match="it is no file"):
        load_machine(pipe)


# Files that hold no machine


@pytest.mark.parametrize(
    ("text", "because"),
    [
        (b"", "'' is not JSON"),
        (b"\n", "is not JSON"),
        (b"hello", "'hello' is not JSON"),
        (b"\x1b[2J", "is not JSON"),
        (b"{", "'{' is not JSON"),
        (b'{"menace": 1,}', "is not JSON"),
        (b"{'menace': 1}", "is not JSON"),
        (b"\xef\xbb\xbf{}", "is not JSON"),
        (b"\xff\xfe{\x00}\x00", "it is no text"),
        (b"\x80", "it is no text"),
        (b"\xed\xa0\x80", "it is no text"),
        (b"\x00" * 100, "is not JSON"),
        (b"SQLite format 3\x00", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b'{"a":' * 100_000, "is not JSON"),
        (b"[" * 100_000 + b"]" * 100_000, "is not JSON"),
        (b"9" * 5000, "is not JSON"),
        (b"NaN", "NaN is not JSON"),
        (b"Infinity", "Infinity is not JSON"),
        (b'{"menace": 1, "menace": 1}', "a field is given twice"),
        (b" " * (MAX_FILE_BYTES + 1), "it is too long"),
        (b"null", "it does not say that it is a menace of schema 1"),
        (b"1", "it does not say that it is a menace of schema 1"),
        (b'"menace"', "it does not say that it is a menace of schema 1"),
        (b"[1]", "it does not say that it is a menace of schema 1"),
        (b"{}", "it does not say that it is a menace of schema 1"),
        (b'{"menace": 1}', "rules are not those of a menace"),
    ],
    ids=lambda value: repr(value[:12]) if isinstance(value, bytes) else "",
)
def test_what_is_no_machine_is_refused(tmp_path: Path, text: bytes, because: str) -> None:
    """With the reason, and the file stays what it is."""
    path = tmp_path / "garbage"
    path.write_bytes(text)

    assert check_refused(path).endswith(because)


SPOILED: dict[str, tuple[Spoil, str]] = {
    "schema 0": (lambda written: written.update(menace=0), "it does not say that it is a menace"),
    "schema 2": (lambda written: written.update(menace=2), "it does not say that it is a menace"),
    "schema as text": (lambda written: written.update(menace="1"), "it does not say"),
    "schema null": (lambda written: written.update(menace=None), "it does not say"),
    "schema in a list": (lambda written: written.update(menace=[1]), "it does not say"),
    "no schema": (lambda written: written.pop("menace"), "it does not say"),
    "no rules": (lambda written: written.pop("rules"), "rules are not those of a menace"),
    "no results": (lambda written: written.pop("results"), "results are not those of a menace"),
    "no boxes": (lambda written: written.pop("boxes"), "boxes are not those of a menace"),
    "rules null": (lambda written: written.update(rules=None), "rules are not those"),
    "boxes in a list": (lambda written: written.update(boxes=[written["boxes"]]), "boxes are not those"),
    "a rule missing": (lambda written: written["rules"].pop("blame"), "rules are not those"),
    "a rule more": (lambda written: written["rules"].update(luck=1), "rules are not those"),
    "three beads": (lambda written: written["rules"]["beads"].pop(), "four numbers from 1 on"),
    "five beads": (lambda written: written["rules"]["beads"].append(1), "four numbers from 1 on"),
    "no beads": (lambda written: written["rules"].update(beads=[]), "four numbers from 1 on"),
    "beads of nought": (lambda written: written["rules"].update(beads=[1, 1, 1, 0]), "four numbers"),
    "beads as text": (lambda written: written["rules"].update(beads="4321"), "its rules are no numbers"),
    "beads null": (lambda written: written["rules"].update(beads=None), "its rules are no numbers"),
    "beads true": (lambda written: written["rules"].update(beads=[True] * 4), "its rules are no numbers"),
    "half beads": (lambda written: written["rules"].update(beads=[1.5] * 4), "its rules are no numbers"),
    "beads in lists": (lambda written: written["rules"].update(beads=[[1]] * 4), "are no numbers"),
    "win true": (lambda written: written["rules"].update(win=True), "its rules are no numbers"),
    "win 3.0": (lambda written: written["rules"].update(win=3.0), "its rules are no numbers"),
    "draw as text": (lambda written: written["rules"].update(draw="1"), "its rules are no numbers"),
    "loss null": (lambda written: written["rules"].update(loss=None), "its rules are no numbers"),
    "loss huge": (lambda written: written["rules"].update(loss=-(10**18)), "1,000,000,000 beads at most"),
    "blame 1": (lambda written: written["rules"].update(blame=1), "the blame is on all moves or on the"),
    "blame a list": (lambda written: written["rules"].update(blame=["all"]), "the blame is on"),
    "blame unknown": (lambda written: written["rules"].update(blame="me"), "not 'me'"),
    "empty unknown": (lambda written: written["rules"].update(empty="\x1b[2J"), "not '\\x1b[2J'"),
    "empty null": (
        lambda written: written["rules"].update(empty=None),
        "resign, refill or keep, not None",
    ),
    "a result missing": (lambda written: written["results"].pop("win"), "results are not those"),
    "a result more": (lambda written: written["results"].update(lost=1), "results are not those"),
    "results less than none": (lambda written: written["results"].update(win=-1), "results has -1 where"),
    "results 1.0": (lambda written: written["results"].update(draw=1.0), "results has 1.0 where"),
    "results true": (lambda written: written["results"].update(loss=True), "results has True where"),
    "results as text": (lambda written: written["results"].update(loss="1"), "results has '1' where"),
    "a box missing": (lambda written: written["boxes"].pop(FIRST), "boxes are not those of a menace"),
    "a box more": (lambda written: written["boxes"].update({"XXX/OO_/___": {}}), "boxes are not those"),
    "another image": (
        lambda written: written["boxes"].update({"__X/___/___": written["boxes"].pop("X__/___/___")}),
        "boxes are not those of a menace",
    ),
    "a box null": (lambda written: written["boxes"].update({FIRST: None}), f"{FIRST} are not those"),
    "a box in a list": (lambda written: written["boxes"].update({FIRST: [8, 8, 8]}), f"{FIRST} are not"),
    "no cells": (lambda written: written["boxes"].update({FIRST: {}}), f"{FIRST} are not those"),
    "a cell missing": (lambda written: written["boxes"][FIRST].pop("5"), f"{FIRST} are not those"),
    "a cell more": (lambda written: written["boxes"][FIRST].update({"3": 1}), f"{FIRST} are not those"),
    "another cell": (
        lambda written: written["boxes"].update({FIRST: {"1": 1, "2": 1, "6": 1}}),
        f"{FIRST} are not those of a menace",
    ),
    "beads less than none": (
        lambda written: written["boxes"][FIRST].update({"1": -1}),
        f"{FIRST} has -1",
    ),
    "beads 1.0": (lambda written: written["boxes"][FIRST].update({"1": 1.0}), f"{FIRST} has 1.0 where"),
    "beads 1e308": (lambda written: written["boxes"][FIRST].update({"1": 1e308}), f"{FIRST} has 1e+308"),
    "a bead true": (
        lambda written: written["boxes"][FIRST].update({"1": True}),
        f"{FIRST} has True where",
    ),
    "a bead null": (
        lambda written: written["boxes"][FIRST].update({"1": None}),
        f"{FIRST} has None where",
    ),
    "a bead as text": (
        lambda written: written["boxes"][FIRST].update({"1": "8"}),
        f"{FIRST} has '8' where",
    ),
    "one bead too many": (
        lambda written: written["boxes"][FIRST].update({"1": MAX_BEADS + 1}),
        f"{FIRST} has 1000000001 where a number from 0 to 1,000,000,000 belongs",
    ),
    "beads without number": (
        lambda written: written["boxes"][FIRST].update({"1": 10**4000}),
        f"{FIRST} has a number that long where",
    ),
}


@pytest.mark.parametrize("kind", SPOILED)
def test_a_machine_that_is_spoiled_is_refused(path: Path, kind: str) -> None:
    """With what is wrong and where, and the file stays what it is."""
    spoil, because = SPOILED[kind]
    written = json.loads(path.read_text())
    spoil(written)
    path.write_text(json.dumps(written))

    check_refused(path, because)


@pytest.mark.parametrize("name", ["rules", "results", "boxes", "win", FIRST, "5"])
def test_a_name_that_is_given_twice_is_refused(path: Path, name: str) -> None:
    """Wherever it is; nobody could say which one was meant."""
    path.write_text(path.read_text().replace(f'"{name}":', f'"{name}": 1, "{name}":', 1))

    check_refused(path, "a field is given twice")


@pytest.mark.parametrize("number", ["1e5", "8.0", "NaN", "-Infinity", "1e999", "-0.0", "9" * 5000])
def test_a_number_that_is_no_count_is_refused(path: Path, number: str) -> None:
    """As it is written, before Python makes something of it."""
    path.write_text(path.read_text().replace('"5": 8', f'"5": {number}', 1))

    check_refused(path)


def test_the_longest_file_is_read_and_one_byte_more_is_not(path: Path) -> None:
    """The limit is on what is read, so that no file can fill the memory."""
    text = path.read_bytes()
    path.write_bytes(text.ljust(MAX_FILE_BYTES))
    check_same(load_machine(path), learned())

    path.write_bytes(text.ljust(MAX_FILE_BYTES + 1))
    assert check_refused(path).endswith("it is too long")


@given(st.data())
def test_whatever_is_put_in_place_of_a_part_is_refused_or_read(
    tmp_path_factory: pytest.TempPathFactory, written: Written, data: st.DataObject
) -> None:
    """A machine that was read all the same is written as it was read."""
    part = data.draw(st.sampled_from(["rules", "results", "boxes"]))
    name = data.draw(st.sampled_from([None, *sorted(written[part])[:20]]))
    put = data.draw(json_values)
    spoiled = {**written, part: put if name is None else {**written[part], name: put}}
    path = tmp_path_factory.mktemp("part") / "machine.json"
    path.write_text(json.dumps(spoiled))
    try:
        machine = load_machine(path)
    except errors.NotAMachine as refusal:
        assert str(refusal).startswith(f"{path} holds no menace: ")
    else:
        save_machine(machine, path)
        assert json.loads(path.read_text()) == spoiled


@given(st.data())
def test_a_file_that_is_cut_short_is_refused(
    tmp_path_factory: pytest.TempPathFactory, written: Written, data: st.DataObject
) -> None:
    """Wherever that is."""
    whole = json.dumps(written).encode()
    path = tmp_path_factory.mktemp("short") / "machine.json"
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])

    check_refused(path)


@given(st.data())
def test_a_byte_that_has_changed_is_refused_or_read(
    tmp_path_factory: pytest.TempPathFactory, written: Written, data: st.DataObject
) -> None:
    """Either way there is no other error than a refusal."""
    whole = bytearray(json.dumps(written).encode())
    whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("byte") / "machine.json"
    path.write_bytes(whole)
    try:
        machine = load_machine(path)
    except errors.NotAMachine as refusal:
        assert str(refusal).startswith(f"{path} holds no menace: ")
    else:
        assert all(0 <= count <= MAX_BEADS for beads in machine.boxes for count in beads)


@given(st.binary(max_size=200))
def test_any_bytes_are_refused(tmp_path_factory: pytest.TempPathFactory, text: bytes) -> None:
    """There is no machine that short."""
    path = tmp_path_factory.mktemp("bytes") / "machine.json"
    path.write_bytes(text)

    check_refused(path)


# Files that cannot be written


def check_unwritten(path: Path, why: str) -> None:
    """See that a machine cannot be written there, and that the folder stays as it was."""
    before = path.read_bytes()
    with pytest.raises(errors.FileUnavailable) as refusal:
        save_machine(Menace(), path)
    assert str(refusal.value) == f"{path} cannot be written: {why}"
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def failing(number: int) -> Callable[..., object]:
    """Return a function that fails as the system does with this error."""

    def fail(*_: object, **__: object) -> object:
        raise OSError(number, os.strerror(number))

    return fail


def test_a_disk_that_is_full_leaves_the_file_as_it_was(path: Path) -> None:
    """The kernel itself refuses, in the middle of the file."""
    with small_files(1000):
        check_unwritten(path, "File too large")


@pytest.mark.parametrize(
    ("where", "name", "number"),
    [
        (os, "fsync", errno.EIO),
        (os, "fsync", errno.ENOSPC),
        (Path, "replace", errno.EACCES),
        (os, "chown", errno.EIO),
        (Path, "mkdir", errno.EACCES),
        (Path, "resolve", errno.EACCES),
    ],
)
def test_a_write_that_fails_leaves_the_file_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch, where: object, name: str, number: int
) -> None:
    """Whichever of its steps it is."""
    with monkeypatch.context() as patch:
        patch.setattr(where, name, failing(number))
        check_unwritten(path, os.strerror(number))
    check_same(load_machine(path), learned())


def test_a_name_that_cannot_be_kept_on_the_disk_is_told(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then the file holds the machine of after, whole, and nothing is left beside it."""
    monkeypatch.setattr(files, "sync_folder", failing(errno.EIO))
    with pytest.raises(errors.FileUnavailable, match=r"cannot be written: Input/output error$"):
        save_machine(Menace(), path)

    check_same(load_machine(path), Menace())
    assert list(path.parent.iterdir()) == [path]


def test_an_interrupt_leaves_the_file_as_it_was(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is let through, and nothing is left beside the file."""

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save_machine(Menace(), path)

    check_same(load_machine(path), learned())
    assert list(path.parent.iterdir()) == [path]


def test_the_file_and_its_name_are_synced(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """First what is written, before it takes the place of the old; then the folder."""
    synced = []
    real = os.fsync

    def fsync(number: int) -> None:
        is_folder = os.fstat(number).st_mode & 0o170000 == 0o040000
        synced.append("folder" if is_folder else json.loads(path.read_text())["results"]["win"])
        real(number)

    monkeypatch.setattr(os, "fsync", fsync)
    save_machine(Menace(), path)

    assert synced == [1, "folder"]


def test_a_folder_in_the_place_of_the_file_is_left_alone(tmp_path: Path) -> None:
    """Full or empty, it is no file to be replaced."""
    folder = tmp_path / "machine"
    folder.mkdir()
    with pytest.raises(errors.FileUnavailable) as refusal:
        save_machine(Menace(), folder)

    assert str(refusal.value) == f"{folder} cannot be written: Is a directory"
    assert list(tmp_path.rglob("*")) == [folder]


def test_a_file_in_the_place_of_a_folder_is_left_alone(path: Path) -> None:
    """However deep below it the machine was to be."""
    before = path.read_bytes()
    for below in (path / "machine", path / "a" / "machine"):
        with pytest.raises(errors.FileUnavailable, match=r"cannot be written: (Not a dir|File exists)"):
            save_machine(Menace(), below)

    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


# Asked for by name


def test_a_machine_is_found_by_its_name() -> None:
    """A new one with Michie's rules, if nothing else is told, and another one each time."""
    found, other = menace_policy(), menace_policy()

    check_same(found, Menace())
    found.learn(parse_moves(X_WINS), X)
    check_same(other, Menace())
    assert find_policy("menace")(Board()) == Menace()(Board())


def test_rules_are_told_by_parameters() -> None:
    """Each alone, and all together; what is not told is Michie's."""
    assert menace_policy(beads="8-4-2-1").rules == BeadRules(beads=(8, 4, 2, 1))
    assert menace_policy(win="0", draw="-0", loss="-100").rules == BeadRules(win=0, draw=0, loss=-100)
    assert menace_policy(blame="last").rules == BeadRules(blame="last")
    everything = find_policy("menace:beads=1-1-1-1,win=5,draw=2,loss=-3,blame=last,empty=keep")
    assert isinstance(everything, Menace)
    assert everything.rules == BeadRules((1, 1, 1, 1), 5, 2, -3, "last", "keep")


def test_no_name_opens_a_file(path: Path) -> None:
    """Whoever lets strangers ask for a policy does not let them look at files."""
    with pytest.raises(errors.UnknownPolicy, match="menace has no 'file'"):
        find_policy(f"menace:file={path}")


NO_NUMBERS = "the rules of a menace are numbers: beads=4-3-2-1, win=3, draw=1, loss=-1"
NO_BEADS = "the beads at first are four numbers from 1 on, such as 4-3-2-1"
TOO_MANY = "a game changes 1,000,000,000 beads at most"


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("beads", "", NO_BEADS),
        ("beads", "4", NO_BEADS),
        ("beads", "4-3-2", NO_BEADS),
        ("beads", "4-3-2-1-0", NO_BEADS),
        ("beads", "4-3-2-0", NO_BEADS),
        ("beads", "9999999999-1-1-1", NO_BEADS),
        ("beads", "-4-3-2-1", NO_NUMBERS),
        ("beads", "4--3-2-1", NO_NUMBERS),
        ("beads", "4.3.2.1", NO_NUMBERS),
        ("beads", "a-b-c-d", NO_NUMBERS),
        ("beads", "-", NO_NUMBERS),
        ("beads", "1-" * 100, NO_NUMBERS),
        ("win", "", NO_NUMBERS),
        ("win", "three", NO_NUMBERS),
        ("win", "3.0", NO_NUMBERS),
        ("win", "1e3", NO_NUMBERS),
        ("win", " 3", NO_NUMBERS),
        ("win", "+3", NO_NUMBERS),
        ("win", "1_000", NO_NUMBERS),
        ("win", "0x10", NO_NUMBERS),
        ("win", "\N{ARABIC-INDIC DIGIT THREE}", NO_NUMBERS),
        ("draw", "1/2", NO_NUMBERS),
        ("draw", "nan", NO_NUMBERS),
        ("loss", "--1", NO_NUMBERS),
        ("loss", "1-", NO_NUMBERS),
        ("loss", "9" * 5000, NO_NUMBERS),
        ("loss", "-" + "9" * 39, TOO_MANY),
        ("win", "1000000001", TOO_MANY),
        ("blame", "", "the blame is on all moves or on the last, not ''"),
        ("blame", "Last", "the blame is on all moves or on the last, not 'Last'"),
        ("empty", "", "an empty box is told to resign, refill or keep, not ''"),
        ("empty", "burn", "an empty box is told to resign, refill or keep, not 'burn'"),
        (
            "luck",
            "1",
            "menace has no 'luck': it has beads, win, draw, loss, blame and empty",
        ),
    ],
    ids=lambda value: value[:20],
)
def test_a_bad_parameter_is_refused(name: str, text: str, sentence: str) -> None:
    """With what is right."""
    with pytest.raises(errors.UnknownPolicy) as refusal:
        menace_policy(**{name: text})
    assert str(refusal.value) == sentence


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_a_name_that_no_file_has_is_refused(name: str, tmp_path: Path) -> None:
    """In a sentence."""
    with pytest.raises(errors.NotAMachine):
        load_machine(name)
    with pytest.raises(errors.FileUnavailable):
        save_machine(Menace(), tmp_path / name)


def test_a_link_that_points_to_itself_cannot_be_written(tmp_path: Path) -> None:
    """In a sentence (a RuntimeError in Python 3.11 and 3.12)."""
    link = tmp_path / "link"
    link.symlink_to(link)
    with pytest.raises(errors.FileUnavailable):
        save_machine(Menace(), link)


@pytest.mark.parametrize("change", [{"menace": True}, {"menace": 1.0}, {"luck": 1}])
def test_what_is_not_exactly_a_machine_is_refused(change: dict[str, object], tmp_path: Path) -> None:
    """Neither another schema nor a part more."""
    path = tmp_path / "machine"
    save_machine(Menace(), path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(errors.NotAMachine):
        load_machine(path)


def test_what_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    """A pipe, or a device, stays what it is."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(errors.FileUnavailable):
        save_machine(Menace(), pipe)
    assert pipe.is_fifo()


def test_a_file_keeps_its_permissions(tmp_path: Path) -> None:
    """Whoever could read it can still."""
    path = tmp_path / "machine"
    save_machine(Menace(), path)
    path.chmod(0o644)
    save_machine(Menace(), path)
    assert path.stat().st_mode & 0o777 == 0o644


def test_no_number_of_games_is_too_many_to_be_read_again(tmp_path: Path) -> None:
    """A machine can learn for longer than its boxes have room for beads."""
    machine = Menace()
    machine.results[Result.DRAW] = 10 * MAX_BEADS
    save_machine(machine, tmp_path / "machine")

    check_same(load_machine(tmp_path / "machine"), machine)


def test_the_folder_of_a_new_machine_is_its_users_alone(tmp_path: Path) -> None:
    """As that of the games, which may lie beside it."""
    save_machine(Menace(), tmp_path / "data" / "machine")

    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700
