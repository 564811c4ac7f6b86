"""Players by name: people, programs, built-in bots, and the policies of other packages."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from noughts import SYMMETRIES, Board, O, X, errors
from noughts.bots.ladder import LADDER, perfect, random, read_chance
from noughts.bots.policy import check_parameters, weigh
from noughts.bots.registry import (
    BOT,
    BUILT_IN,
    LEVELS,
    PROGRAM,
    find_policy,
    parse_player,
    parse_policy,
    policy_names,
)
from support.at_once import run_code
from support.length import short_or_long
from support.reference.tactics import by_chance, classic, hopeful, in_play, seen

Offer = Callable[..., None]

IN_PLAY = in_play(X, O)
WITHOUT_MEMORY = ("random", *LADDER, "newell-simon", "perfect")
NOT_ASCII = "\N{ARABIC-INDIC DIGIT THREE}"


@pytest.fixture
def offer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Offer]:
    """Install packages that offer policies, for the length of a test."""
    installed = []

    def install(module: str, code: str, **offered: str) -> None:
        folder = tmp_path / module
        (folder / f"{module}-1.0.dist-info").mkdir(parents=True)
        (folder / f"{module}.py").write_text(code)
        metadata = f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n"
        (folder / f"{module}-1.0.dist-info" / "METADATA").write_text(metadata)
        lines = [f"{name} = {module}:{maker}" for name, maker in offered.items()]
        entry_points = "\n".join(["[noughts.policies]", *lines, ""])
        (folder / f"{module}-1.0.dist-info" / "entry_points.txt").write_text(entry_points)
        monkeypatch.syspath_prepend(folder)
        installed.append(module)

    yield install
    for module in installed:
        sys.modules.pop(module, None)


GOOD = """
from fractions import Fraction
from support.length import short_or_long

def stubborn(cell="4"):
    return lambda board: {int(cell): Fraction(1)}
