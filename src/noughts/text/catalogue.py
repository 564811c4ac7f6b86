"""Every sentence that a player reads, by key, with named placeholders; a translation replaces them."""

from __future__ import annotations

from collections.abc import Mapping

from noughts.core.value import Value

SENTENCES = {
    # A game
    "game.ask": "{player}, choose a free cell, 1 to 9:",
    "game.ask_short": "{mark} 1-9:",
    "game.player": "Player {mark}",
    "game.starts": "{player} starts.",
    "game.starts_at_random": "{player} has randomly been selected as the first player",
    "game.moves": "{player}:",
    "game.takes": "{player} takes {cell}.",
    "game.took_back": "{player} took back.",
    "game.resigned": "{player} resigned.",
    "game.forfeits": "{player} forfeits: {why}.",
    "game.winner": "Player {mark}",
    "game.won": "{player} won.",
    "game.drawn": "The game is drawn.",
    "game.score": "Score: {points}",
    "game.tally": "Tally: {points}",
    "game.points": "{x} {x_won}, {o} {o_won}, draws {drawn}",
    "game.saved": "The game is saved: noughts resume {game}",
    "game.moved_on": "This game has moved on in another window; here it is now.",
    "game.over": "The game is over.",
    "game.goodbye": "Goodbye!",
    "learned.games": "{player} has learned from {games} games.",
    "learned.one_game": "{player} has learned from 1 game.",
    "learned.nothing": "{player} has learned nothing: {why}.",
    "learned.forgets": "{player} has learned from this game, and forgets it when you leave.",
    # Questions, and replies to what was typed
    "prompt.again": "Play again? (y/n)",
    "prompt.yes_or_no": "Please answer y or n.",
    "prompt.one_of": "Please answer {answers}.",
    "prompt.what_next": "Play again? (y, n, {others})",
    "prompt.invalid": "That is not a move.",
    "prompt.not_a_cell": "type a number from 1 to 9, or help",
    "prompt.too_long": "a line has at most {most} bytes, and this one has more",
    "prompt.not_text": "that is not text: it is not UTF-8",
    "prompt.not_plain_text": "that is not plain text: it has characters that cannot be shown",
    "prompt.taken": "that cell is taken: the free cells are {cells}",
    "prompt.nothing_to_take_back": "There is nothing to take back.",
    "prompt.no_move": "No move yet; why 5 explains what taking 5 would do.",
    "prompt.no_move_short": "No move yet.",
    "prompt.help": """\
Type the number of a free cell, 1 to 9, row by row from the top left.
hint    show a best move, and why it is one
why     explain the last move; why 5, what taking 5 would do
undo    take back the last move; against a bot or on a server, your last move
        and the answer to it (a person on a server is asked first)
resign  give the game up
help    show this
quit    leave; a saved game can be continued
h, w, u, r, ? and q are short for these words.""",
    "prompt.help_short": "hint why undo quit",
    # A board in place: whose move it is, what the keys do
    "live.your_move": "Your move.",
    "live.move": "{player}, your move.",
    "live.thinking": "{player} is thinking…",
    "live.you": "you",
    "live.you_first": "You",
    "live.taken": "that cell is taken",
    "live.not_a_cell": "press a number from 1 to 9, or ? for help",
    "live.no_key": "That key does nothing now.",
    "live.no_move": "Nobody has moved yet.",
    "live.watching": "You are watching this game.",
    "live.you_won": "You won.",
    "live.players": "{x} · {o}",
    "live.points": "{x} {x_won} · {o} {o_won}",
    "live.points_drawn": "{x} {x_won} · {o} {o_won} · drawn {drawn}",
    "live.again": "What next?",
    "live.resign": "Resign this game?",
    "live.page": "any key goes back",
    "live.page_more": "space: more, any other key: back",
    "live.page_more_short": "space more, q back",
    "live.help": """\
Arrows choose a cell, and Enter takes it.
A digit or a click takes a cell at once.

h  hint: a best move, and why it is one
w  why: explains the last move
u  undo: takes back the last move; against a bot or on a server, your last move and the answer to it \
(a person on a server is asked first)
r  resign: gives the game up
#  numbers the cells as on a numpad, or row by row again
q  quit: a saved game can be continued""",
    "key.cells": "arrows, 1-9 or mouse",
    "key.numpad": "# numpad",
    "key.row_by_row": "# row by row",
    "key.enter": "Enter",
    "key.yes": "yes",
    "key.no": "no",
    "key.hint": "hint",
    "key.why": "why",
    "key.undo": "undo",
    "key.resign": "resign",
    "key.help": "help",
    "key.quit": "quit",
    "key.next": "next",
    "key.back": "back",
    "key.again": "again",
    "key.harder": "harder",
    "key.easier": "easier",
    "key.swap": "other mark",
    "key.review": "review",
    # The first question
    "menu.title": "noughts",
    "menu.choice": "  {number}  {choice}",
    "menu.computer": "the computer   ({level}; 1b beginner, 1e easy … 1u unbeatable)",
    "menu.computer_short": "computer",
    "menu.friend": "a friend at this keyboard",
    "menu.friend_short": "friend",
    "menu.resume": "go on with the last game, move {move}",
    "menu.resume_short": "go on",
    "menu.resume_against": "go on with the game against {player}, move {move}",
    "menu.resume_players": "go on with the game of {players}, move {move}",
    "menu.watch": "watch two bots",
    "menu.watch_short": "watch",
    "menu.ask": "Enter is 1:",
    "menu.help": "Type a number from 1 to {last}, a level such as easy, or q to leave.",
    # Stepping through a saved game
    "replay.step": "{step}/{steps} (Enter: next, b: back, q: quit)",
    "replay.step_short": "{step}/{steps}",
    # A game on a server
    "remote.play": "You play {mark}.",
    "remote.play_against": "You play {mark} against {player}.",
    "remote.watch": "You watch {x} against {o}.",
    "remote.watching": "You are watching: type hint, why, help or quit.",
    "remote.come_back": "To come back: noughts join {address}",
    "remote.go_on": "To go on: noughts join {address}",
    "remote.invite": "To play with you, a friend opens {address}",
    "remote.take_seat": "Take the free seat? (y/n)",
    "remote.open_games": "Open games:",
    "remote.no_open_games": "No open games.",
    "remote.games_in_progress": "Games in progress:",
    "remote.listed": "  {address}  {players}",
    "remote.play_joins": "noughts join {address} --play joins the oldest open game.",
    "remote.play_opens": "noughts join {address} --play opens one.",
    "remote.joined": "{player} plays {mark}.",
    "remote.nobody": "Nobody has joined yet.",
    "remote.not_your_turn": "It is not your turn: {player} is to move.",
    "remote.wait_for_seat": "Waiting for somebody to take the other seat.",
    "remote.wait_for_move": "Waiting for {player}.",
    "remote.wait_for_consent": "Waiting for {player} to agree.",
    "remote.wait_for_server": "Please wait: the server has not answered yet.",
    "remote.away": "{player} is not here now.",
    "remote.back": "{player} is back.",
    "remote.asked": "Asked {player} to allow it.",
    "remote.wants_undo": "{player} wants to take back. Agree? (y/n)",
    "remote.declined": "{player} does not agree.",
    "remote.wants_rematch": "{player} wants to play again.",
    "remote.disconnected": "Connection lost; reconnecting.",
    "remote.reconnected": "Reconnected.",
    # A position, also for screen readers
    "position.whole": "{held}; {standing}.",
    "position.empty": "The board is empty",
    "position.held": "{player} on {cells}",
    "position.player": "{name} ({mark})",
    "position.to_move": "{player} to move",
    "position.won": "{player} won with {cells}",
    "position.resigned": "{loser} resigned and {player} won",
    "position.drawn": "the game is drawn",
    # Cells, lines and lists
    "place.top_left": "the top left",
    "place.top": "the top middle",
    "place.top_right": "the top right",
    "place.left": "the middle left",
    "place.middle": "the middle",
    "place.right": "the middle right",
    "place.bottom_left": "the bottom left",
    "place.bottom": "the bottom middle",
    "place.bottom_right": "the bottom right",
    "line.top_row": "the top row",
    "line.middle_row": "the middle row",
    "line.bottom_row": "the bottom row",
    "line.left_column": "the left column",
    "line.middle_column": "the middle column",
    "line.right_column": "the right column",
    "line.falling_diagonal": "the diagonal from the top left",
    "line.rising_diagonal": "the diagonal from the bottom left",
    "list.and": "{most} and {last}",
    "list.or": "{most} or {last}",
    "list.corners": "a corner ({cells})",
    "list.edges": "an edge ({cells})",
    "count.one": "one",
    "count.two": "two",
    "count.three": "three",
    "count.four": "four",
    # The coach on a move: how it is called, what it does, the answer that beats it, what was better
    "play.whole": "{first}, then {rest}",
    "play.begins": "{first}, then {rest} and so on",
    "move.cell": "{cell}",
    "move.hint": "take {cell}: it",
    "move.token": "{mark} on {cell}",
    "move.token_in_place": "{mark} in {cell}",
    "answer.completes": "{other} completes {lines}",
    "answer.threatens": "{other} threatens {lines}",
    "answer.forks": "{other} takes {answer} and threatens both {lines}",
    "answer.forces_fork": "{other} takes {answer} and makes a fork next ({play})",
    "answer.forces_fork_in_place": "{other} takes {answer} and makes a fork next",
    "better.sentence": "{better}.",
    "better.blocks": "{cells} is the block",
    "better.draws": "better: {cells}",
    "better.completes": "{best} completes {lines} and wins",
    "better.wins": "{cells} wins ({play})",
    "better.lasts": "{cells} holds out longer ({play})",
    "better.as_good": "{cells} is as good.",
    "better.any": "Any other cell is as good.",
    # As a hint
    "hint.short": "Take {cell} ({value})",
    "hint.lost": "Every move loses; {cell} at least {deeds}, but {answer}.",
    "hint.too_late": "Every move loses: {answer}.",
    "hint.theirs": "{player} is to move. {said}",
    # To a player
    "player.does": "{move} {deeds}.",
    "player.does_but": "{move} {deeds}, but {answer}.",
    "player.is_too_late": "{move} is too late: {answer}.",
    "player.is_slow": "{move} is slower: {better}.",
    "player.misses": "{move} is a mistake: {better}.",
    "player.loses": "{move} loses: {answer}.",
    "player.wins": "completes {lines} and wins",
    "player.blocks": "blocks {lines}",
    "player.threatens": "threatens {lines}",
    "player.makes_fork": "makes {count} threats at once, {lines}, and {other} can stop only one",
    "player.forces_fork": "forces a fork, whatever {other} answers ({play})",
    "player.threat_forces_fork": "threatens {lines}; {other} must block, and {fork} forks ({play})",
    "player.threat_forces_fork_in_place": "threatens {lines}; {other} must block, and {fork} forks",
    "player.takes_fork": "keeps {other} from making a fork there ({lines})",
    "player.stops_fork": "stops the fork that {other} would make with {fork} ({lines})",
    "player.is_safe": "is safe; {cells} would let {other} force a fork ({play})",
    "player.is_safe_in_place": "is safe; {bad} would let {other} force a fork with {answer}",
    "player.is_only_safe": "is the only safe cell; anything else lets {other} force a fork ({play})",
    "player.has_open_line": "has one line still open",
    "player.has_open_lines": "has {count} lines still open",
    "player.keeps_draw": "keeps the draw",
    "player.is_last": "is the last free cell",
    # To a child
    "child.does": "{deeds}!",
    "child.does_but": "{deeds}, but {answer}.",
    "child.is_too_late": "Too late: {answer}.",
    "child.is_slow": "{better}!",
    "child.misses": "Not {cell}: {better}!",
    "child.loses": "Not {cell}: {answer}!",
    "child.wins": "complete {lines} and win",
    "child.blocks": "block {lines}",
    "child.threatens": "take {cell}: it threatens {lines}",
    "child.makes_fork": "take {cell}: {count} threats at once, {lines}",
    "child.forces_fork": "take {cell}: a fork comes next ({play})",
    "child.threat_forces_fork": "take {cell}: it threatens {lines}, and a fork comes next ({play})",
    "child.threat_forces_fork_in_place": "take {cell}: it threatens {lines}, and {fork} forks next",
    "child.takes_fork": "take {cell}, or {other} makes a fork there ({lines})",
    "child.stops_fork": "take {cell}, or {other} makes a fork with {fork} ({lines})",
    "child.is_safe": "take {cell}: {cells} lets {other} make a fork ({play})",
    "child.is_safe_in_place": "take {cell}: {bad} lets {other} make a fork with {answer}",
    "child.is_only_safe": "take {cell}: anything else lets {other} make a fork ({play})",
    "child.has_open_line": "take {cell}: one line is open",
    "child.has_open_lines": "take {cell}: {count} lines are open",
    "child.keeps_draw": "take {cell}: it keeps the draw",
    "child.is_last": "take {cell}, the last one",
    # Exactly
    "exact.move": "{move}: {value} ({play}).",
    "exact.short": "{move}: {value}",
    "exact.win": "win in {distance}",
    "exact.draw": "draw",
    "exact.loss": "loss in {distance}",
    # The review of a game
    "review.players": "{x} against {o}",
    "review.name": "{mark} is {player}",
    "review.turned": "The game turned on move {number}: {player} took {cell} and {mistake}.",
    "review.turned_so_far": (
        "The losing move so far is move {number}: {player} took {cell} and {mistake}."
    ),
    "review.cancelled": (
        "The mistakes cancelled out; the last was move {number}: {player} took {cell} and {mistake}."
    ),
    "review.flawless": "Nobody made a mistake.",
    "review.flawless_so_far": "Nobody has made a mistake so far.",
    "review.resigned_draw": "Best play would still have drawn: {player} resigned too early.",
    "review.resigned_win": "Best play would still have won ({play}): {player} resigned too early.",
    "review.resigned_win_at_once": "{play} would still have won: {player} resigned too early.",
    "review.allowed": "{allowed}; {instead}",
    "review.missed": "missed the win; {instead}",
    "allowed.completes": "left {lines} open",
    "allowed.threatens": "left {lines} open",
    "allowed.forks": "let {other} threaten both {lines} with {answer}",
    "allowed.forces_fork": "let {other} force a fork ({play})",
    "allowed.forces_fork_in_place": "let {other} force a fork with {answer}",
    "instead.blocks": "{cells} was the block",
    "instead.draws": "{cells} was better",
    "instead.draws_in_place": "{best} was better",
    "instead.completes": "{best} would have completed {lines}",
    "instead.wins": "{cells} would have won ({play})",
    "instead.wins_in_place": "{best} would have won",
    "review.move": "{number}. {said}",
    "review.best": "{standing}: {value}. Best: {cells}.",
}
"""In English. Plain data: the keys and placeholders stay the same in every language."""


class Catalogue(Value):
    """The sentences of a language or of a wording; any that it leaves out are English."""

    sentences: Mapping[str, str]

    def say(self, key: str, **values: object) -> str:
        """Return a sentence with its placeholders filled.

        >>> Catalogue({"game.won": "{player} hat gewonnen!"}).say("game.won", player="Ann")
        'Ann hat gewonnen!'
        >>> ENGLISH.say("game.starts", player="Ann")
        'Ann starts.'
        """
        return (self.sentences if key in self.sentences else SENTENCES)[key].format_map(values)


ENGLISH = Catalogue(SENTENCES)
