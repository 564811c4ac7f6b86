/** What decided a game, in one sentence: the coach's, from the last mistake. */

import { cellName, lineName } from "./board.js";
import { classOf, gameOf, other, turn } from "./game.js";
import { readData, say } from "./page.js";

/**
 * @typedef {import("./game.js").Game} Game
 * @typedef {import("./game.js").Mark} Mark
 */

/**
 * The mistakes of every open position, with the cells and lines of the class of its images.
 * @type {Record<string, Record<number, string>>}
 */
let mistakes = {};
let isLoaded = false;

/** Load what `turningPoint` needs. */
export async function loadMistakes() {
  if (!isLoaded) mistakes = await readData("mistakes.json");
  isLoaded = true;
}

/** @param {Game} game @param {(mark: Mark) => string} called */
export function turningPoint({ moves, first, winner }, called) {
  for (let number = moves.length; number > 0; number--) {
    const before = gameOf(moves.slice(0, number - 1), first);
    const cell = moves[number - 1];
    const { text, cells } = classOf(before);
    const found = mistakes[text]?.[cells.indexOf(cell)];
    if (!found) continue;
    const mover = turn(before);
    const mistake = found.replace(/\{(\w)(\w+)\}/g, (_, kind, at) => {
      if (kind === "o") return called(other(mover));
      const places = [...at].map((digit) => cells[Number(digit)]);
      return kind === "c" ? cellName(places[0]) : lineName(places);
    });
    const key = winner ? "review.turned" : "review.cancelled";
    return say(key, { number, player: called(mover), cell: cellName(cell), mistake });
  }
  return say("review.flawless");
}
