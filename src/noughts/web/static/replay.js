/** Replays a game from the digits in its address. */

import { BASE } from "./base.js";
import "./board.js";
import { h, setText } from "./dom.js";
import { eventsDrawer } from "./drawer.js";
import { active, eventsOf, fold, wonLines } from "./game.js";
import { reviewPanel } from "./review.js";

const REFUSALS = {
  gameOver: "the game was over by then",
  noSuchCell: "moves are the digits 1 to 9",
  cellTaken: "the cell was taken already",
};

export function mount(place, context, digits) {
  context.title("Replay");
  const first = new URLSearchParams(location.search).get("first") === "O" ? "O" : "X";
  const moves = [...digits].map((digit) => (/^[1-9]$/.test(digit) ? Number(digit) - 1 : NaN));
  let events;
  try {
    events = eventsOf(moves, first);
  } catch (error) {
    refuse(place, error.message);
    return () => {};
  }
  const game = fold(events);
  const status = h("h1", { class: "status", tabindex: "-1", "data-testid": "status" });
  const board = h("noughts-board");
  const drawer = eventsDrawer();

  function show(step) {
    const soFar = eventsOf(moves.slice(0, step), first);
    const shown = fold(soFar);
    board.show({ cells: shown.cells, last: shown.moves.at(-1) ?? null, lines: wonLines(shown) });
    drawer.show(soFar);
    setText(status, shown.over ? outcome(shown) : `${active(shown)} to move`);
  }

  const review = reviewPanel(game, (mark) => mark, show);
  place.append(
    h(
      "div",
      { class: "table" },
      h("div", { class: "play" }, status, board, review.slider),
      h("div", { class: "side" }, review.words, drawer.element),
    ),
  );
  show(moves.length);
  return () => {};
}

const outcome = (game) => (game.winner ? `${game.winner} won` : "Draw");

function refuse(place, message) {
  const [, number, code] = /^move (\d+): (\w+)$/.exec(message) ?? [];
  place.append(
    h(
      "div",
      { class: "hero" },
      h("h1", { tabindex: "-1" }, "That is not a valid game."),
      h("p", {}, code ? `Move ${number}: ${REFUSALS[code]}.` : message),
      h("a", { class: "btn", href: `${BASE}/` }, "To the start"),
    ),
  );
}
