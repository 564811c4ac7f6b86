/** Your games, kept in this browser: open ones to continue, results at each level, and the history. */

import { at, get, Refusal } from "./api.js";
import { active, addressOf, fold, gameOf, turn } from "./game.js";
import { BASE, LEVELS, button, focusTitle, h, levelName, link, memory, name, say, setTitle } from "./page.js";
import { opponentName } from "./seats.js";

/**
 * @typedef {import("./game.js").Mark} Mark
 * @typedef {import("./game.js").Game} Game
 * @typedef {import("./game_client.js").Known} Known
 * @typedef {import("./game.js").LocalGame} LocalGame
 * @typedef {"won" | "lost" | "drawn" | "over"} Result "over" is the end of a game between two people here
 */

/**
 * A game of yours: one in this browser has its moves, one on the server its id.
 * @typedef {object} GameRecord
 * @property {number} at when something last happened, in milliseconds
 * @property {Result | null} result null while the game is open
 * @property {LocalGame} [local]
 * @property {string} [id]
 * @property {string | null} [opponent]
 * @property {boolean} [isYourMove]
 */

/** @typedef {{won: number, drawn: number, lost: number, streak: number, best: number}} Results */

const MAX_GAMES = 200;
const SHOWN_ON_CARD = 3;

/** @returns {GameRecord[]} the newest first */
function records() {
  const kept = memory.get("games");
  return Array.isArray(kept) ? kept.filter(isRecord) : [];
}

/** Whether something is a record; it may have been kept by another version. @param {any} kept */
function isRecord(kept) {
  if (!Number.isFinite(kept?.at) || ![null, "won", "lost", "drawn", "over"].includes(kept.result))
    return false;
  if (!kept.local) return typeof kept.id === "string";
  const { moves, first, level } = kept.local;
  try {
    gameOf(moves, first);
    return level === null || LEVELS.includes(level);
  } catch {
    return false;
  }
}

/**
 * Put a record in front of the others.
 * @param {GameRecord} record @param {(one: GameRecord) => boolean} isSame whether one is of the same game
 */
const keep = (record, isSame) =>
  memory.set("games", [record, ...records().filter((one) => !isSame(one))].slice(0, MAX_GAMES));

/** Remove records. @param {(one: GameRecord) => boolean} isGone */
const drop = (isGone) =>
  memory.set(
    "games",
    records().filter((one) => !isGone(one)),
  );

/**
 * Whether a record is of an open game in this browser.
 * @param {LocalGame[]} states @returns {(one: GameRecord) => boolean}
 */
const isOpenAt =
  (...states) =>
  ({ local, result }) =>
    !!local && !result && states.map(addressOf).includes(addressOf(local));

/**
 * Keep a game in this browser after a change.
 * @param {LocalGame} local @param {LocalGame} before @param {Game} game
 */
export function keepGame(local, before, game) {
  if (!local.moves.length) return dropGame(before);
  const result = game.over ? resultOf(game, local.level ? [local.you] : []) : null;
  keep({ at: Date.now(), result, local }, isOpenAt(before, local));
  if (result && result !== "over" && local.level) count(local.level, result);
}

/** Forget an open game that the player has given up. @param {LocalGame} local */
export const dropGame = (local) => drop(isOpenAt(local));

/** Keep a game on the server that you have a seat in. @param {string} id @param {Known} known */
export function keepOnlineGame(id, known) {
  const { game, you } = known;
  const mover = active(game);
  const isYourMove = game.ready && mover !== null && you.includes(mover);
  const result = game.over ? resultOf(game, you) : null;
  const opponent = opponentName(known);
  const kept = records().find((one) => one.id === id);
  const isNews =
    !kept || kept.result !== result || kept.isYourMove !== isYourMove || kept.opponent !== opponent;
  if (isNews) keep({ at: Date.now(), result, id, opponent, isYourMove }, (one) => one.id === id);
}

/** @param {Game} game @param {Mark[]} you @returns {Result} */
function resultOf({ winner }, you) {
  if (you.length !== 1) return "over";
  return winner ? (winner === you[0] ? "won" : "lost") : "drawn";
}

/** @param {string} level @param {"won" | "lost" | "drawn"} result */
function count(level, result) {
  const all = memory.get("results") ?? {};
  /** @type {Results} */
  const { won, drawn, lost, streak, best } = { won: 0, drawn: 0, lost: 0, streak: 0, best: 0, ...all[level] };
  const unbeaten = result === "lost" ? 0 : streak + 1;
  memory.set("results", {
    ...all,
    [level]: {
      won: won + Number(result === "won"),
      drawn: drawn + Number(result === "drawn"),
      lost: lost + Number(result === "lost"),
      streak: unbeaten,
      best: Math.max(best, unbeaten),
    },
  });
}

/** Bring the records of open games on the server up to date; forget those that are gone. */
async function refresh() {
  const open = records().filter(({ id, result }) => id && !result);
  await Promise.all(open.map(({ id = "" }) => refreshGame(id)));
}

/** @param {string} id */
async function refreshGame(id) {
  try {
    const found = await get(at(id));
    if (!records().some((one) => one.id === id)) return; // deleted meanwhile
    if (found.you.length) keepOnlineGame(id, { ...found, game: fold(found.events) });
    else drop((one) => one.id === id);
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) drop((one) => one.id === id);
  }
}

// What is shown

