/** The board, for pointer, keyboard and screen reader; and the view of a game: the board and the controls around it. */

import { LINES, wonLines } from "./game.js";
import {
  announce,
  button,
  capitalised,
  h,
  load,
  memory,
  s,
  say,
  setAttribute,
  setText,
  setTitle,
  text,
  words,
} from "./page.js";

/**
 * @typedef {import("./game.js").Game} Game
 * @typedef {import("./game.js").GameEvent} GameEvent
 * @typedef {import("./game.js").Mark} Mark
 * @typedef {import("./page.js").Words} Words
 */

/**
 * The coach's label of a cell.
 * @typedef {{result: "win" | "draw" | "loss", sign: string, words: string, isBest?: boolean}} Label
 */

/**
 * @typedef {object} BoardView what the board shows
 * @property {(Mark | null)[]} cells
 * @property {Mark | null} playable the mark that may be placed here now
 * @property {{cell: number, mark: Mark} | null} pending a token that is being sent
 * @property {number | null} last the last cell taken
 * @property {number[][]} lines the lines that won
 * @property {Record<number, Label>} labels
 */

/** @type {BoardView} */
const EMPTY = {
  cells: Array(9).fill(null),
  playable: null,
  pending: null,
  last: null,
  lines: [],
  labels: {},
};
const DRAWING_MS = 180; // as in style.css
/** @type {Record<string, [number, number]>} */
const STEPS = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  Home: [0, -2],
  End: [0, 2],
};
const PLACES = [
  "top_left",
  "top",
  "top_right",
  "left",
  "middle",
  "right",
  "bottom_left",
  "bottom",
  "bottom_right",
];
const ROWS = ["top_row", "middle_row", "bottom_row"];
const COLUMNS = ["left_column", "middle_column", "right_column"];
const LINE_NAMES = [...ROWS, ...COLUMNS, "falling_diagonal", "rising_diagonal"];

/** A cell in words. @param {number} cell */
export const cellName = (cell) => say(`place.${PLACES[cell]}`);

/** A line in words, whatever the order of its cells. @param {number[]} line */
export const lineName = (line) =>
  say(`line.${LINE_NAMES[LINES.findIndex((one) => one.every((cell) => line.includes(cell)))]}`);

/**
 * <noughts-board> shows a view, and dispatches `play` when a cell is chosen and `look` when one is pointed at
 * or left. It does not check whether a move is legal.
 */
class NoughtsBoard extends HTMLElement {
  #view = EMPTY;
  /** @type {HTMLButtonElement[]} */
  #cells = [];
  #strike = s("svg", { class: "strike", viewBox: "0 0 300 300", "aria-hidden": "true" });
  /** What each cell shows: a cell is drawn again only if that changes. */
  #drawn = Array(9).fill("");
  #isFirst = true;
  #lastDrawing = -Infinity;

