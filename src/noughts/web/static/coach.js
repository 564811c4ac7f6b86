/** The coach and the review: what they add to the view of a game. */

import { get } from "./api.js";
import { cellName, tag } from "./board.js";
import { boardText, digits, gameOf, turn } from "./game.js";
import { announce, button, capitalised, h, say, setAttribute, setText } from "./page.js";

/**
 * @typedef {import("./game.js").Game} Game
 * @typedef {import("./game.js").Mark} Mark
 * @typedef {import("./board.js").Scene} Scene
 * @typedef {import("./board.js").Label} Label
 * @typedef {{cell: number, result: "win" | "draw" | "loss", distance: number, best: boolean, sentence: string}} Advice
 * @typedef {{labels: Record<number, Label>, said: Record<number, string>, summary: string}} Lesson
 */

const RETRY_MS = 3000;
const SIGNS = { win: "▲", draw: "=", loss: "▼" };

/** @param {Advice} advice @returns {Label} */
const label = ({ result, distance }) => ({
  result,
  sign: SIGNS[result],
  words: say(`page.worth_${result}`, { distance }),
});

export class Assistant {
  #view;
  #changed;
  /** @type {Map<string, Lesson>} */
  #known = new Map();
  #asked = new Set();
  /** About the position that is shown. */
  #question = "";
  #failure = "";
  /** @type {number | null} */
  #looked = null;
  #text = h("p", { id: "advice", class: "why", "data-testid": "coach" });
  #section = h(
    "section",
    { class: "card coach", "aria-label": say("page.coach") },
    h("h2", {}, say("page.coach")),
    this.#text,
  );
  /** @type {Review | null} */
  #review = null;
  isCoaching = false;

  /** @param {import("./board.js").GameView} view @param {() => void} changed what is shown may have changed */
  constructor(view, changed) {
    this.#view = view;
    this.#changed = changed;
    view.side.prepend(this.#section);
    this.#section.hidden = true;
  }

  get isReviewing() {
    return this.#review !== null;
  }

  toggleCoach() {
    this.isCoaching = !this.isCoaching;
    this.#changed();
  }

  /** @param {Game} game @param {(mark: Mark) => string} called */
  toggleReview(game, called) {
    if (this.#review) return this.endReview();
    this.#review = new Review(game, called, () => this.#changed());
    this.#view.insert(this.#review.slider, this.#review.words);
    this.#changed();
  }

  /** Scroll to the review, as far as needed. */
  showReview() {
    this.#review?.slider.scrollIntoView({ block: "nearest" });
    this.#review?.words.scrollIntoView({ block: "nearest" });
  }

  endReview() {
    if (!this.#review) return;
    this.#review.slider.remove();
    this.#review.words.remove();
    this.#review = null;
    this.#changed();
  }

  /** @param {number | null} cell */
  look(cell) {
    if (cell === this.#looked) return;
    this.#looked = cell;
    if (this.isCoaching) this.#changed();
  }

  /**
   * Add the coach's labels, or show the position under review.
   * @param {Scene} scene @param {boolean} isYours @returns {Scene}
   */
  adjust(scene, isYours) {
    const { game } = scene;
    this.#section.hidden = !this.isCoaching || game.over || !game.ready;
    this.#question = "";
    if (this.#section.hidden) setText(this.#text, ""); // which describes the cells
    if (this.#review) return { ...scene, game: this.#review.game, playable: null };
    if (this.#section.hidden) return scene;
    const lesson = isYours ? this.#lesson(game) : null;
    const text = lesson ? (this.#looked !== null && lesson.said[this.#looked]) || lesson.summary : "";
    setText(this.#text, text || this.#failure || say(isYours ? "page.coach_thinks" : "page.coach_waits"));
    return { ...scene, labels: scene.pending ? {} : (lesson?.labels ?? {}) };
  }

  /** The coach on a position, or null until the server has answered. @param {Game} game */
  #lesson(game) {
    const question = `/analysis?board=${boardText(game)}&first=${game.first}&cells=places`;
    this.#question = question;
    if (!this.#known.has(question)) this.#ask(question);
    return this.#known.get(question) ?? null;
  }

  /** @param {string} question */
  async #ask(question) {
    if (this.#asked.has(question) || this.#view.isLeft) return;
    this.#asked.add(question);
    try {
      const lesson = lessonOf(await get(question));
      this.#known.set(question, lesson);
      this.#failure = "";
      if (this.isCoaching && question === this.#question) this.#view.say(lesson.summary);
    } catch (error) {
      this.#failure = /** @type {Error} */ (error).message;
      setTimeout(() => {
        this.#asked.delete(question);
        this.#changed();
      }, RETRY_MS);
    }
    this.#changed();
  }
}

/** @param {{moves: Advice[]}} analysis @returns {Lesson} */
function lessonOf({ moves }) {
  const best = moves.filter((advice) => advice.best);
  const isChoice = best.length < moves.length;
  return {
    labels: Object.fromEntries(
      moves.map((advice) => [advice.cell, { ...label(advice), isBest: isChoice && advice.best }]),
    ),
    said: Object.fromEntries(moves.map((advice) => [advice.cell, advice.sentence])),
    summary: best[0].sentence,
  };
}

/** A review of a game, move by move, with the coach's comments. */
class Review {
  #moves;
  #first;
  #step;
  #called;
  #changed;
  /** @type {Advice[]} */
  #advice = [];
  #failure = "";
  #range = h("input", { type: "range", min: 0, step: 1, "aria-label": say("page.move_number") });
  #back = button("‹", () => this.#go(this.#step - 1), {
    class: "btn step",
    "aria-label": say("page.move_back"),
  });
  #on = button("›", () => this.#go(this.#step + 1), { class: "btn step", "aria-label": say("page.move_on") });
  #place = h("p", { class: "at" });
  #worth = h("p", {});
  #said = h("p", { class: "why" });
  slider = h(
    "div",
    { class: "review" },
    h("div", { class: "slide" }, this.#back, this.#range, this.#on),
    this.#place,
  );
  words = h(
    "section",
    { class: "card judged", "aria-label": say("page.review") },
    h("h2", {}, say("page.review")),
    h("div", { "data-testid": "review" }, this.#worth, this.#said),
  );

  /** @param {Game} game @param {(mark: Mark) => string} called @param {() => void} changed */
  constructor(game, called, changed) {
    this.#moves = game.moves;
    this.#first = game.first;
    this.#step = game.moves.length;
    this.#called = called;
    this.#changed = changed;
    this.#range.max = `${game.moves.length}`;
    this.#range.addEventListener("input", () => this.#go(Number(this.#range.value)));
    this.#show();
    this.#ask(game);
  }

  /** The position under review. */
  get game() {
    return gameOf(this.#moves.slice(0, this.#step), this.#first);
  }

  /** @param {number} to */
  #go(to) {
    this.#step = Math.min(this.#moves.length, Math.max(0, to));
    this.#show();
    this.#changed();
    announce(`${this.#place.textContent}. ${this.#worth.textContent} ${this.#said.textContent}`);
  }

  #show() {
    const number = this.#step;
    const count = this.#moves.length;
    const advice = this.#advice[number - 1];
    this.#range.value = `${number}`;
    setAttribute(this.#back, "aria-disabled", number === 0 && "true");
    setAttribute(this.#on, "aria-disabled", number === count && "true");
    setText(this.#place, number ? this.#moveText(number, count) : say("page.before_first_move"));
    setAttribute(this.#range, "aria-valuetext", this.#place.textContent);
    this.#worth.replaceChildren(...(advice ? [tag(label(advice))] : []));
    setText(this.#said, advice?.sentence ?? (number ? this.#failure || say("page.coach_thinks") : ""));
  }

  /** @param {number} number @param {number} count */
  #moveText(number, count) {
    const before = gameOf(this.#moves.slice(0, number - 1), this.#first);
    const player = capitalised(this.#called(turn(before)));
    return say("page.move_of", { number, count, player, cell: cellName(this.#moves[number - 1]) });
  }

  /** @param {Game} game */
  async #ask(game) {
    try {
      const { review } = await get(`/analysis?moves=${digits(game)}&first=${game.first}&cells=places`);
      this.#advice = review.moves;
    } catch (error) {
      this.#failure = say("page.no_advice", { why: /** @type {Error} */ (error).message });
    }
    this.#show();
  }
}
