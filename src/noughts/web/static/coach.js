/** The coach's advice on the moves of a position. */

import { get } from "./ask.js";

const SIGNS = { win: "▲", draw: "=", loss: "▼" };
const VERBS = { win: "wins", loss: "loses" };

/** The word and sign of a result on the board. */
export const label = ({ result, distance }) => ({
  result,
  sign: SIGNS[result],
  words: result === "draw" ? "draw" : `${VERBS[result]} in ${distance}`,
});

export class Coach {
  #known = new Map();
  #asked = new Set();
  #changed;

  /** The server's reason for giving no advice. @type {string | null} */
  failure = null;

  /** @param {() => void} changed called when advice has arrived */
  constructor(changed) {
    this.#changed = changed;
  }

  /** The advice on a position, or null until it is known. */
  advise(board, first) {
    const question = `/analysis?board=${board}&first=${first}`;
    if (!this.#known.has(question)) this.#ask(question);
    return this.#known.get(question) ?? null;
  }

  async #ask(question) {
    if (this.#asked.has(question)) return;
    this.#asked.add(question);
    try {
      this.#known.set(question, readable(await get(question)));
      this.failure = null;
    } catch (error) {
      this.failure = error.message;
      setTimeout(() => {
        this.#asked.delete(question);
        this.#changed();
      }, 3000);
    }
    this.#changed();
  }
}

function readable({ turn, prospect, moves }) {
  const labels = Object.fromEntries(moves.map((advice) => [advice.cell, label(advice)]));
  const said = Object.fromEntries(moves.map((advice) => [advice.cell, advice.sentence]));
  const best = moves.filter((advice) => advice.best).map((advice) => advice.cell);
  const worth = prospect.result === "draw" ? "draw" : `${prospect.result} in ${prospect.distance}`;
  const whole = `${turn} to move: ${worth}. Best: ${either(best)}. ${said[best[0]]}`;
  return { labels, say: (cell) => said[cell] ?? whole };
}

/** Cells counted from 1: "1, 2 or 3". @param {number[]} cells */
function either(cells) {
  const said = cells.map((cell) => cell + 1);
  return said.length > 1 ? `${said.slice(0, -1).join(", ")} or ${said.at(-1)}` : `${said[0]}`;
}
