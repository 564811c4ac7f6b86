"""What every store promises of its notes, tried on each of them alike."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any

import pytest

from at_once import DEADLINE, in_threads
from noughts import Mark, events
from noughts.core.errors import InvalidId, MalformedRecord, StaleVersion, StoreUnavailable
from noughts.store import postgres
from noughts.store.archive import backup, export_all, import_lines
from noughts.store.chain import LONGEST_ID
from noughts.store.ledger import Append, entries
from noughts.store.memory import MemoryStore
from noughts.store.notes import LONGEST_TEXT, Draft, Note, judge, sealed
from noughts.store.sqlite import SQLiteStore
from noughts.store.verifying import verify
from played import NOW, check_whole, feed_of, fill, play
from store_games import everything

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from noughts.store.base import EventStore

CREATED = (events.GameCreated(), events.GameReady(), events.PlayerActive(Mark.X))

FAR = 2**63
"""A number that no place in a store has, and that fits into no column."""


# Writing and reading


def test_what_was_written_is_read_back(store: EventStore) -> None:
    """Each time with one more revision, and with its place among all changes."""
    first = store.write_note("one", "a text", expected=0)
    other = store.write_note("two", "", expected=0, shelf="open")
    again = store.write_note("one", "another", expected=1, shelf="open")

    assert first == Note("one", 1, 1, "", "a text")
    assert other == Note("two", 1, 2, "open", "")
    assert again == Note("one", 2, 3, "open", "another")
    assert (store.note("one"), store.note("two"), store.note("three")) == (again, other, None)
    verify(store)


def test_notes_outlive_the_store_that_wrote_them(open_again: Callable[[], EventStore]) -> None:
    """They are there for whoever opens it later, or beside."""
    store, beside = open_again(), open_again()
    note = store.write_note("note", "text", expected=0, shelf="open")
    assert beside.note("note") == note
    store.close()
    beside.close()

    assert open_again().notes("open") == (note,)


@pytest.mark.parametrize("expected", [0, 1, 3, FAR])
def test_a_note_at_another_revision_is_not_written(store: EventStore, expected: int) -> None:
    """Be it too early or too late, and even if the text is the same: somebody else has written it."""
    store.write_note("note", "first", expected=0)
    note = store.write_note("note", "second", expected=1)

    with pytest.raises(
        StaleVersion, match=rf"^note note is at revision 2, not at {expected}: nothing was"
    ):
        store.write_note("note", "second", expected=expected)
    with pytest.raises(StaleVersion, match="no note is at revision -1"):
        store.write_note("note", "third", expected=-1)

    assert store.note("note") == note
    assert store.last_change() == 2


def test_a_new_note_starts_at_revision_0(store: EventStore) -> None:
    """Whoever has seen one where there is none is wrong."""
    with pytest.raises(StaleVersion, match="note note is at revision 0, not at 1:"):
        store.write_note("note", "text", expected=1)

    assert store.note("note") is None
    assert store.last_change() == 0


def test_several_are_judged_each_by_itself(store: EventStore) -> None:
    """In one commit; those that are refused keep none of the others out."""
    before = store.write_note("there", "before", expected=0)
    drafts = [
        Draft("new", "one", expected=0),
        Draft("there", "too early", expected=2),
        Draft("there", "after", expected=1, shelf="open"),
        Draft("there", "too late", expected=1),
        Draft("new", "two", expected=1),
        Draft("other", "three", expected=0),
    ]
    store.write_notes(drafts)

    assert [type(draft.refusal) for draft in drafts] == [
        type(None), StaleVersion, type(None), StaleVersion, type(None), type(None),
    ]  # fmt: skip
    assert [draft.note for draft in drafts if draft.refusal] == [None, None]
    there, new, other = (store.note(name) for name in ("there", "new", "other"))
    assert [draft.note for draft in (drafts[2], drafts[4], drafts[5])] == [there, new, other]
    assert new == Note("new", 2, 4, "", "two")
    assert there != before
    assert store.changed_notes() == (there, new, other)
    store.write_notes([])
    verify(store)


def test_drafts_that_are_given_again_are_written_once(store: EventStore) -> None:
    """After an outcome that nobody knows, what was written of them is found to be theirs."""
    drafts = [Draft("one", "text", expected=0), Draft("two", "text", expected=0)]
    store.write_notes(drafts[:1])
    store.write_notes(drafts)
    store.write_notes(drafts)

    assert [draft.refusal for draft in drafts] == [None, None]
    assert store.changed_notes() == (drafts[0].note, drafts[1].note)
    assert store.last_change() == 2


def test_what_nobody_can_know_is_said_so() -> None:
    """Somebody has written the note since: it may have been after us, or instead of us."""
    draft = Draft("note", "ours", expected=1)
    (_,) = judge([draft], [sealed(Note("note", 1, 1, "", "before"))], 1)  # and the answer is lost
    judge([draft], [sealed(Note("note", 3, 3, "", "theirs"))], 3)
    assert isinstance(draft.refusal, StaleVersion)
    assert str(draft.refusal) == (
        "note note is at revision 3, not at 1: whether this was written before is not known"
    )

    instead = Draft("note", "ours", expected=1)
    (_,) = judge([instead], [sealed(Note("note", 1, 1, "", "before"))], 1)
    judge([instead], [sealed(Note("note", 2, 2, "", "theirs"))], 2)
    assert str(instead.refusal) == "note note is at revision 2, not at 1: nothing was written"


# What is refused


@pytest.mark.parametrize(
    "name", ["", " ", "a b", "a\n", "\0", "\xe4", "../a", "\ud800", "a" * (LONGEST_ID + 1), None, 7, b"a"]
)
def test_a_bad_name_is_refused_wherever_it_is_given(store: EventStore, name: Any) -> None:  # noqa: ANN401
    """For a note, and for a shelf; only a note on no shelf has an empty one."""
    attempts: list[Callable[[], object]] = [
        lambda: store.note(name),
        lambda: store.notes(name),
        lambda: store.write_note(name, "text", expected=0),
    ]
    if name != "":
        attempts.append(lambda: store.write_note("note", "text", expected=0, shelf=name))
    for attempt in attempts:
        with pytest.raises(InvalidId, match=r"^the id of a (note|shelf) has 1 to 64 letters") as refusal:
            attempt()
        assert str(refusal.value).isprintable()

    assert store.last_change() == 0


@pytest.mark.parametrize(
    "text",
    ["a\0b", "\ud800", "a" * (LONGEST_TEXT + 1), "\xe4" * (LONGEST_TEXT // 2) + "a", None, 7, b"text"],
    ids=lambda value: ascii(value)[:20],
)
def test_a_bad_text_is_refused(store: EventStore, text: Any) -> None:  # noqa: ANN401
    """What is too long, and what some engine could not give back as it was."""
    with pytest.raises(MalformedRecord, match=r"^a note ") as refusal:
        store.write_note("note", text, expected=0)

    assert str(refusal.value).isprintable()
    assert store.note("note") is None


@pytest.mark.parametrize(
    "text",
    [
        "a" * LONGEST_TEXT,
        "\xe4" * (LONGEST_TEXT // 2),
        "'%s' \"?\" \\x00 \r\n\t\x1b[2J\x7f",
        "\u540d\U0001f600",
    ],
    ids=lambda value: ascii(value)[:20],
)
def test_a_text_is_kept_as_it_is(store: EventStore, text: str) -> None:
    """As long as is said, with whatever letters."""
    note = store.write_note("a" * LONGEST_ID, text, expected=0, shelf="b" * LONGEST_ID)

    assert note.text == text
    assert store.note("a" * LONGEST_ID) == note
    assert store.notes("b" * LONGEST_ID) == (note,)


def test_names_that_differ_in_case_are_two(store: EventStore) -> None:
    """No store takes one note for another."""
    small, large = (store.write_note(name, name, expected=0, shelf=name) for name in ("note", "NOTE"))

    assert (store.note("note"), store.note("NOTE")) == (small, large)
    assert store.notes("NOTE") == (large,)


def test_a_closed_store_has_no_notes_to_give(store: EventStore) -> None:
    """Neither to read nor to write."""
    store.write_note("note", "text", expected=0)
    store.close()
    attempts: list[Callable[[], object]] = [
        lambda: store.note("note"),
        lambda: store.notes("open"),
        store.changed_notes,
        store.last_change,
        store.last_position,
        store.bell,
        lambda: store.write_note("note", "text", expected=1),
        lambda: store.restore_notes([Note("note", 1, 1, "", "text")]),
        lambda: store.record([Append("game", 0, entries(CREATED, "key", NOW))]),
    ]
    for attempt in attempts:
        with pytest.raises(StoreUnavailable, match="the store is closed"):
            attempt()


# Shelves and changes


def test_a_shelf_has_the_last_changed_first(store: EventStore) -> None:
    """What has left the shelf is not on it any more."""
    for number in range(6):
        store.write_note(f"n{number}", "text", expected=0, shelf=("even", "odd")[number % 2])
    store.write_note("n0", "changed", expected=1, shelf="even")
    store.write_note("n2", "gone", expected=1)
    store.write_note("n4", "moved", expected=1, shelf="odd")

    assert [note.name for note in store.notes("even")] == ["n0"]
    assert [note.name for note in store.notes("odd")] == ["n4", "n5", "n3", "n1"]
    assert [note.name for note in store.notes("odd", limit=2)] == ["n4", "n5"]
    assert store.notes("odd", limit=0) == store.notes("odd", limit=-1) == store.notes("none") == ()


def test_a_shelf_is_shown_up_to_a_limit(store: EventStore) -> None:
    """Fifty notes, unless somebody says otherwise."""
    store.write_notes([Draft(f"n{number}", "", expected=0, shelf="open") for number in range(60)])

    assert [note.change for note in store.notes("open")] == list(range(60, 10, -1))
    assert len(store.notes("open", limit=FAR)) == 60


def test_changes_are_told_in_order_and_each_note_once(store: EventStore) -> None:
    """In its latest state, from any place on, in pages of any size."""
    notes = [
        store.write_note(f"n{number % 4}", str(number), expected=number // 4) for number in range(11)
    ]
    latest = tuple(notes[-4:])
    assert [note.change for note in notes] == list(range(1, 12))

    assert store.last_change() == 11
    assert store.changed_notes() == store.changed_notes(-1) == latest
    for after in range(13):
        assert store.changed_notes(after) == tuple(note for note in latest if note.change > after)
    paged: list[Note] = []
    while page := store.changed_notes(paged[-1].change if paged else 0, 3):
        paged += page
    assert tuple(paged) == latest
    assert store.changed_notes(FAR) == store.changed_notes(0, 0) == ()


# Many at once


def test_one_of_eight_at_one_revision_wins(store: EventStore) -> None:
    """Also where all of them want to write the same."""
    for revision in range(10):
        texts = [f"{revision} by {rival if revision % 2 else 'all'}" for rival in range(8)]
        outcomes = in_threads(
            *(partial(store.write_note, "note", text, expected=revision) for text in texts)
        )

        winners = [outcome for outcome in outcomes if isinstance(outcome, Note)]
        assert winners == [store.note("note")]
        assert sum(isinstance(outcome, StaleVersion) for outcome in outcomes) == 7
        assert winners[0].text == texts[outcomes.index(winners[0])]


def test_two_stores_on_one_place_share_the_changes(open_again: Callable[[], EventStore]) -> None:
    """Eight threads at two stores count up one number, and none counts what another has counted."""
    stores = open_again(), open_again()

    def count(store: EventStore) -> None:
        counted = 0
        while counted < 5:
            note = store.note("count")
            text = str(int(note.text) + 1) if note else "1"
            try:
                store.write_note("count", text, expected=note.revision if note else 0)
            except StaleVersion:
                continue
            counted += 1

    in_threads(*[partial(count, store) for store in stores * 4])

    assert stores[0].note("count") == stores[1].note("count") == Note("count", 40, 40, "", "40")


def test_whoever_follows_the_changes_misses_none(open_again: Callable[[], EventStore]) -> None:
    """Two stores write, with events between; the follower reads on from the last change it saw."""
    stores = open_again(), open_again()
    last = {f"n{number}": 6 for number in range(8)}

    def write(number: int) -> None:
        store = stores[number % 2]
        for revision in range(6):
            store.write_note(f"n{number}", str(revision), expected=revision, shelf="open")
            play(store, f"game{number}-{revision}", [CREATED])

    def follow() -> list[Note]:
        bell, seen, after = stores[0].bell(), list[Note](), 0
        while {note.name: note.revision for note in seen} != last:
            rung = bell.rung
            page = stores[0].changed_notes(after)
            seen += page
            after = page[-1].change if page else after
            if not page:
                bell.wait(rung, DEADLINE)
        return seen

    seen, *_ = in_threads(follow, *(partial(write, number) for number in range(8)))

    assert isinstance(seen, list)
    changes = [note.change for note in seen]
    assert changes == sorted(set(changes))
    assert stores[1].last_change() == changes[-1] == 48
    everything(stores[1])
    check_whole(feed_of(stores[0]))
    verify(stores[0])


def test_a_changed_note_rings_the_bell_elsewhere(
    open_again: Callable[[], EventStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever waits at another store on the same place is woken, without looking for themselves."""
    monkeypatch.setattr(postgres, "GLANCE", 1_000_000)
    here, there = open_again(), open_again()
    bell = there.bell()

    def wait_for(change: int) -> int:
        while True:
            rung = bell.rung
            if there.last_change() >= change:
                return change
            bell.wait(rung)

    for change in (1, 2, 3):
        outcomes = in_threads(
            partial(wait_for, change), partial(here.write_note, f"n{change}", "", expected=0)
        )
        assert outcomes[0] == change