  connectedCallback() {
    if (this.#cells.length) return;
    this.#cells = PLACES.map((_, cell) =>
      h("button", {
        type: "button",
        role: "gridcell",
        class: "cell",
        "data-cell": cell,
        tabindex: cell ? -1 : 0,
        "aria-describedby": "advice", // of the coach, while it is shown
      }),
    );
    const rows = [0, 3, 6].map((at) =>
      h("div", { role: "row", class: "row" }, ...this.#cells.slice(at, at + 3)),
    );
    this.append(
      rules(),
      this.#strike, // behind the marks
      h("div", { role: "grid", class: "grid", "aria-label": say("page.board") }, ...rows),
    );
    this.addEventListener("click", (event) => this.#dispatch("play", cellOf(event)));
    this.addEventListener("keydown", (event) => this.#walk(event));
    this.addEventListener("focusin", (event) => {
      this.#rove(cellOf(event));
      this.#dispatch("look", cellOf(event));
    });
    this.addEventListener("focusout", () => this.#dispatch("look", null));
    // Holding a finger on a cell looks at it; sliding off again does not play it.
    this.addEventListener("pointerdown", (event) => this.#dispatch("look", cellOf(event)));
    this.addEventListener(
      "pointerover",
      (event) => event.pointerType === "mouse" && this.#dispatch("look", cellOf(event)),
    );
    this.addEventListener("pointerleave", () => this.#dispatch("look", this.focused));
    this.#render();
  }

  /** The cell that has the focus, if any. */
  get focused() {
    const cell = this.#cells.findIndex((one) => one === document.activeElement);
    return cell < 0 ? null : cell;
  }

  /** Show a position. @param {Partial<BoardView>} view */
  show(view) {
    this.#view = { ...EMPTY, ...view };
    if (!this.#cells.length) return;
    this.#render();
    this.#isFirst = false;
  }

  /** Focus the cell that last had the focus. @param {FocusOptions} [options] */
  focus(options) {
    this.#cells.find((cell) => cell.tabIndex === 0)?.focus(options);
  }

  #render() {
    const { last, lines, playable } = this.#view;
    const won = lines.flat();
    let isLate = false;
    for (const [cell, element] of this.#cells.entries()) {
      const { mark, waits, label } = this.#content(cell);
      const wanted = mark ?? `${playable} ${label?.result} ${label?.words}`;
      if (wanted !== this.#drawn[cell]) {
        const drawing = mark ? this.#drawing() : "ghost";
        const drawn = mark ?? playable;
        element.replaceChildren(
          ...(label && !mark ? [tag(label)] : []),
          ...(drawn ? [markOf(drawn, drawing)] : []),
        );
        this.#drawn[cell] = wanted;
        isLate ||= drawing.includes("answer");
      }
      element.classList.toggle("waits", waits);
      element.classList.toggle("best", !mark && Boolean(label?.isBest));
      element.classList.toggle("last", cell === last && !won.length);
      element.classList.toggle("faded", won.length > 0 && !won.includes(cell));
      setAttribute(element, "data-mark", mark);
      setAttribute(element, "aria-label", this.#name(cell));
      setAttribute(element, "aria-disabled", !playable || mark ? "true" : null);
    }
    this.#strikeOut(lines, isLate);
  }

  /** @param {number} cell */
  #content(cell) {
    const { cells, pending, labels } = this.#view;
    const held = cells[cell];
    const waiting = !held && pending?.cell === cell ? pending.mark : null;
    return { mark: held ?? waiting, waits: waiting !== null, label: labels[cell] };
  }

  /** @param {number} cell */
  #name(cell) {
    const { mark, waits, label } = this.#content(cell);
    const said = [mark ?? say("page.free")];
    if (waits) said.push(say("page.on_its_way"));
    if (!mark && label) said.push(label.words);
    if (!mark && label?.isBest) said.push(say("page.best"));
    if (this.#view.lines.flat().includes(cell)) said.push(say("page.in_winning_line"));
    else if (cell === this.#view.last) said.push(say("page.last_move"));
    return say("page.cell", { cell: capitalised(cellName(cell)), held: said.join(", ") });
  }

  /** How to draw a new mark; an immediate answer waits until the mark before it is drawn. */
  #drawing() {
    if (this.#isFirst) return "";
    const now = performance.now();
    const isAnswer = now - this.#lastDrawing < DRAWING_MS;
    this.#lastDrawing = now;
    return isAnswer ? "new answer" : "new";
  }

  /** @param {number[][]} lines @param {boolean} isLate whether the winning mark is still to be drawn */
  #strikeOut(lines, isLate) {
    const wanted = lines.join(" ");
    if (this.#strike.getAttribute("data-lines") === wanted) return;
    const mark = lines.length ? this.#view.cells[lines[0][0]]?.toLowerCase() : "";
    const drawing = this.#isFirst ? "" : isLate ? "new answer" : "new";
    setAttribute(this.#strike, "data-lines", wanted);
    setAttribute(this.#strike, "class", `strike ${mark} ${drawing}`);
    this.#strike.replaceChildren(
      ...lines.map(([from, , to]) => s("path", { d: through(from, to), pathLength: 1 })),
    );
  }

  /** @param {KeyboardEvent} event */
  #walk(event) {
    const step = STEPS[event.key];
    const from = this.focused;
    if (!step || from === null || event.altKey || event.metaKey) return;
    event.preventDefault();
    const isEdge = event.ctrlKey && (event.key === "Home" || event.key === "End");
    const row = isEdge ? (step[1] < 0 ? 0 : 2) : Math.floor(from / 3) + step[0];
    const column = (from % 3) + step[1];
    const inside = (/** @type {number} */ place) => Math.min(2, Math.max(0, place));
    this.#cells[3 * inside(row) + inside(column)].focus();
  }

  /** @param {number | null} to */
  #rove(to) {
    if (to === null) return;
    for (const [cell, element] of this.#cells.entries()) element.tabIndex = cell === to ? 0 : -1;
  }

  /** @param {"play" | "look"} what @param {number | null} cell */
  #dispatch(what, cell) {
    if (what === "play" && cell === null) return;
    this.dispatchEvent(new CustomEvent(what, { detail: { cell } }));
  }
}

/** @param {Event} event */
function cellOf({ target }) {
  const element = target instanceof Element && target.closest("[data-cell]");
  return element ? Number(element.getAttribute("data-cell")) : null;
}

/** The coach's label of a cell: sign, word and colour. @param {Label} label */
export const tag = ({ result, sign, words: said }) =>
  h("span", { class: `tag ${result}` }, h("i", { "aria-hidden": "true" }, sign), said);

/** @param {Mark} mark @param {string} drawing */
function markOf(mark, drawing) {
  const strokes =
    mark === "X"
      ? ["M16 16 84 84", "M84 16 16 84"].map((d) => s("path", { d, pathLength: 1 }))
      : [s("circle", { cx: 50, cy: 50, r: 37, pathLength: 1, transform: "rotate(-90 50 50)" })];
  const kind = `mark ${mark.toLowerCase()} ${drawing}`;
  return s("svg", { class: kind, viewBox: "0 0 100 100", "aria-hidden": "true" }, ...strokes);
}

function rules() {
  const lines = ["M100 6V294", "M200 6V294", "M6 100H294", "M6 200H294"];
  const attributes = { class: "rules", viewBox: "0 0 300 300", "aria-hidden": "true" };
  return s("svg", attributes, ...lines.map((d) => s("path", { d })));
}

/**
 * A line from just beyond the centre of one cell to just beyond that of another.
 * @param {number} from @param {number} to
 */
function through(from, to) {
  const [x1, y1, x2, y2] = [from % 3, Math.floor(from / 3), to % 3, Math.floor(to / 3)].map(
    (at) => 50 + 100 * at,
  );
  const [dx, dy] = [36 * Math.sign(x2 - x1), 36 * Math.sign(y2 - y1)];
  return `M${x1 - dx} ${y1 - dy} ${x2 + dx} ${y2 + dy}`;
}

customElements.define("noughts-board", NoughtsBoard);

// The view of a game

/**
 * @typedef {object} Action a button
 * @property {string} key its sentence in the catalogue, without the area
 * @property {() => void} act
 * @property {string} [label] if it is not in the catalogue
 * @property {boolean} [isMain]
 * @property {boolean} [isIdle] shown, but without effect
 * @property {boolean} [isPressed]
 * @property {boolean} [isCancel] whether Escape means it
 */

/**
 * @typedef {object} Prompt a question or a message, in place of the note
 * @property {Words} words
 * @property {Action[]} choices
 * @property {boolean} [isSaid] whether it has been announced
 */

/**
 * @typedef {object} Scene what the view of a game shows
 * @property {Game} game the position on the board
 * @property {GameEvent[]} events
 * @property {Words} status
 * @property {Words} [note] what else is to be said, below the status
 * @property {string} [mood] "won", if the player has won
 * @property {Mark | null} [playable]
 * @property {{cell: number, mark: Mark} | null} [pending]
 * @property {Record<number, Label>} [labels]
 * @property {(Action | false)[]} actions
 * @property {Prompt} [prompt]
 * @property {(mark: Mark) => string} called how a player is called
 * @property {boolean} [isHeld] whether news waits, because more is coming
 */

/** Load the part that says what decided a game. */
export const loadTurningPoint = () =>
  load(async () => {
    const part = await import("./turning_point.js");
    await part.loadMistakes();
    return part;
  });

/** @param {Words} said */
const newNote = (said) => h("p", { class: "note", "data-testid": "note" }, ...said);

/** The view of a game: made once and updated in place, so that the focus is not lost. */
export class GameView {
  #play;
  #status = h("h1", { class: "status", tabindex: "-1", "data-testid": "status" });
  #note = newNote([]);
  #row = h("div", { class: "row actions" });
  #prompt = h("div", { class: "prompt", "data-testid": "prompt" });
  #drawer;
  #board;
  /** @type {Map<string, {element: HTMLButtonElement, action: Action}>} */
  #buttons = new Map();
  /** @type {Scene | null} */
  #scene = null;
  #announcer = new Announcer();
  #left = new AbortController();
  /** The side of the screen, for what accompanies a game. */
  side;

  /**
   * @param {HTMLElement} place
   * @param {{play: (cell: number) => void, look?: (cell: number | null) => void, head?: Element[],
   *   choices?: Element[], kind?: string}} parts
   */
  constructor(place, { play, look = () => {}, head = [], choices = [], kind = "" }) {
    this.#play = play;
    this.#board = /** @type {NoughtsBoard} */ (document.createElement("noughts-board"));
    this.#board.addEventListener("play", (event) => play(/** @type {CustomEvent} */ (event).detail.cell));
    this.#board.addEventListener("look", (event) => look(/** @type {CustomEvent} */ (event).detail.cell));
    this.#drawer = h(
      "details",
      {
        class: "drawer",
        ontoggle: () => {
          memory.set("events", this.#drawer.open ? "open" : null);
          this.#logEvents();
        },
      },
      h("summary", {}, say("page.events")),
    );
    this.#drawer.open = memory.get("events") === "open";
    this.side = h("div", { class: "side" });
    place.replaceChildren(
      h(
        "div",
        { class: `game ${kind}` },
        h(
          "div",
          { class: "play" },
          this.#status,
          ...head,
          h("div", { class: "slot" }, ...choices, this.#note, this.#prompt),
          this.#board,
          this.#row,
        ),
        this.side,
        this.#drawer,
      ),
    );
    document.addEventListener("keydown", (event) => this.#key(event), { signal: this.#left.signal });
  }

  leave() {
    this.#left.abort();
    this.#announcer.stop();
  }

  get isLeft() {
    return this.#left.signal.aborted;
  }

  /** @param {Scene} scene */
  show(scene) {
    if (this.isLeft) return;
    const before = this.#scene;
    this.#scene = scene;
    const { game, status, note = [], mood = "", playable = null, pending = null, labels = {} } = scene;
    if (this.#status.textContent !== text(status)) this.#status.replaceChildren(...status);
    if (this.#note.textContent !== text(note)) this.#replaceNote(note);
    this.#status.dataset.mood = mood;
    setTitle(text(status));
    const last = game.moves.at(-1) ?? null;
    this.#board.show({ cells: game.cells, playable, pending, last, lines: wonLines(game), labels });
    this.#showActions(scene.actions.filter((action) => !!action));
    this.#showPrompt(scene.prompt ?? { words: [], choices: [] });
    this.#logEvents();
    this.#announcer.note(before, scene);
  }

  /**
   * Insert what goes with the board, and what is said about it.
   * @param {Element} below @param {Element} beside
   */
  insert(below, beside) {
    this.#row.after(below);
    this.side.prepend(beside);
  }

  /** Announce something beyond what is shown. @param {string} sentence */
  say(sentence) {
    if (!this.isLeft) this.#announcer.say(sentence);
  }

  /** Announce something with what is shown next. @param {string} sentence */
  announceNext(sentence) {
    this.#announcer.add(sentence);
  }

  focusStatus() {
    this.#status.focus({ preventScroll: true });
  }

  focusBoard() {
    this.#board.focus({ preventScroll: true });
  }

  /** @param {string} key */
  focusAction(key) {
    this.#buttons.get(key)?.element.focus();
  }

  /** Write another note; it is a new element, because its place may be another. @param {Words} said */
  #replaceNote(said) {
    const note = newNote(said);
    note.hidden = this.#note.hidden;
    this.#note.replaceWith(note);
    this.#note = note;
  }

  /** @param {Action[]} actions */
  #showActions(actions) {
    const wanted = new Set(actions.map(({ key }) => key));
    for (const [key, { element }] of this.#buttons) {
      if (wanted.has(key)) continue;
      if (element === document.activeElement) this.focusStatus();
      element.remove();
      this.#buttons.delete(key);
    }
    for (const [at, action] of actions.entries()) {
      const { key, label = say(`page.${key}`), isMain, isIdle, isPressed } = action;
      const known = this.#buttons.get(key);
      const element = known?.element ?? button(label, () => this.#buttons.get(key)?.action.act());
      this.#buttons.set(key, { element, action });
      setText(element, label);
      element.classList.toggle("main", Boolean(isMain || isPressed));
      setAttribute(element, "aria-disabled", isIdle ? "true" : null);
      setAttribute(element, "aria-pressed", isPressed);
      if (this.#row.children[at] !== element) this.#row.insertBefore(element, this.#row.children[at] ?? null);
    }
  }

  /** @param {{words: Words, choices: Action[]}} prompt */
  #showPrompt({ words: said, choices }) {
    const wanted = JSON.stringify([text(said), choices.map(({ key }) => key)]);
    if (this.#prompt.dataset.shows === wanted) return;
    const hadFocus = this.#prompt.contains(document.activeElement);
    this.#prompt.dataset.shows = wanted;
    this.#prompt.replaceChildren(
      h("p", {}, ...said),
      ...choices.map(({ key, act, label = say(`page.${key}`) }) => button(label, act)),
    );
    this.#note.hidden = text(said) !== "";
    if (choices.length) this.#prompt.scrollIntoView({ block: "nearest" });
    else if (hadFocus) this.focusStatus();
  }

  /** Focus the last answer to a question, which changes nothing. */
  focusPrompt() {
    const answers = this.#prompt.querySelectorAll("button");
    answers[answers.length - 1]?.focus();
  }

  /**
   * A digit plays its cell from anywhere on the screen, except in text fields.
   * @param {KeyboardEvent} event
   */
  #key(event) {
    const isDigit = /^[1-9]$/.test(event.key) && memory.get("digits") !== false;
    const isTyping =
      event.target instanceof Element &&
      event.target.closest("input:not([type=radio]), textarea, select, dialog");
    if (isTyping || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Escape") {
      this.#scene?.prompt?.choices.find(({ isCancel }) => isCancel)?.act();
    } else if (isDigit) {
      event.preventDefault();
      this.#play(Number(event.key) - 1);
    }
  }

  async #logEvents() {
    if (!this.#drawer.open || !this.#scene) return;
    const log = await load(() => import("./event_log.js"));
    log?.showEvents(this.#drawer, this.#scene.events);
  }
}

const ANNOUNCE_DELAY_MS = 60; // what happens within this time is announced together

/** Announces each move, and then the status on the screen. */
class Announcer {
  #news = "";
  #announced = { status: "", note: "", prompt: "" };
  #timer = 0;
  /** @type {Scene | null} */
  #scene = null;

  /** @param {Scene | null} before @param {Scene} now */
  note(before, now) {
    this.#scene = now;
    if (!before) {
      this.#announced = announced(now); // as the title of a new screen
      return;
    }
    this.#news += newsOf(before, now);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.say(""), ANNOUNCE_DELAY_MS);
  }

  /** @param {string} sentence */
  add(sentence) {
    this.#news += `${sentence} `;
  }

  /** Announce something now, after what is pending. @param {string} sentence */
  say(sentence) {
    const due = [this.#timer ? this.#due() : "", sentence].filter(Boolean).join(". ");
    if (due) announce(due);
  }

  stop() {
    clearTimeout(this.#timer);
    this.#timer = 0;
  }

  /** What is to be announced; it is not due again. */
  #due() {
    this.stop();
    if (!this.#scene) return "";
    const before = this.#announced;
    const { status, note, prompt } = announced(this.#scene);
    const isStatusDue = status !== before.status || (this.#news && !this.#scene.isHeld);
    const due = [
      isStatusDue && this.#news + status,
      note !== before.note && note,
      prompt !== before.prompt && prompt,
    ];
    if (isStatusDue) this.#news = "";
    this.#announced = { status, note, prompt };
    return due.filter(Boolean).join(". ");
  }
}

/** The sentences of a scene that are announced. @param {Scene} scene */
const announced = ({ status, note = [], game, prompt }) => ({
  status: text(status),
  note: game.over ? text(note) : "", // what decided the game
  prompt: prompt && !prompt.isSaid ? text(prompt.words) : "",
});

/** What has happened since the last scene. @param {Scene} before @param {Scene} now */
function newsOf({ events: known }, { events, called }) {
  const isContinued = known.every((event, at) => event.event === events[at]?.event);
  return isContinued
    ? events
        .slice(known.length)
        .map((event) => newsOfEvent(event, called))
        .join("")
    : "";
}

/** @param {GameEvent} event @param {(mark: Mark) => string} called */
function newsOfEvent(event, called) {
  switch (event.event) {
    case "playerPlacedToken":
      return `${say("page.took", { player: called(event.mark), cell: cellName(3 * event.row + event.column) })} `;
    case "playerTookBack":
      return `${say("page.took_back", { player: called(event.mark) })} `;
    case "playerResigned":
      return `${say("page.resigned", { player: called(event.mark) })} `;
    case "playerJoined":
      return `${say("page.joined", { player: called(event.mark) })} `;
    default:
      return "";
  }
}

/**
 * The words for a player who moves, wins or thinks.
 * @param {string} key
 * @param {Mark} mark
 * @param {Mark[]} you
 * @param {(mark: Mark) => Node | string} called
 * @returns {Words}
 */
export const about = (key, mark, you, called) =>
  you.length === 1 && you[0] === mark
    ? words(`page.you_${key}`)
    : words(`page.${key}`, { player: called(mark) });
