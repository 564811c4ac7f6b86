/** What a screen reader hears of a game: each move, and how the game stands then. */

import { announce } from "./dom.js";
import { describe, who } from "./words.js";

const TOGETHER = 60; // ms: events that come within it are told in one breath

/** @param {import("./sentence.js").State} state @returns {{tell: (event: object | null) => void, stop: () => void}} */
export function herald(state) {
  let news = "";
  let timer = 0;

  function tell(event) {
    news += event ? said(state.game, event) : "";
    clearTimeout(timer);
    timer = setTimeout(() => {
      announce(news + describe(state.game));
      news = "";
    }, TOGETHER);
  }

  return { tell, stop: () => clearTimeout(timer) };
}

function said(game, { event, row, column, mark, name }) {
  if (event === "playerPlacedToken") return `${who(game, mark)} on ${3 * row + column + 1}. `;
  if (event === "playerTookBack") return `${who(game, mark)} took back. `;
  return event === "playerJoined" ? `${name} joined. ` : "";
}