"""


def refused(asked: str) -> str:
    """Return the message of the refusal, which must be short and printable."""
    with pytest.raises(errors.UnknownPolicy) as refusal:
        find_policy(asked)
    sentence = str(refusal.value)
    assert sentence.isprintable()
    assert len(sentence) < 200
    return sentence


def test_random_gives_every_free_cell_the_same_chance() -> None:
    assert len(in_play(X)) == len(in_play(O)) == short_or_long(627, 4_520)
    for board in IN_PLAY:
        assert random(board) == by_chance(*seen(board))


def test_perfect_shares_its_chances_among_the_best_moves() -> None:
    for board in IN_PLAY:
        assert perfect(board) == hopeful(*seen(board))


def test_a_policy_is_found_by_its_name() -> None:
    found = {name: find_policy(name) for name in WITHOUT_MEMORY}

    assert found["random"] is random
    assert found["perfect"] is perfect
    assert all(found["newell-simon"](board) == classic(*seen(board)) for board in IN_PLAY)
    centre = [Fraction(1, 5), Fraction(3, 5), Fraction(4, 5), Fraction(23, 25), Fraction(123, 125)]
    assert [found[name](Board())[4] for name in LADDER] == centre


@pytest.mark.parametrize("name", ["random", "newell-simon", "perfect"])
def test_a_policy_built_in_gives_exact_chances_for_free_cells(name: str) -> None:
    policy = find_policy(name)
    for board in IN_PLAY:
        chances = policy(board)
        assert set(chances) <= set(board.free_cells)
        assert all(type(chance) is Fraction and chance > 0 for chance in chances.values())
        assert sum(chances.values()) == 1


@pytest.mark.parametrize("name", WITHOUT_MEMORY)
def test_a_policy_built_in_plays_images_alike(name: str) -> None:
    policy = find_policy(name)
    turned, mirrored = SYMMETRIES[1], SYMMETRIES[4]
    for board in IN_PLAY:
        for symmetry in (turned, mirrored):
            image = {symmetry[cell]: chance for cell, chance in policy(board).items()}
            assert policy(board.image(symmetry)) == image


def test_parameters_change_a_policy() -> None:
    threatened = Board(0o003, 0o020)

    assert find_policy("club:block=0")(threatened) == {2: 1}
    assert find_policy("novice:block=0.5")(threatened) == find_policy("novice")(threatened)
    assert find_policy("novice:block=1/2,win=1/4")(threatened) == find_policy("novice")(threatened)
    assert find_policy("novice:win=0.1,block=0.25,fork=1/2,defence=3/4,centre=25/100")(
        threatened
    ) == find_policy("casual")(threatened)


def test_the_same_name_with_other_parameters_is_another_policy() -> None:
    careful, careless = find_policy("club:centre=0"), find_policy("club:centre=1")

    assert careful(Board()) == {4: 1}
    assert careless(Board())[4] == Fraction(1, 5)
    assert careful(Board()) == {4: 1}


@pytest.mark.parametrize(
    "asked", ["", "nobody", "Perfect", " perfect", "perfect ", "club.block=1", "__class__", NOT_ASCII]
)
def test_an_unknown_name_is_answered_with_the_list_of_names(asked: str) -> None:
    sentence = refused(asked)

    assert repr(asked) in sentence
    assert sentence.endswith(f"choose one of {', '.join(policy_names())}")
    assert "random, beginner, novice, casual, club, expert, newell-simon, perfect" in sentence


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ("club:luck=1", "club has no 'luck': it has win, block, fork, defence and centre"),
        ("club:win=0,luck=1", "club has no 'luck'"),
        ("club:Win=0", "club has no 'Win'"),
        ("club:self=0", "club has no 'self'"),
        ("club:replace=0", "club has no 'replace'"),
        ("club: win=0", "club has no ' win'"),
        ("random:win=0", "random has no 'win': it has no parameters"),
        ("perfect:win=0", "perfect has no 'win': it has no parameters"),
        ("newell-simon:name=x", "newell-simon has no 'name': it has no parameters"),
        ("club:", "'' is not a parameter: write NAME=VALUE,NAME=VALUE"),
        ("club:win", "'win' is not a parameter"),
        ("club:=1", "'=1' is not a parameter"),
        ("club:win=0,", "'' is not a parameter"),
        ("club:,win=0", "'' is not a parameter"),
        ("club:win=0,win=0", "the parameter 'win' is given twice"),
        ("club:win=0,block=0,win=1", "the parameter 'win' is given twice"),
        ("club:win=", "'' is not a chance: write 0 to 1, such as 1/3 or 0.25"),
        ("club:win=0=1", "'0=1' is not a chance"),
        ("club:win=0:block=1", "'0:block=1' is not a chance"),
        (":", "'' is not a parameter"),
        ("\x1b[2J:win", "'win' is not a parameter"),
        ("perfect\x1b[2J", "unknown policy 'perfect\\x1b[2J'"),
    ],
)
def test_bad_parameters_are_refused_with_a_sentence(asked: str, sentence: str) -> None:
    assert sentence in refused(asked)


MILLION = 1_000_000
HUGE = {
    "name": "n" * MILLION,
    "name and no value": "n" * MILLION + ":win",
    "no value": "club:" + "k" * MILLION,
    "key": "club:" + "k" * MILLION + "=1",
    "number": "club:win=" + "9" * MILLION,
    "decimals": "club:win=0." + "9" * MILLION,
    "noughts": "club:win=" + "0" * MILLION,
    "denominator": "club:win=1/" + "0" * MILLION + "1",
    "many": "club:" + "win=0," * 100_000,
}


@pytest.mark.parametrize("asked", HUGE.values(), ids=HUGE)
def test_huge_text_is_refused_with_a_short_sentence(asked: str) -> None:
    assert refused(asked)


@pytest.mark.parametrize(
    "text",
    [
        *("1/0", "0/0", "1/00", "-1", "-0", "+1", "2", "3/2", "1.5", "1.000000001"),
        *("nan", "inf", "-inf", "1e-1", "1e9999999", "1E1", "0x1", "1_0/2_0", "9999999999/9999999999"),
        *("", " ", " 1", "1 ", "1/ 2", "1/2\n", "\n", "\0", "1,5", ".5", "1.", "1/", "/2", "1/2/3"),
        *("0.5/1", "1/2.0", "true", "one", "½", "\N{FULLWIDTH DIGIT ONE}"),
        *(NOT_ASCII, f"1/{NOT_ASCII}", f"0.{NOT_ASCII}"),
    ],
)
def test_text_that_is_not_a_chance_is_refused(text: str) -> None:
    with pytest.raises(
        errors.UnknownPolicy, match=r"is not a chance: write 0 to 1, such as 1/3 or 0\.25"
    ):
        read_chance(text)
    if "," not in text:
        refused(f"club:win={text}")


@pytest.mark.parametrize(
    ("text", "chance"),
    [
        *(("0", Fraction(0)), ("1", Fraction(1)), ("0.0", Fraction(0)), ("1.000000000", Fraction(1))),
        *(("1/3", Fraction(1, 3)), ("2/6", Fraction(1, 3)), ("0/5", Fraction(0)), ("5/5", Fraction(1))),
        *(("0.25", Fraction(1, 4)), ("00.5", Fraction(1, 2)), ("1/010", Fraction(1, 10))),
        ("0.333333333", Fraction(333_333_333, 10**9)),
        ("1/999999999", Fraction(1, 999_999_999)),
    ],
)
def test_a_chance_is_read_exactly(text: str, chance: Fraction) -> None:
    found = read_chance(text)

    assert type(found) is Fraction
    assert found == chance


@pytest.mark.parametrize(
    ("known", "sentence"),
    [
        ((), "it has no parameters"),
        (("depth",), "it has depth"),
        (("depth", "file"), "it has depth and file"),
        (("depth", "file", "seed"), "it has depth, file and seed"),
    ],
)
def test_the_parameters_are_listed_in_a_sentence(known: tuple[str, ...], sentence: str) -> None:
    check_parameters("deep", known, known)
    with pytest.raises(errors.UnknownPolicy) as refusal:
        check_parameters("deep", ("luck",), known)

    assert str(refusal.value) == f"deep has no 'luck': {sentence}"


def test_the_names_are_those_built_in_when_no_package_offers_more() -> None:
    assert policy_names()[: len(BUILT_IN)] == tuple(BUILT_IN)
    assert policy_names()[:8] == WITHOUT_MEMORY


def test_another_package_can_offer_a_policy(offer: Offer) -> None:
    offer("noughts_stubborn", GOOD, stubborn="stubborn")

    assert find_policy("stubborn")(Board()) == {4: 1}
    assert find_policy("stubborn:cell=7")(Board()) == {7: 1}
    assert policy_names() == (*BUILT_IN, "stubborn")
    assert "stubborn" in refused("nobody")


def test_several_packages_are_listed_in_order_and_each_name_once(offer: Offer) -> None:
    offer("noughts_zebra", GOOD, zebra="stubborn", common="stubborn")
    offer("noughts_ant", GOOD, ant="stubborn", common="stubborn")

    assert policy_names() == (*BUILT_IN, "ant", "common", "zebra")
    assert find_policy("common")(Board()) == {4: 1}


def test_a_package_is_loaded_only_when_its_policy_is_asked_for(offer: Offer) -> None:
    offer("noughts_lazy", GOOD, lazy="stubborn")

    policy_names()
    find_policy("perfect")
    refused("nobody")
    assert "noughts_lazy" not in sys.modules

    find_policy("lazy")
    assert "noughts_lazy" in sys.modules


@pytest.mark.parametrize("name", WITHOUT_MEMORY)
def test_other_packages_cannot_replace_a_built_in_name(name: str, offer: Offer) -> None:
    """The other package is not even loaded, and the name is listed once."""
    offer("noughts_thief", "raise SystemExit('stolen')", **{name: "stubborn"})

    assert policy_names() == tuple(BUILT_IN)
    assert callable(find_policy(name))
    assert "noughts_thief" not in sys.modules


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("raise RuntimeError('no luck')", "cannot be made: RuntimeError: no luck"),
        ("import noughts_that_nobody_has", "cannot be made: ModuleNotFoundError: No module named"),
        ("def make(:", "cannot be made: SyntaxError"),
        ("other = 1", "cannot be made: AttributeError"),
        ("make = 1", "cannot be made: TypeError"),
        ("def make(): return 1 / 0", "cannot be made: ZeroDivisionError: division by zero"),
        ("def make(*, needed): return print", "cannot be made: TypeError"),
        ("def make(): return None", "is not a function from boards to chances"),
        ("def make(): return {4: 1}", "is not a function from boards to chances"),
    ],
)
def test_a_package_that_fails_is_answered_with_a_sentence(code: str, sentence: str, offer: Offer) -> None:
    offer("noughts_broken", code, broken="make")

    with pytest.raises(errors.BadPolicy) as refusal:
        find_policy("broken")

    assert str(refusal.value).startswith("the policy 'broken' of noughts_broken:make ")
    assert sentence in str(refusal.value)


def test_parameters_that_a_package_does_not_take_are_refused(offer: Offer) -> None:
    offer("noughts_picky", GOOD, picky="stubborn")

    with pytest.raises(
        errors.BadPolicy, match="the policy 'picky' of noughts_picky:stubborn cannot be made"
    ):
        find_policy("picky:luck=1")


def test_a_refusal_of_the_package_itself_is_passed_on(offer: Offer) -> None:
    code = "from noughts import errors\ndef make(): raise errors.UnknownPolicy('not on Sundays')"
    offer("noughts_pious", code, pious="make")

    with pytest.raises(errors.UnknownPolicy, match=r"^not on Sundays$"):
        find_policy("pious")


def test_a_package_whose_policy_plays_badly_is_refused_when_it_plays(offer: Offer) -> None:
    offer("noughts_greedy", GOOD, greedy="stubborn")
    policy = find_policy("greedy:cell=9")

    with pytest.raises(errors.BadPolicy, match="not a free cell"):
        weigh(policy, Board())


def test_the_levels_go_up_the_ladder_to_the_unbeatable() -> None:
    *most, unbeatable = LEVELS.values()

    assert most == list(LADDER)[:4]
    assert unbeatable == "perfect"
    assert " ".join(LEVELS) == "Beginner Easy Medium Hard Unbeatable"


def test_naming_the_bots_loads_none_of_them() -> None:
    code = "import sys; from noughts.bots.registry import BUILT_IN; print({'fractions'} & {*sys.modules})"

    ran = run_code(code, check=True)

    assert ran.stdout == "set()\n"
    assert all(bot.description.endswith(".") for bot in BUILT_IN.values())


TEXTS = st.one_of(
    st.text(max_size=20),
    st.builds(
        "".join,
        st.lists(st.sampled_from([*BUILT_IN, BOT, PROGRAM, "Bot:", "saved", ":", " ", "ann", "=1", "B"])),
    ),
)


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("ann", ("", "ann")),
        (" Zo\u00eb ", ("", "Zo\u00eb")),
        ("", ("", "")),
        ("saved", ("", "saved")),
        ("perfectionist", ("", "perfectionist")),
        ("ann:club", ("", "ann:club")),
        ("bot:club", (BOT, "club")),
        (" bot:club:block=1/3 ", (BOT, "club:block=1/3")),
        ("BOT:club", (BOT, "club")),
        ("bot:", (BOT, "")),
        ("program:./my-bot --fast", (PROGRAM, "./my-bot --fast")),
        ("Program:./my-bot", (PROGRAM, "./my-bot")),
        ("program:bot:club", (PROGRAM, "bot:club")),
    ],
)
def test_a_player_is_a_person_a_bot_or_a_program(text: str, parsed: tuple[str, str]) -> None:
    assert parse_player(text) == parsed


@pytest.mark.parametrize(
    ("text", "right"),
    [
        *((name, f"bot:{name}") for name in BUILT_IN),
        ("Perfect", "bot:perfect"),
        ("\uff30erfect", "bot:perfect"),
        (" MENACE ", "bot:menace"),
        ("club:block=1/3", "bot:club:block=1/3"),
        ("Club : block=1/3", "bot:club: block=1/3"),
        ("menace:file=/tmp/m.json", "bot:menace:file=/tmp/m.json"),
        ("saved:file=q.json", "bot:saved:file=q.json"),
        (f"saved:file={'q' * 100_000}", "bot:saved:\u2026"),
    ],
)
def test_a_person_cannot_have_the_name_of_a_bot(text: str, right: str) -> None:
    with pytest.raises(errors.InvalidName) as refused:
        parse_player(text)
    assert str(refused.value).endswith(f"is a bot, not a person: write {right}")
    assert len(str(refused.value)) < 150


@pytest.mark.parametrize("text", ["\uff42ot:perfect", "PROGRA\uff2d:./x"])
def test_a_person_cannot_look_like_a_bot_or_a_program(text: str) -> None:
    with pytest.raises(errors.InvalidName, match="only looks like a player that begins with"):
        parse_player(text)


@pytest.mark.parametrize("text", ["bot:bot:club", "bot:program:./x", "bot:BOT:club"])
def test_two_prefixes_are_refused(text: str) -> None:
    for bots_only in (False, True):
        with pytest.raises(errors.UnknownPolicy, match="has two prefixes"):
            parse_player(text, bots_only=bots_only)


def test_a_policy_has_one_name_in_both_spellings() -> None:
    assert parse_policy("bot:club:win=0") == parse_policy("club:win=0") == "club:win=0"


def test_a_program_is_not_a_policy() -> None:
    with pytest.raises(
        errors.UnknownPolicy, match=r"^'program:\./x' is a program, and only a bot can be"
    ):
        parse_policy("program:./x")


@given(TEXTS)
def test_no_person_is_called_like_a_bot(text: str) -> None:
    try:
        kind, rest = parse_player(text)
    except errors.NoughtsError as refused:
        assert str(refused)
        return
    assert kind in ("", BOT, PROGRAM)
    if not kind:
        assert not rest.lower().startswith((BOT, PROGRAM))
        assert rest.partition(":")[0].strip().lower() not in BUILT_IN


@given(TEXTS)
def test_a_bot_is_the_same_with_and_without_its_prefix(text: str) -> None:
    try:
        policy = parse_policy(f"bot:{text}")
    except errors.UnknownPolicy:
        return
    assert policy == text.rstrip()
    if text == text.strip():
        assert parse_policy(text) == policy
