/** The first screen: four ways to play. */

import { get } from "./ask.js";
import { BASE } from "./base.js";
import { h, s, setText } from "./dom.js";

const WAYS = [
  ["#friend", "Play a friend", "Share a link or a code to scan"],
  ["#computer", "Play the computer", "From pure chance to perfect play"],
  ["lobby", "Lobby", "Play against anyone who is here, or watch"],
  ["#same", "Same screen", "Two people, one device"],
];

export function mount(place) {
  const ways = WAYS.map(([path, title, about]) => way(`${BASE}/${path}`, title, about));
  place.append(
    h(
      "div",
      { class: "hero" },
      threeInARow(),
      h("h1", { tabindex: "-1" }, "Three in a row."),
      h("p", {}, "No account. Send a link, and play."),
      h("nav", { "aria-label": "Ways to play" }, ...ways),
    ),
  );
  tellOfTables(ways[2].querySelector("small"));
  return () => {};
}

function threeInARow() {
  const rings = [36, 136, 236].map((cx) =>
    s("circle", { cx, cy: 40, r: 26, pathLength: 1, transform: `rotate(-90 ${cx} 40)` }),
  );
  const strike = s("path", { class: "strike", d: "M6 40H266", pathLength: 1 });
  return s("svg", { class: "three", viewBox: "0 0 272 80", "aria-hidden": "true" }, ...rings, strike);
}

/** A choice that is a link. */
export function way(href, title, about) {
  return h(
    "a",
    { class: "choice", href },
    h("span", {}, h("strong", {}, title), h("small", {}, about)),
    h("span", { class: "arrow", "aria-hidden": "true" }, "→"),
  );
}

/** Show how many games there are; without an answer, leave the choice unchanged. */
async function tellOfTables(place) {
  try {
    const { open, playing } = await get("/games");
    if (open.length)
      setText(place, open.length === 1 ? "1 player waits for you" : `${count(open)} players wait`);
    else if (playing.length)
      setText(place, playing.length === 1 ? "1 game is on" : `${count(playing)} games are on`);
  } catch {
    // the screens of the choices report the error
  }
}

const count = (games) => (games.length < 50 ? games.length : "50 or more");