def test_notes_and_events_share_the_door(store: EventStore) -> None:
    """Threads that write the one and threads that write the other get on, and all of it is there."""

    def write_notes(number: int) -> None:
        for revision in range(10):
            store.write_note(f"n{number}", "text", expected=revision)

    def write_games(number: int) -> None:
        for game in range(10):
            play(store, f"g{number}-{game}", [CREATED])

    in_threads(*(partial(work, number) for number in range(4) for work in (write_notes, write_games)))

    assert [note.revision for note in store.changed_notes()] == [10] * 4
    assert store.last_change() == 40
    assert store.last_position() == len(feed_of(store)) == 120
    check_whole(feed_of(store))


# Several appends at once


def test_several_appends_are_judged_each_by_itself(store: EventStore) -> None:
    """In one commit; each knows whether it was refused, and where its last event stands."""
    assert store.last_position() == 0
    store.append("known", CREATED, expected=0, key="first", at=NOW)
    appends = [
        Append("new", 0, entries(CREATED, "a", NOW)),
        Append("known", 0, entries(CREATED, "late", NOW)),
        Append("known", 0, entries(CREATED, "first", NOW)),
        Append("known", 3, entries([events.GamePlacedCount(1)], "b", NOW)),
        Append("new", 0, entries(CREATED, "a", NOW)),
        Append("other", 2, entries(CREATED, "early", NOW)),
    ]
    store.record(appends)

    assert [type(append.refusal) for append in appends] == [
        type(None), StaleVersion, type(None), type(None), type(None), StaleVersion,
    ]  # fmt: skip
    assert [append.position for append in appends] == [6, 0, 0, 7, 0, 0]
    assert store.last_position() == len(store.feed()) == 7
    assert [store.feed(position - 1, 1)[0].key for position in (6, 7)] == ["a", "b"]
    store.record([])


