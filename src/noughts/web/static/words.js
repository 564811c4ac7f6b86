/**
 * Every position as a sentence: the same as Python's `noughts.words.describe`, and held against it.
 *
 * @typedef {import("./game.js").Game} Game
 * @typedef {import("./game.js").Mark} Mark
 */

import { active, other, player, winningCells } from "./game.js";

/** Tell a game in one sentence, cells counted 1 to 9 as people type them. @param {Game} game */
export function describe(game) {
  const held = [game.first, other(game.first)]
    .map((mark) => [mark, [...game.cells.keys()].filter((cell) => game.cells[cell] === mark)])
    .filter(([, cells]) => cells.length)
    .map(([mark, cells]) => `${who(game, mark)} on ${numbers(cells)}`);
  return `${held.join(", ") || "The board is empty"}; ${standing(game)}.`;
}

/** Tell how a game stands: who won and how, a draw, or who is to move. @param {Game} game */
export function standing(game) {
  const mark = active(game);
  if (mark) return `${who(game, mark)} to move`;
  if (!game.winner) return "the game is drawn";
  const winner = who(game, game.winner);
  if (game.resigned) return `${who(game, game.resigned)} resigned and ${winner} won`;
  return `${winner} won with ${numbers(winningCells(game))}`;
}

/** A player by name and mark, or by mark alone. @param {Game} game @param {Mark} mark */
export function who(game, mark) {
  const seated = player(game, mark);
  return seated ? `${seated.name} (${mark})` : mark;
}

/** Cells counted as people count them: "1, 2 and 3". @param {number[]} cells @param {string} last */
export function numbers(cells, last = "and") {
  const said = cells.map((cell) => cell + 1);
  return said.length > 1 ? `${said.slice(0, -1).join(", ")} ${last} ${said.at(-1)}` : `${said[0]}`;
}
