/** The players of a game on the server: marks, names, presence and score. */

import { active, MARKS, other } from "./game.js";
import { chip, h, name, say, setAttribute, setText } from "./page.js";

/**
 * @typedef {import("./game.js").Mark} Mark
 * @typedef {import("./game_client.js").Known} Known
 */

/** The display name of a policy: newell-simon is Newell-Simon. @param {string} policy */
export const botName = (policy) => policy.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());

/** The name of your opponent, or null: nobody has joined, or both seats are yours. @param {Known} known */
export function opponentName(known) {
  const { you, room } = known;
  if (you.length !== 1 || !room.seats[other(you[0])].taken) return null;
  return called(known, other(you[0]));
}

/** The name of a player. @param {Known} known @param {Mark} mark */
export function called({ room }, mark) {
  const { bot, name: given } = room.seats[mark];
  return bot ? botName(bot) : (given ?? mark);
}

export class SeatsRow {
  #seats = { X: seat("X"), O: seat("O") };
  #points = h("span");
  #drawn = h("small");
  #score = h("div", { class: "score", "data-testid": "score", role: "img" }, this.#points, this.#drawn);
  element = h(
    "div",
    { class: "players", role: "group", "aria-label": say("page.players") },
    this.#seats.X.element,
    this.#score,
    this.#seats.O.element,
  );

  /** @param {Known} known @param {boolean} isOpen whether the connection is */
  show(known, isOpen) {
    const { game, room } = known;
    for (const mark of MARKS) {
      const { element, who, how } = this.#seats[mark];
      const { taken } = room.seats[mark];
      element.classList.toggle("turn", game.ready && active(game) === mark);
      setText(who, taken ? called(known, mark) : say("page.seat_free"));
      setText(how, taken ? presence(known, mark, isOpen) : say("page.nobody_yet"));
    }
    const { X, O, draws } = tally(known);
    setText(this.#points, `${X} – ${O}`);
    setText(this.#drawn, draws ? say("page.score_drawn", { draws }) : "");
    setAttribute(this.#score, "aria-label", say("page.score", { X, O, draws }));
    this.#score.classList.toggle("unplayed", X + O + draws === 0);
  }
}

/** @param {Mark} mark */
function seat(mark) {
  const who = name("");
  const how = h("small");
  const element = h(
    "div",
    { class: `p ${mark.toLowerCase()}`, "data-testid": `seat-${mark}` },
    chip(mark),
    h("span", { class: "id" }, h("strong", {}, who), how),
    h("span", { class: "unseen" }, say("page.plays", { mark })),
  );
  return { element, who, how };
}

/** @param {Known} known @param {Mark} mark @param {boolean} isOpen */
function presence({ game, you, room }, mark, isOpen) {
  const isActive = game.ready && active(game) === mark;
  if (you.length === 2) return isActive ? say("page.to_move") : "\u00a0";
  if (you.includes(mark)) return say(isActive ? "page.you_to_move" : "page.you");
  if (room.seats[mark].bot) return say("page.is_computer");
  if (!isOpen) return "\u00a0"; // unknown
  return say(room.seats[mark].present ? "page.connected" : "page.away");
}

/** The score of the earlier games, and of this one once it is over. @param {Known} known */
function tally({ game, room }) {
  const { X, O, draws } = room.score;
  if (!game.over) return { X, O, draws };
  const { winner } = game;
  return { X: X + Number(winner === "X"), O: O + Number(winner === "O"), draws: draws + Number(!winner) };
}
