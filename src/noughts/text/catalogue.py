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
    # Questions, and replies to what was typed
    "prompt.again": "Play again? (y/n)",
    "prompt.yes_or_no": "Please answer y or n.",
    "prompt.invalid": "That is not a move.",
    "prompt.not_a_cell": "{why}, or help",
    "prompt.taken": "that cell is taken: the free cells are {cells}",
    "prompt.no_token": "No token yet; why 5 explains what one on 5 would do.",
    "prompt.no_token_short": "No token yet.",
    "prompt.help": """\
Type the number of a free cell, 1 to 9, row by row from the top left;
row,column (0,0 to 2,2) and a1 to c3 name the same cells.
hint    show a best move, and why it is one
why     explain the last token; why 5, what a token on 5 would do
undo    take back the last token; against a bot or on a server, your last token
        and the answer to it (a person on a server is asked first)
resign  give the game up
help    show this
quit    leave; a saved game can be continued
h, w, u, r, ? and q are short for these words.""",
    "prompt.help_short": "hint why undo quit",
    # Stepping through a saved game
    "replay.step": "{step}/{steps} (space: next, b: back, q: quit)",
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
