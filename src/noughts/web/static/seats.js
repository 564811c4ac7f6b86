/** The players: marks, names, presence and score. */

import { chip, h, name, setText } from "./dom.js";
import { active } from "./game.js";
import { called } from "./sentence.js";

/** @returns {{element: HTMLElement, show: (state: import("./sentence.js").State) => void}} */
export function seatsRow() {
  const seats = { X: seat("X"), O: seat("O") };
  const points = h("span", { class: "points" });
  const more = h("small");
  const score = h("div", { class: "score", "data-testid": "score" }, points, more);
  const element = h(
    "div",
    { class: "players", role: "group", "aria-label": "Players" },
    seats.X.element,
    score,
    seats.O.element,
  );

  function show(state) {
    const now = tally(state);
    for (const mark of ["X", "O"]) {
      const { element: place, who, how } = seats[mark];
      const { taken } = state.room.seats[mark];
      place.classList.toggle("turn", state.game.ready && active(state.game) === mark);
      setText(who, taken ? called(state, mark) : "Free");
      setText(how, taken ? presence(state, mark) : "nobody yet");
    }
    setText(points, `${now.X} – ${now.O}`);
    setText(more, now.draws ? `${now.draws} drawn` : "");
    score.setAttribute("aria-label", `Score: X ${now.X}, O ${now.O}, draws ${now.draws}`);
    score.setAttribute("role", "img");
    score.classList.toggle("unplayed", now.X + now.O + now.draws === 0);
  }

  return { element, show };
}

function seat(mark) {
  const who = name("");
  const how = h("small");
  const element = h(
    "div",
    { class: `p ${mark.toLowerCase()}`, "data-testid": `seat-${mark}` },
    chip(mark),
    h("span", { class: "id" }, h("strong", {}, who), how),
    h("span", { class: "unseen" }, `plays ${mark}`),
  );
  return { element, who, how };
}

function presence({ game, you, room }, mark) {
  const isActive = game.ready && active(game) === mark;
  if (you.length === 2) return isActive ? "to move" : game.over ? "\u00a0" : "waits";
  if (you.includes(mark)) return isActive ? "you, to move" : "you";
  if (room.seats[mark].bot) return "computer";
  return room.seats[mark].present ? "connected" : "away";
}

/** The score of the earlier games, and of this one once it is over. */
function tally({ game, room }) {
  const { X, O, draws } = room.score;
  if (!game.over) return { X, O, draws };
  return { X: X + (game.winner === "X"), O: O + (game.winner === "O"), draws: draws + !game.winner };
}
