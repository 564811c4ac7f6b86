/** A review of a game, move by move, with the coach's comments. */

import { get } from "./ask.js";
import { tag } from "./board.js";
import { label } from "./coach.js";
import { announce, button, h, setAttribute, setText } from "./dom.js";
import { digits } from "./game.js";

const MISTAKES = ["givesUpWin", "givesUpDraw"];

/**
 * @param {import("./game.js").Game} game
 * @param {(mark: "X" | "O") => string} called the name of a player
 * @param {(step: number) => void} show called with the number of moves to show
 * @returns {{slider: HTMLElement, words: HTMLElement}} the slider and the comments
 */
export function reviewPanel(game, called, show) {
  const count = game.moves.length;
  let step = count;
  let review = null;
  let failure = "";

  const slider = h("input", {
    type: "range",
    min: 0,
    max: count,
    step: 1,
    "aria-label": "Move",
    oninput: () => go(Number(slider.value)),
  });
  slider.value = count;
  const back = button("‹", () => go(step - 1), { class: "btn step", "aria-label": "One move back" });
  const on = button("›", () => go(step + 1), { class: "btn step", "aria-label": "One move on" });
  const place = h("p", { class: "at" });
  const worth = h("p", {});
  const said = h("p", { class: "why" });
  const summary = h("p", { class: "why summary", "data-testid": "summary" });
  const words = h(
    "section",
    { class: "judged", "aria-label": "Review" },
    h("h2", {}, "Review"),
    h("div", { "data-testid": "review" }, worth, said),
    summary,
  );

  function go(to) {
    step = Math.min(count, Math.max(0, to));
    slider.value = step;
    tell();
    show(step);
    const advice = review?.moves[step - 1];
    announce(`${place.textContent}. ${advice ? `${label(advice).words}. ` : ""}${said.textContent}`);
  }

  function tell() {
    const cell = game.moves[step - 1];
    const advice = step ? review?.moves[step - 1] : null;
    setAttribute(back, "aria-disabled", step === 0 && "true");
    setAttribute(on, "aria-disabled", step === count && "true");
    setText(
      place,
      step
        ? `Move ${step} of ${count}: ${called(movedBy(game, step))} on ${cell + 1}`
        : "Before the first move",
    );
    slider.setAttribute("aria-valuetext", place.textContent);
    worth.replaceChildren(...(advice ? [tag(label(advice))] : []));
    setText(
      said,
      advice ? advice.sentence : step ? failure || "The coach thinks…" : "The board is empty.",
    );
    setText(summary, review ? summed(game, review) : "");
  }

  async function ask() {
    try {
      ({ review } = await get(`/analysis?moves=${digits(game)}&first=${game.first}`));
      failure = "";
    } catch (error) {
      failure = `No advice available. ${error.message}`;
    }
    tell();
  }

  tell();
  ask();
  return {
    slider: h("div", { class: "review" }, h("div", { class: "slide" }, back, slider, on), place),
    words,
  };
}

const movedBy = ({ first }, step) => (step % 2 ? first : first === "X" ? "O" : "X");

/** Where the game was decided, and what was better there. */
function summed(game, { moves, mistakes, decisive, standing }) {
  if (game.resigned) {
    const isOnTurn = game.resigned === movedBy(game, game.moves.length + 1);
    const worth = isOnTurn
      ? standing.result
      : { win: "loss", draw: "draw", loss: "win" }[standing.result];
    if (worth !== "loss") return `${game.resigned} gave up what was a ${worth} with best play.`;
  }
  if (!decisive) return "Nobody has made a mistake.";
  const turning = moves[decisive - 1];
  const better = turning.reasons
    .find(({ kind }) => MISTAKES.includes(kind))
    .cells.map((cell) => cell + 1);
  const many = `${mistakes.length} mistake${mistakes.length === 1 ? "" : "s"}`;
  return `${many}; decided by move ${decisive}, ${turning.mark} on ${turning.cell + 1}. Better: ${better.join(", ")}.`;
}