def test_an_append_knows_its_position_also_when_others_wrote_meanwhile(
    open_again: Callable[[], EventStore],
) -> None:
    """What it was judged at first was not the end; and a refusal has no position."""
    store, other = open_again(), open_again()
    play(store, "game", [CREATED])
    play(other, "between", [CREATED])
    append = Append("game", 3, entries([events.GamePlacedCount(1)], "k", NOW))
    store.record([append])
    assert append.position == 7

    other.append("game", [events.PlayerActive(Mark.O)], expected=4, key="faster", at=NOW)
    late = Append("game", 4, entries([events.GamePlacedCount(2)], "late", NOW))
    store.record([late])
    assert isinstance(late.refusal, StaleVersion)
    assert late.position == 0


# Copies


def test_a_backup_has_the_notes(store: EventStore, tmp_path: Path) -> None:
    """With their revisions, changes and shelves; and they can be written on there."""
    fill(store)
    for number in range(5):
        store.write_note(f"n{number % 3}", str(number), expected=number // 3, shelf="open")
    backup(store, str(tmp_path / "copy.db"))

    with SQLiteStore(str(tmp_path / "copy.db"), create=False) as copy:
        assert copy.changed_notes() == store.changed_notes()
        assert copy.notes("open") == store.notes("open")
        assert feed_of(copy) == feed_of(store)
        assert copy.write_note("n2", "new", expected=1) == Note("n2", 2, 6, "", "new")
        verify(copy)


def test_a_backup_while_notes_change_is_that_of_one_moment(
    store: EventStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What changes after its page was copied comes again, and the copy comes to an end."""
    monkeypatch.setattr("noughts.store.archive.NOTES_PAGE", 3)
    store.write_notes([Draft(f"n{number}", "old", expected=0) for number in range(8)])
    changed = store.changed_notes
    moments: list[tuple[Note, ...]] = []

    def changed_and_write(after: int, limit: int) -> tuple[Note, ...]:
        found = changed(after, limit)
        moments.append(changed())
        store.write_note("n0", "new", expected=len(moments))
        return found

    monkeypatch.setattr(store, "changed_notes", changed_and_write)
    backup(store, str(tmp_path / "copy.db"))

    with SQLiteStore(str(tmp_path / "copy.db"), create=False) as copy:
        assert copy.changed_notes() == moments[-1]


def test_notes_are_restored_as_they_were(store: EventStore) -> None:
    """Page after page, also where a note comes again; and what is written then follows."""
    store.restore_notes([Note("one", 3, 5, "", "a"), Note("two", 1, 9, "open", "b")])
    store.restore_notes([Note("one", 4, 11, "open", "c")])
    store.restore_notes([])

    assert store.changed_notes() == (Note("two", 1, 9, "open", "b"), Note("one", 4, 11, "open", "c"))
    assert store.write_note("two", "d", expected=1) == Note("two", 2, 12, "", "d")
    verify(store)


def test_a_copy_of_games_alone_has_no_notes() -> None:
    """An export is games, and whoever imports it has no seats of somebody else's."""
    with MemoryStore() as store, MemoryStore() as target:
        fill(store)
        store.write_note("note", "text", expected=0)
        import_lines(target, BytesIO("".join(export_all(store)).encode()))

        assert feed_of(target)
        assert target.changed_notes() == ()


# Ctrl-C comes at each place of a commit in memory where it can be heard; what is done later must go on.
INTERRUPTED = """
import dis, sys
from noughts.store import memory
from noughts.store.notes import Draft
from noughts.store.verifying import verify

HEARING = ("RESUME", "CALL", "JUMP_BACKWARD", "STORE_SUBSCR")

def interrupt(step):
    left, last = step, {}
    def trace(frame, event, _):
        nonlocal left
        if frame.f_code.co_filename != memory.__file__:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            heard = last.get(id(frame), "").startswith(HEARING)
            last[id(frame)] = dis.opname[frame.f_code.co_code[frame.f_lasti]]
            left -= heard
            if heard and left == 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace
    sys.settrace(trace)
    return lambda: left

step, broken = 0, []
while True:
    step += 1
    store = memory.MemoryStore()
    store.write_notes([Draft(name, "before", expected=0) for name in "abc"])
    before = store.changed_notes()
    drafts = [Draft(name, "after", expected=seen) for name, seen in (("b", 1), ("a", 1), ("d", 0))]
    left = interrupt(step)
    try:
        store.write_notes(drafts)
    except KeyboardInterrupt:
        pass
    sys.settrace(None)
    after = store.changed_notes()
    if after != before and after != (before[2], *(draft.note for draft in drafts)):
        broken.append(step)
    store.write_notes(drafts)
    if any(draft.refusal for draft in drafts) or store.last_change() != 6:
        broken.append(step)
    verify(store)
    if left() > 0:
        break
print(step > 5, broken)
"""


def test_an_interrupted_writing_in_memory_is_whole_or_not_at_all() -> None:
    """Wherever Ctrl-C comes, all notes are as they were or as they were to be."""
    ran = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=DEADLINE, check=False
    )

    assert ran.stdout == "True []\n", ran.stderr