/** Fill the card beside the board. @param {HTMLElement} card */
export async function fillCard(card) {
  let shown = "";
  const show = () => {
    const { all, open, finished } = sorted();
    if (JSON.stringify(all) === shown) return;
    shown = JSON.stringify(all);
    card.replaceChildren(
      h("h2", {}, say("page.games")),
      h("ul", { class: "games" }, ...[...open, ...finished].slice(0, SHOWN_ON_CARD).map(row)),
      h("p", { class: "links" }, link("/games", say("page.all_games"), "")),
    );
    card.hidden = !all.length;
  };
  show();
  await refresh();
  if (card.isConnected) show();
}

function sorted() {
  const all = records();
  return { all, open: all.filter(({ result }) => !result), finished: all.filter(({ result }) => result) };
}

/** @param {HTMLElement} place */
export function mount(place) {
  setTitle(say("page.games"));
  const hero = h("div", { class: "hero" });
  place.append(hero);
  const show = () => {
    const { all, open, finished } = sorted();
    const hadFocus = hero.contains(document.activeElement);
    hero.replaceChildren(
      h("h1", { tabindex: "-1" }, say("page.games")),
      h("p", {}, say(all.length ? "page.games_about" : "page.no_games")),
      ...section("page.open_ones", open),
      ...resultsTable(),
      ...section("page.history", finished),
      h(
        "div",
        { class: "row" },
        !all.length && link("/", say("page.play_here"), "btn main"),
        all.length > 0 && button(say("page.export"), exportAll),
        all.length > 0 && button(say("page.delete"), () => askToDelete(show)),
      ),
    );
    if (hadFocus) focusTitle();
  };
  show();
  refresh().then(() => hero.isConnected && show());
}

/** @param {string} title @param {GameRecord[]} games */
const section = (title, games) =>
  games.length
    ? [h("section", {}, h("h2", {}, say(title)), h("ul", { class: "games" }, ...games.map(row)))]
    : [];

/** @param {GameRecord} record */
function row(record) {
  const { local, id, result, at: then } = record;
  const address = local ? addressOf(local) : `/game/${id}`;
  const label = say(result ? "page.replay" : "page.continue");
  return h(
    "li",
    {},
    h("span", {}, h("strong", {}, opponentOf(record)), h("small", {}, `${standing(record)}, ${ago(then)}`)),
    h("a", { class: `btn ${result ? "" : "main"}`, href: BASE + address }, label),
  );
}

/** @param {GameRecord} record */
function opponentOf({ local, opponent }) {
  if (local) return local.level ? levelName(local.level) : say("page.this_screen");
  return opponent ? name(opponent) : say("page.nobody_yet");
}

/** @param {GameRecord} record */
function standing({ local, result, isYourMove }) {
  if (result === "over" && local) {
    const { winner } = gameOf(local.moves, local.first);
    return winner ? say("page.won", { player: winner }) : say("page.drawn");
  }
  if (result) return say(`page.result_${result}`);
  const isYours = local ? !local.level || turn(gameOf(local.moves, local.first)) === local.you : isYourMove;
  return say(isYours ? "page.your_move_now" : "page.their_move_now");
}

/** How long ago a time was. @param {number} then */
function ago(then) {
  const format = new Intl.RelativeTimeFormat(document.documentElement.lang, { numeric: "auto" });
  const minutes = Math.trunc((then - Date.now()) / 60_000);
  if (minutes > -1) return say("page.just_now");
  if (minutes > -60) return format.format(minutes, "minute");
  return minutes > -60 * 24
    ? format.format(Math.round(minutes / 60), "hour")
    : format.format(Math.round(minutes / 1440), "day");
}

function resultsTable() {
  /** @type {Record<string, Results>} */
  const results = memory.get("results") ?? {};
  const columns = ["won", "drawn", "lost", "streak", "best"];
  const levels = LEVELS.filter((level) => results[level]);
  if (!levels.length) return [];
  const head = ["level", ...columns.map((key) => `column_${key}`)].map((key) =>
    h("th", { scope: "col" }, say(`page.${key}`)),
  );
  const rows = levels.map((level) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, levelName(level)),
      ...columns.map((key) => h("td", {}, results[level][/** @type {keyof Results} */ (key)])),
    ),
  );
  const table = h(
    "table",
    { class: "results", "aria-labelledby": "results-title" },
    h("thead", {}, h("tr", {}, ...head)),
    h("tbody", {}, ...rows),
  );
  const title = h("h2", { id: "results-title" }, say("page.results_title"));
  return [h("section", {}, title, h("div", { class: "scroller" }, table))];
}

/** Save everything as a file. */
function exportAll() {
  const content = JSON.stringify({ games: records(), results: memory.get("results") ?? {} }, null, 2);
  const anchor = h("a", {
    download: "noughts.json",
    href: URL.createObjectURL(new Blob([content], { type: "application/json" })),
  });
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 60_000); // the browser may still be reading it
}

/** @param {() => void} changed */
function askToDelete(changed) {
  const dialog = h(
    "dialog",
    { class: "sheet", "aria-labelledby": "delete-title", onclose: () => dialog.remove() },
    h("h2", { id: "delete-title" }, say("page.delete_question")),
    h("p", {}, say("page.delete_about")),
    h(
      "div",
      { class: "row" },
      button(say("page.cancel"), () => dialog.close(), { autofocus: true }),
      button(say("page.delete_yes"), remove, { class: "btn main" }),
    ),
  );
  function remove() {
    for (const key of ["games", "results"]) memory.set(key, null);
    dialog.close();
    changed();
    focusTitle();
  }
  document.body.append(dialog);
  dialog.showModal();
}
