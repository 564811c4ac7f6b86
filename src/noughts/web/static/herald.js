/** Announces a game to screen readers: each move, and then the status on the screen. */

import { announce } from "./dom.js";
import { about, called, sentence } from "./sentence.js";

const TOGETHER = 60; // ms: events within this time are announced together

/**
 * @param {import("./sentence.js").State} state
 * @param {() => void} show updates the screen
 * @returns {{tell: (event: object | null) => void, say: (text: string) => void, stop: () => void}}
 */
export function herald(state, show) {
  let news = "";
  let announced = "";
  let timer = 0;

  function tell(event) {
    news += event ? said(state, event) : "";
    clearTimeout(timer);
    timer = setTimeout(() => say(""), TOGETHER);
  }

  /** Announce something now, after pending announcements, without replacing them. */
  function say(text) {
    const words = [timer ? due() : "", text].filter(Boolean).join(". ");
    if (words) announce(words);
  }

  /** Return what is to be announced, and mark it as announced. */
  function due() {
    stop();
    show(); // show before announcing
    const now = sentence(state).join("");
    // Moves that arrive during a reconnection wait until it is complete, so that all are announced once.
    if (now === announced && (!news || !state.open)) return "";
    const words = news + now;
    news = "";
    announced = now;
    return words;
  }

  function stop() {
    clearTimeout(timer);
    timer = 0;
  }

  return { tell, say, stop };
}

function said(state, { event, row, column, mark }) {
  if (event === "playerPlacedToken") return line(state, mark, ` on ${3 * row + column + 1}. `);
  if (event === "playerTookBack") return line(state, mark, " took back. ");
  if (event === "playerResigned") return line(state, mark, " resigned. ");
  return event === "playerJoined" && !state.you.includes(mark) ? `${called(state, mark)} joined. ` : "";
}

const line = (state, mark, rest) => about(state, mark, rest).join("");
