/** The status of a game, as the sentence above its board. */

import { active } from "./game.js";

/**
 * @typedef {object} State the known state of a game
 * @property {string} id
 * @property {import("./game.js").Game} game
 * @property {number} version
 * @property {object[]} events
 * @property {("X" | "O")[]} you the seats that are yours
 * @property {object} room
 * @property {boolean} isInvited whether a free seat is offered here
 * @property {boolean} open whether the stream is
 * @property {boolean} gone whether the game no longer exists
 * @property {{cell: number, mark: "X" | "O"} | null} pending
 */

/** The name of a player. @param {State} state @param {"X" | "O"} mark */
export const called = ({ room }, mark) => {
  const { bot, name } = room.seats[mark];
  return bot ? botName(bot) : (name ?? mark);
};

/**
 * A sentence about a player: "You" for a person with one seat, a name for everybody else.
 * @param {State} state @param {"X" | "O"} mark @param {string} rest
 * @returns {[string, string]} a name, if the sentence starts with one, and the rest
 */
export const about = (state, mark, rest) =>
  state.you.length === 1 && state.you.includes(mark)
    ? ["", `You${rest}`]
    : [called(state, mark), rest];

/** The display name of a policy: newell-simon is Newell-Simon. */
export const botName = (policy) => policy.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());

/** The mark that may be placed here now, or null. @param {State} state */
export function mine({ game, you }) {
  const mark = active(game);
  return game.ready && you.includes(mark) ? mark : null;
}

/** The free seat, or null. @param {State} state */
export const free = ({ room }) => ["X", "O"].find((mark) => !room.seats[mark].taken) ?? null;

function before(state) {
  const { you, room } = state;
  if (!you.length) return ["", "Waiting for a player"];
  return ["", room.lobby ? "Waiting for an opponent" : "Waiting for your friend"];
}

function invited(state) {
  const mark = free(state);
  if (!mark) return ["", "Take your seat"];
  return [
    called(state, mark === "X" ? "O" : "X"),
    state.room.lobby ? " waits for an opponent" : " invites you",
  ];
}

/** A name, if the sentence starts with one, and the rest. @param {State} state @returns {[string, string]} */
export function sentence(state) {
  const { game, you, open, gone } = state;
  if (gone) return ["", "This game is gone"];
  if (!open) return ["", "Reconnecting…"];
  if (state.isInvited) return invited(state);
  if (game.over) return game.winner ? about(state, game.winner, " won") : ["", "Draw"];
  if (!game.ready) return before(state);
  const mark = active(game);
  if (!you.includes(mark)) return [called(state, mark), " thinks"];
  return you.length === 1 ? ["", "Your move"] : [called(state, mark), " to move"];
}
