/** The lobby: games that wait for an opponent, games to watch, and opening one. */

import { get } from "./ask.js";
import { BASE } from "./base.js";
import { chip, h, name, setText } from "./dom.js";
import { creator, firstChoice, markChoice, nameField } from "./setup.js";

const EVERY = 4000;

export function mount(place, context) {
  return location.hash === "#open" ? openTable(place, context) : listTables(place, context);
}

function openTable(place, context) {
  context.title("Open a game");
  const create = creator(context, () => ({ opponent: "lobby" }));
  place.append(
    h(
      "div",
      { class: "hero" },
      h("h1", { tabindex: "-1" }, "Open a game"),
      h("p", {}, "Anyone can join."),
      h(
        "form",
        { class: "setup", onsubmit: create },
        nameField("Your name", "name"),
        markChoice(),
        firstChoice(),
        h("button", { class: "btn main wide", type: "submit" }, "Open a game"),
        h("p", { class: "said", role: "alert" }),
      ),
    ),
  );
  return () => {};
}

function listTables(place, context) {
  context.title("Lobby");
  const open = rows("Waiting for an opponent", "No open games. Open one and wait for an opponent.");
  const playing = rows("Being played", "No games in progress.");
  const said = h("p", { class: "said", role: "alert" });
  place.append(
    h(
      "div",
      { class: "hero" },
      h("h1", { tabindex: "-1" }, "Lobby"),
      h("p", {}, "Play against anyone who is here, or watch."),
      h("a", { class: "btn main wide", href: `${BASE}/lobby#open` }, "Open a game"),
      said,
      open.element,
      playing.element,
    ),
  );

  let timer = 0;
  let isLeft = false;
  async function look() {
    clearTimeout(timer);
    if (!document.hidden) {
      try {
        const tables = await get("/games");
        open.show(tables.open, waiting);
        playing.show(tables.playing, played);
        setText(said, "");
      } catch (error) {
        setText(said, error.message);
      }
    }
    if (!isLeft) timer = setTimeout(look, EVERY);
  }
  const back = () => !document.hidden && look();
  document.addEventListener("visibilitychange", back);
  look();
  return () => {
    isLeft = true;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", back);
  };
}

/** A list that keeps the elements of unchanged games, so that the focus is not lost. */
function rows(title, nothing) {
  const known = new Map();
  const list = h("ul", { class: "tables" });
  const none = h("p", { class: "soft" }, "One moment…");
  const element = h("section", { "aria-label": title }, h("h2", {}, title), none, list);
  function show(games, make) {
    for (const id of known.keys()) {
      if (!games.some((game) => game.id === id)) {
        known.get(id).remove();
        known.delete(id);
      }
    }
    for (const game of games) if (!known.has(game.id)) known.set(game.id, h("li", {}, make(game)));
    for (const [at, { id }] of games.entries()) {
      if (list.children[at] !== known.get(id))
        list.insertBefore(known.get(id), list.children[at] ?? null);
    }
    setText(none, nothing);
    none.hidden = games.length > 0;
  }
  return { element, show };
}

function waiting({ id, name: who, mark, first }) {
  return h(
    "a",
    { class: "choice", href: `${BASE}/game/${id}` },
    h(
      "span",
      {},
      h("strong", {}, who ? name(who) : "Somebody"),
      h("small", {}, `You would play ${mark}; ${first === mark ? "you start" : `${first} starts`}`),
    ),
    h("span", { class: "go" }, "Join"),
  );
}

function played({ id, X, O }) {
  return h(
    "a",
    { class: "choice", href: `${BASE}/game/${id}` },
    h("span", { class: "pair" }, chip("X"), name(X ?? "X"), chip("O"), name(O ?? "O")),
    h("span", { class: "go" }, "Watch"),
  );
}
