/** Your games, kept in this browser: open ones to continue, results at each level, and the history. */

import { at, GAME_ID, get, Refusal } from "./api.js";
import { active, addressOf, fold, gameOf, MARKS, turn } from "./game.js";
import {
  BASE,
  LEVELS,
  RESULTS,
  button,
  focusTitle,
  h,
  levelName,
  link,
  memory,
  name,
  s,
  say,
  setTitle,
  yourResults,
} from "./page.js";
import { opponentName } from "./seats.js";

/**
 * @typedef {import("./game.js").Mark} Mark
 * @typedef {import("./game.js").Game} Game
 * @typedef {import("./game_client.js").Known} Known
 * @typedef {import("./game.js").LocalGame} LocalGame
 * @typedef {import("./page.js").Results} Results
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
 * @property {boolean} [isWaiting] whether nobody has joined yet
 * @property {boolean} [isYourMove]
 * @property {(Mark | null)[]} [cells] the board of a game on the server
 */

const MAX_GAMES = 200;
const SHOWN_ON_CARD = 3;
const REFRESH_INTERVAL_MS = 10_000;
const MAX_REFRESHED = 20;

/** @returns {GameRecord[]} the newest first */
function records() {
  const kept = memory.get("games");
  return Array.isArray(kept) ? kept.filter(isRecord) : [];
}

/** Whether something is a record; it may have been kept by another version. @param {any} kept */
function isRecord(kept) {
  if (!Number.isFinite(kept?.at) || ![null, "won", "lost", "drawn", "over"].includes(kept.result))
    return false;
  if (!kept.local) {
    const isNamed = ["string", "object"].includes(typeof kept.opponent);
    return GAME_ID.test(kept.id) && isNamed && Array.isArray(kept.cells ?? []);
  }
  const { moves, first, level, you } = kept.local;
  try {
    gameOf(moves, first);
    return MARKS.includes(first) && MARKS.includes(you) && (level === null || LEVELS.includes(level));
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
  const yours = local.level && local.first !== local.you ? 2 : 1; // the first move that is not the computer's
  if (local.moves.length < yours) return dropGame(before);
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
  const kept = records().find((one) => one.id === id);
  const now = {
    result: game.over ? resultOf(game, you) : null,
    id,
    opponent: opponentName(known),
    isWaiting: !game.ready && !game.over,
    isYourMove: game.ready && mover !== null && you.includes(mover),
    cells: game.cells,
  };
  const isNews = JSON.stringify({ ...kept, ...now }) !== JSON.stringify(kept);
  if (isNews) keep({ ...now, at: Date.now() }, (one) => one.id === id);
}

/** @param {Game} game @param {Mark[]} you @returns {Result} */
function resultOf({ winner }, you) {
  if (you.length !== 1) return "over";
  return winner ? (winner === you[0] ? "won" : "lost") : "drawn";
}

/** @param {string} level @param {"won" | "lost" | "drawn"} result */
function count(level, result) {
  const before = yourResults(level) ?? { won: 0, drawn: 0, lost: 0, streak: 0, best: 0 };
  const streak = result === "lost" ? 0 : before.streak + 1;
  const now = { ...before, [result]: before[result] + 1, streak, best: Math.max(before.best, streak) };
  memory.set("results", { ...allResults(), [level]: now });
}

const allResults = () =>
  Object.fromEntries(
    LEVELS.flatMap((level) => {
      const found = yourResults(level);
      return found ? [[level, found]] : [];
    }),
  );

/**
 * Bring the newest open games on the server up to date; forget those that are gone.
 * @param {number} count
 */
async function refresh(count) {
  const open = records().filter(({ id, result }) => id && !result);
  await Promise.all(open.slice(0, count).map(({ id = "" }) => refreshGame(id)));
}

/** @type {WeakMap<Element, () => void>} */
const followed = new WeakMap();

/**
 * Show games, and again when they have changed, here or on the server, while an element is on the page.
 * Returns what shows them now.
 * @param {Element} element @param {() => void} show @param {number} count of those on the server
 */
function follow(element, show, count) {
  let shown = "";
  const showChanges = () => {
    const now = JSON.stringify([records(), allResults()]);
    if (now !== shown) keepFocus(element, show);
    shown = now;
  };
  const known = followed.get(element);
  if (!known) {
    followed.set(element, showChanges);
    keepUpToDate(element, showChanges, count);
  }
  (known ?? showChanges)();
  return known ?? showChanges;
}

/** @param {Element} element @param {() => void} showChanges @param {number} count */
async function keepUpToDate(element, showChanges, count) {
  while (element.isConnected) {
    if (!document.hidden) {
      await refresh(count);
      showChanges();
    }
    await new Promise((resolve) => {
      const timer = setTimeout(again, REFRESH_INTERVAL_MS);
      document.addEventListener("visibilitychange", again, { once: true });
      function again() {
        clearTimeout(timer);
        document.removeEventListener("visibilitychange", again);
        resolve(null);
      }
    });
  }
  followed.delete(element);
}

/** Draw an element again; the link that has the focus keeps it. @param {Element} element @param {() => void} draw */
function keepFocus(element, draw) {
  const focused = element.contains(document.activeElement) ? document.activeElement : null;
  draw();
  if (!focused || focused.isConnected) return;
  const links = [...element.querySelectorAll("a")];
  const again = links.find((one) => one.href === /** @type {HTMLAnchorElement} */ (focused).href);
  if (again) again.focus();
  else focusTitle();
}

/** @param {string} id */
async function refreshGame(id) {
  try {
    const found = await get(at(id));
    if (!records().some((one) => one.id === id)) return; // deleted meanwhile
    if (found.you.length) keepOnlineGame(id, { ...found, game: fold(found.events) });
    else drop((one) => one.id === id);
  } catch (error) {
    if (error instanceof Refusal && error.code === "notFound") drop((one) => one.id === id);
  }
}

// What is shown

/** Fill the card beside the board. @param {HTMLElement} card */
export function fillCard(card) {
  const show = () => {
    const { open, finished } = sorted();
    const here = location.pathname + location.search;
    const others = open.filter(({ local }) => !local || BASE + addressOf(local) !== here);
    const games = [...others, ...finished].slice(0, SHOWN_ON_CARD);
    card.replaceChildren(
      h("h2", {}, say("page.games")),
      h("ul", { class: "games" }, ...games.map(row)),
      h("p", { class: "links" }, link("/games", say("page.all_games"), "")),
    );
    card.hidden = !games.length;
  };
  follow(card, show, SHOWN_ON_CARD);
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
    const isEmpty = !all.length && !Object.keys(allResults()).length;
    hero.replaceChildren(
      h("h1", { tabindex: "-1" }, say("page.games")),
      h("p", {}, say(isEmpty ? "page.no_games" : "page.games_about")),
      ...section("page.open_ones", open),
      ...resultsTable(),
      ...section("page.history", finished),
      h(
        "div",
        { class: "row" },
        isEmpty && link("/", say("page.play_here"), "btn main"),
        !isEmpty && button(say("page.export"), exportAll),
        !isEmpty && button(say("page.delete"), () => askToDelete(() => showChanges())),
      ),
    );
  };
  const showChanges = follow(hero, show, MAX_REFRESHED);
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
  const cells = local ? gameOf(local.moves, local.first).cells : (record.cells ?? []);
  return h(
    "li",
    {},
    miniature(cells),
    h("span", {}, h("strong", {}, opponentOf(record)), h("small", {}, `${stateOf(record)}, ${ago(then)}`)),
    h("a", { class: `btn ${id && record.isYourMove ? "main" : ""}`, href: BASE + address }, label),
  );
}

