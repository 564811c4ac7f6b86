/** The view of a game: created once, and updated in place, so that the focus is not lost. */

import { BASE } from "./base.js";
import "./board.js";
import { button, copyButton, h, name, setAttribute, setText } from "./dom.js";
import { eventsDrawer } from "./drawer.js";
import { digits, wonLines } from "./game.js";
import { seatsRow } from "./seats.js";
import { sentence } from "./sentence.js";

/**
 * @typedef {object} Sight what to show
 * @property {import("./sentence.js").State} state
 * @property {import("./game.js").Game} shown the position on the board: the current one, or one under review
 * @property {"X" | "O" | null} playable
 * @property {Record<number, object>} labels the coach's
 * @property {string} coaching the coach's text, empty while it is off
 * @property {boolean} isReviewing
 * @property {boolean} hasPanel whether a panel replaces the board before the game
 * @property {import("./slot.js").Slot} slot
 * @property {Record<string, {isIdle?: boolean, isPressed?: boolean} | null>} actions the available ones
 */

const BUTTONS = {
  takeBack: "Take back",
  coach: "Coach",
  resign: "Resign",
  rematch: "Rematch",
  review: "Review",
};

export class View {
  #acts;
  #context;
  #status = h("h1", { class: "status", tabindex: "-1", "data-testid": "status" });
  #slot = h("div", { class: "slot", "data-testid": "slot" });
  #coaching = h("p", { class: "why", "data-testid": "coach" });
  #coach = h("section", { class: "coach", "aria-label": "Coach" }, h("h2", {}, "Coach"), this.#coaching);
  #panel = h("div", { class: "panel" });
  #watching = h("span", { class: "quiet", "data-testid": "watching" });
  #seats = seatsRow();
  #drawer = eventsDrawer();
  #buttons;
  #row;
  #link;
  #board;
  #table;
  #game = null;

  /**
   * @param {HTMLElement} place
   * @param {import("./app.js").Context} context
   * @param {string} id
   * @param {Record<string, (...given: unknown[]) => void>} acts the actions of players, by name
   */
  constructor(place, context, id, acts) {
    this.#acts = acts;
    this.#context = context;
    this.#board = h("noughts-board", {
      onplay: ({ detail }) => acts.play(detail.cell),
      onlook: ({ detail }) => acts.look(detail.cell),
    });
    const doing = { ...acts, resign: acts.ask };
    this.#buttons = Object.fromEntries(
      Object.entries(BUTTONS).map(([act, label]) => [act, button(label, doing[act])]),
    );
    this.#buttons.replay = copyButton("Replay link", () => location.origin + replayPath(this.#game), {
      class: "btn",
    });
    this.#row = h("div", { class: "row" }, ...Object.values(this.#buttons));
    this.#link = copyButton("Copy link", () => `${location.origin}${BASE}/game/${id}`, { class: "quiet" });
    this.#table = h(
      "div",
      { class: "table" },
      h(
        "div",
        { class: "play" },
        this.#seats.element,
        this.#status,
        this.#panel,
        this.#board,
        this.#row,
        this.#slot,
      ),
      h("div", { class: "side" }, this.#coach, this.#drawer.element),
    );
    const hadFocus = place.contains(document.activeElement);
    place.replaceChildren(this.#table);
    if (hadFocus) this.focusSentence();
    context.tools.prepend(this.#watching, this.#link);
  }

  /** @param {Sight} sight */
  show(sight) {
    const { state, shown, hasPanel, coaching, isReviewing } = sight;
    this.#game = state.game;
    this.#showSentence(state);
    this.#seats.show(state);
    this.#drawer.show(state.events);
    this.#board.show({
      cells: shown.cells,
      playable: sight.playable,
      pending: isReviewing ? null : state.pending,
      last: shown.moves.at(-1) ?? null,
      lines: wonLines(shown),
      labels: sight.labels,
    });
    this.#coach.hidden = !coaching;
    setText(this.#coaching, coaching);
    setText(this.#watching, state.room.watching && !hasPanel ? `${state.room.watching} watching` : "");
    this.#table.classList.toggle("before", hasPanel);
    this.#panel.hidden = !hasPanel;
    for (const part of [this.#board, this.#row, this.#link]) part.hidden = hasPanel;
    this.#showActions(sight.actions);
    this.#showSlot(sight.slot);
  }

  /** Replace the board with a panel until the game can start. */
  fillPanel(content) {
    this.#panel.replaceChildren(...(content ? [content] : []));
  }

  /** Show the slider and the comments of a review. */
  beginReview({ slider, words }) {
    this.#slot.before(slider);
    this.#coach.before(words);
    slider.querySelector("input").focus({ preventScroll: true });
  }

  /** Where to move the focus when the focused element disappears. */
  focusSentence() {
    this.#status.focus({ preventScroll: true });
  }

  focusBoard() {
    this.#board.focus({ preventScroll: true });
  }

  focusSlot() {
    this.#slot.querySelector("button")?.focus();
  }

  focusButton(act) {
    this.#buttons[act].focus();
  }

  #showSentence(state) {
    const [start, rest] = sentence(state);
    if (this.#status.textContent !== start + rest)
      this.#status.replaceChildren(...(start ? [name(start)] : []), rest);
    this.#context.title(start + rest);
  }

  #showActions(actions) {
    for (const [act, element] of Object.entries(this.#buttons)) {
      const { isIdle, isPressed } = actions[act] || {};
      if (!actions[act] && element === document.activeElement) this.focusSentence();
      element.hidden = !actions[act];
      setAttribute(element, "aria-disabled", isIdle ? "true" : null);
      if (isPressed !== undefined) element.setAttribute("aria-pressed", isPressed);
    }
    this.#buttons.rematch.classList.add("main");
    this.#buttons.coach.classList.toggle("main", Boolean(actions.coach?.isPressed));
    this.#buttons.review.classList.toggle("on", Boolean(actions.review?.isPressed));
  }

  #showSlot({ words, choices }) {
    const wanted = JSON.stringify([words, choices]);
    if (this.#slot.dataset.shows === wanted) return;
    this.#slot.dataset.shows = wanted;
    const [start, rest] = words;
    const hadFocus = this.#slot.contains(document.activeElement);
    this.#slot.replaceChildren(
      h("p", {}, start && name(start), rest),
      ...choices.map(([label, act]) => button(label, this.#acts[act])),
    );
    if (hadFocus) this.focusSentence();
  }
}

/** The address that replays a game from its moves. */
function replayPath(game) {
  return `${BASE}/replay/${digits(game)}${game.first === "O" ? "?first=O" : ""}`;
}
