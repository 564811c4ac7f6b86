/** The lobby: games that wait for an opponent, and games to watch. */

import { get } from "./api.js";
import { BASE, chip, h, link, name, say, setText, setTitle } from "./page.js";

const LOBBY_REFRESH_INTERVAL_MS = 4000;

/**
 * @typedef {import("./game.js").Mark} Mark
 * @typedef {{id: string, name: string, mark: Mark, first: Mark}} OpenGame
 * @typedef {{id: string, X: string, O: string}} PlayedGame
 */

/** @param {HTMLElement} place */
export function mount(place) {
  setTitle(say("page.lobby"));
  const open = rows(say("page.open_games"), say("page.no_open_games"), openGame);
  const playing = rows(say("page.games_to_watch"), say("page.no_games_to_watch"), playedGame);
  const said = h("p", { class: "said", role: "alert" });
  place.append(
    h(
      "div",
      { class: "hero" },
      h("h1", { tabindex: "-1" }, say("page.lobby")),
      h("p", {}, say("page.lobby_about")),
      said,
      link("/open", say("page.open"), "btn main wide"),
      open.element,
      playing.element,
    ),
  );
  let timer = 0;
  const left = new AbortController();
  async function look() {
    clearTimeout(timer);
    if (!document.hidden) {
      try {
        const lists = await get("/games");
        open.show(lists.open);
        playing.show(lists.playing);
        setText(said, "");
      } catch (error) {
        setText(said, /** @type {Error} */ (error).message);
        open.clearNote();
        playing.clearNote();
      }
    }
    if (!left.signal.aborted) timer = setTimeout(look, LOBBY_REFRESH_INTERVAL_MS);
  }
  document.addEventListener("visibilitychange", look, { signal: left.signal });
  look();
  return () => {
    left.abort();
    clearTimeout(timer);
  };
}

/**
 * A list that keeps the elements of unchanged games, so that the focus is not lost.
 * @template {{id: string}} T
 * @param {string} title @param {string} nothing @param {(game: T) => Element} make
 */
function rows(title, nothing, make) {
  /** @type {Map<string, Element>} */
  const known = new Map();
  const list = h("ul", { class: "games" });
  const none = h("p", { class: "soft" }, say("page.one_moment"));
  const element = h("section", { "aria-label": title }, h("h2", {}, title), none, list);
  /** @param {T[]} games */
  function show(games) {
    for (const [id, row] of known) {
      if (games.some((game) => game.id === id)) continue;
      row.remove();
      known.delete(id);
    }
    for (const [at, game] of games.entries()) {
      const row = known.get(game.id) ?? h("li", {}, make(game));
      known.set(game.id, row);
      if (list.children[at] !== row) list.insertBefore(row, list.children[at] ?? null);
    }
    setText(none, nothing);
    none.hidden = games.length > 0;
  }
  return { element, show, clearNote: () => setText(none, "") };
}

/** @param {OpenGame} game */
const openGame = ({ id, name: player, mark, first }) =>
  h(
    "a",
    { class: "choice", href: `${BASE}/game/${id}` },
    h(
      "span",
      {},
      h("strong", {}, name(player)),
      h("small", {}, say(first === mark ? "page.seat_you_start" : "page.seat_they_start", { mark })),
    ),
    h("span", { class: "go" }, say("page.join")),
  );

/** @param {PlayedGame} game */
const playedGame = ({ id, X, O }) =>
  h(
    "a",
    { class: "choice", href: `${BASE}/game/${id}` },
    h("span", { class: "pair" }, chip("X"), name(X), chip("O"), name(O)),
    h("span", { class: "go" }, say("page.watch")),
  );