/** A board as a small drawing. @param {(Mark | null)[]} cells */
function miniature(cells) {
  const [x, o] = MARKS.map((mark) =>
    cells
      .map((held, cell) => (held === mark ? `M${(cell % 3) * 10} ${Math.floor(cell / 3) * 10}` : ""))
      .map((from) => from && from + (mark === "X" ? "m2 2 6 6m0-6-6 6" : "m2 5a3 3 0 1 0 6 0a3 3 0 1 0-6 0"))
      .join(""),
  );
  return s(
    "svg",
    { class: "miniature", viewBox: "0 0 30 30", "aria-hidden": "true" },
    s("path", { class: "lattice", d: "M10 1V29M20 1V29M1 10H29M1 20H29" }),
    s("path", { class: "x", d: x }),
    s("path", { class: "o", d: o }),
  );
}

/** @param {GameRecord} record */
function opponentOf({ local, isWaiting, opponent }) {
  if (isWaiting) return say("page.wait_player");
  if (opponent) return name(opponent);
  return local?.level ? levelName(local.level) : say("page.this_screen");
}

/** @param {GameRecord} record */
function stateOf({ local, result, isWaiting, isYourMove }) {
  if (result === "over" && local) {
    const { winner } = gameOf(local.moves, local.first);
    return winner ? say("page.won", { player: winner }) : say("page.drawn");
  }
  if (result) return say(`page.result_${result}`);
  if (isWaiting) return say("page.nobody_yet");
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
  const results = Object.entries(allResults());
  if (!results.length) return [];
  const head = ["level", ...RESULTS.map((key) => `column_${key}`)].map((key) =>
    h("th", { scope: "col" }, say(`page.${key}`)),
  );
  const rows = results.map(([level, found]) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, levelName(level)),
      ...RESULTS.map((key) => h("td", {}, found[key])),
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
  const content = JSON.stringify({ games: records(), results: allResults() }, null, 2);
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
    for (const key of ["games", "results", "invites"]) memory.set(key, null);
    dialog.close();
    changed();
    focusTitle();
  }
  document.body.append(dialog);
  dialog.showModal();
}
