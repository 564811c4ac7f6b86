/** What a screen reader announces of a game: each move, and then the sentence that is on the screen. */

import { announce } from "./dom.js";
import { about, called, sentence } from "./sentence.js";

const TOGETHER = 60; // ms: events that come within it are announced in one breath

/**
 * @param {import("./sentence.js").State} state
 * @param {() => void} show brings the screen up to date
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

  /** Announce something now, after what waits to be announced: neither takes the other's place. */
  function say(text) {
    const words = [timer ? due() : "", text].filter(Boolean).join(". ");
    if (words) announce(words);
  }

  /** Return what there is to announce; from then on it counts as announced. */
  function due() {
    stop();
    show(); // nothing is announced before it can be seen
    const now = sentence(state).join("");
    // Moves that come while the page reconnects wait until it is connected, so that it says so once.
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
