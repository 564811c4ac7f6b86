/**
 * <noughts-board>: the board, for pointer, keyboard and screen reader.
 *
 * It shows a view, and dispatches `play` when a cell is chosen and `look` when one is pointed at or left.
 * It does not check whether a move is legal.
 */

import { h, s, setAttribute } from "./dom.js";

/**
 * @typedef {object} View
 * @property {("X" | "O" | null)[]} cells
 * @property {"X" | "O" | null} playable the mark that may be placed here now
 * @property {{cell: number, mark: "X" | "O"} | null} pending a token that is being sent
 * @property {number | null} last the last cell taken
 * @property {number[][]} lines the lines that won
 * @property {Record<number, {result: string, sign: string, words: string}>} labels the coach's
 */

const EMPTY = {
  cells: Array(9).fill(null),
  playable: null,
  pending: null,
  last: null,
  lines: [],
  labels: {},
};
const DRAWING = 180; // ms, as in style.css
const STEPS = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  Home: [0, -2],
  End: [0, 2],
};

class NoughtsBoard extends HTMLElement {
  #view = EMPTY;
  #cells = [];
  #strike = null;
  #drawn = Array(9).fill("");
  #isFirst = true;
  #lastDrawing = -Infinity;

  connectedCallback() {
    if (this.#cells.length) return;
    this.#cells = Array.from({ length: 9 }, (_, cell) =>
      h("button", {
        type: "button",
        role: "gridcell",
        class: "cell",
        "data-cell": cell,
        tabindex: cell ? "-1" : "0",
      }),
    );
    const rows = [0, 3, 6].map((at) =>
      h("div", { role: "row", class: "row" }, ...this.#cells.slice(at, at + 3)),
    );
    this.#strike = s("svg", { class: "strike", viewBox: "0 0 300 300", "aria-hidden": "true" });
    this.append(
      rules(),
      h(
        "div",
        { role: "grid", class: "grid", "aria-label": this.getAttribute("label") ?? "Board" },
        ...rows,
      ),
      this.#strike,
    );
    this.addEventListener("click", (event) => this.#tell("play", cellOf(event)));
    this.addEventListener("keydown", (event) => this.#walk(event));
    this.addEventListener("focusin", (event) => {
      this.#rove(cellOf(event));
      this.#tell("look", cellOf(event));
    });
    this.addEventListener("focusout", () => this.#tell("look", null));
    // Holding a finger on a cell looks at it; sliding off again does not play it.
    this.addEventListener("pointerdown", (event) => this.#tell("look", cellOf(event)));
    this.addEventListener(
      "pointerover",
      (event) => event.pointerType === "mouse" && this.#tell("look", cellOf(event)),
    );
    this.addEventListener("pointerleave", () => this.#tell("look", this.focused));
    this.#render();
  }

  /** The cell that has the focus, if any. */
  get focused() {
    const cell = this.#cells.indexOf(document.activeElement);
    return cell < 0 ? null : cell;
  }

  /** Show a position. @param {Partial<View>} view */
  show(view) {
    this.#view = { ...EMPTY, ...view };
    if (this.#cells.length) this.#render();
  }

  /** Focus the cell that last had the focus. */
  focus(options) {
    this.querySelector('.cell[tabindex="0"]').focus(options);
  }

  #render() {
    const { last, lines } = this.#view;
    const won = lines.flat();
    for (const [cell, element] of this.#cells.entries()) {
      const { mark, waits, label } = this.#content(cell);
      const wanted = mark ? mark : label ? `${label.result} ${label.words}` : "";
      if (wanted !== this.#drawn[cell]) {
        element.replaceChildren(...(mark ? [this.#mark(mark)] : label ? [tag(label)] : []));
        this.#drawn[cell] = wanted;
      }
      element.classList.toggle("waits", waits);
      element.classList.toggle("last", cell === last && !won.length);
      element.classList.toggle("faded", won.length > 0 && !won.includes(cell));
      setAttribute(element, "data-mark", mark);
      setAttribute(element, "aria-label", this.#name(cell));
      setAttribute(element, "aria-disabled", !this.#view.playable || mark ? "true" : null);
    }
    this.#strikeOut(lines);
    this.#isFirst = false;
  }

  #content(cell) {
    const { cells, pending, labels } = this.#view;
    const waits = !cells[cell] && pending?.cell === cell;
    return { mark: waits ? pending.mark : cells[cell], waits, label: labels[cell] ?? null };
  }

  #name(cell) {
    const { mark, waits, label } = this.#content(cell);
    const said = [mark ?? "free"];
    if (waits) said.push("on its way");
    if (!mark && label) said.push(label.words);
    if (this.#view.lines.flat().includes(cell)) said.push("in the winning line");
    else if (cell === this.#view.last) said.push("last move");
    return `Cell ${cell + 1}: ${said.join(", ")}`;
  }

  /** Animate a new mark; an immediate answer waits until the mark before it is drawn. */
  #mark(mark) {
    const now = performance.now();
    const isAnswer = now - this.#lastDrawing < DRAWING;
    const drawing = this.#isFirst ? "" : isAnswer ? " new answer" : " new";
    if (drawing) this.#lastDrawing = now;
    const strokes =
      mark === "X"
        ? [
            s("path", { d: "M16 16 84 84", pathLength: 1 }),
            s("path", { d: "M84 16 16 84", pathLength: 1 }),
          ]
        : [s("circle", { cx: 50, cy: 50, r: 37, pathLength: 1, transform: "rotate(-90 50 50)" })];
    return s(
      "svg",
      { class: `mark ${mark.toLowerCase()}${drawing}`, viewBox: "0 0 100 100", "aria-hidden": "true" },
      ...strokes,
    );
  }

  #strikeOut(lines) {
    const wanted = lines.join(" ");
    if (this.#strike.dataset.lines === wanted) return;
    this.#strike.dataset.lines = wanted;
    const mark = lines.length ? this.#view.cells[lines[0][0]].toLowerCase() : "";
    this.#strike.setAttribute("class", `strike ${mark}${this.#isFirst ? "" : " new"}`);
    this.#strike.replaceChildren(
      ...lines.map(([from, , to]) => s("path", { d: through(from, to), pathLength: 1 })),
    );
  }

  #walk(event) {
    const from = cellOf(event);
    const step = STEPS[event.key];
    if (from === null || !step || event.altKey || event.metaKey) return;
    event.preventDefault();
    const isEdge = event.ctrlKey && step[0] === 0;
    const row = isEdge ? (step[1] < 0 ? 0 : 2) : Math.floor(from / 3) + step[0];
    const column = (from % 3) + step[1];
    const inside = (place) => Math.min(2, Math.max(0, place));
    this.#cells[3 * inside(row) + inside(column)].focus();
  }

  #rove(to) {
    if (to === null) return;
    for (const [cell, element] of this.#cells.entries()) element.tabIndex = cell === to ? 0 : -1;
  }

  #tell(what, cell) {
    if (what === "play" && cell === null) return;
    this.dispatchEvent(new CustomEvent(what, { detail: { cell } }));
  }
}

function cellOf(event) {
  const element = event.target.closest?.("[data-cell]");
  return element ? Number(element.dataset.cell) : null;
}

/** The coach's label of a cell: sign, word and colour. */
export function tag({ result, sign, words }) {
  return h("span", { class: `tag ${result}` }, h("i", { "aria-hidden": "true" }, sign), words);
}

function rules() {
  const lines = ["M100 6V294", "M200 6V294", "M6 100H294", "M6 200H294"];
  return s(
    "svg",
    { class: "rules", viewBox: "0 0 300 300", "aria-hidden": "true" },
    ...lines.map((d) => s("path", { d })),
  );
}

/** A line from just beyond the centre of one cell to just beyond that of another. */
function through(from, to) {
  const [x1, y1, x2, y2] = [from % 3, Math.floor(from / 3), to % 3, Math.floor(to / 3)].map(
    (at) => 50 + 100 * at,
  );
  const beyond = ([a, b]) => Math.sign(b - a) * 36;
  const [dx, dy] = [beyond([x1, x2]), beyond([y1, y2])];
  return `M${x1 - dx} ${y1 - dy} ${x2 + dx} ${y2 + dy}`;
}

customElements.define("noughts-board", NoughtsBoard);
