/** Maps addresses to screens, and navigates without reloading the page. */

import { BASE } from "./base.js";
import { h, s } from "./dom.js";
import * as start from "./start.js";

/**
 * @typedef {object} Context what every screen gets
 * @property {(path: string, handoff?: object, options?: {replace?: boolean}) => void} go
 * @property {HTMLElement} tools the part of the header for a screen's own buttons
 * @property {object | null} handoff what the previous screen has already fetched
 * @property {(text: string) => void} title
 *
 * A screen is a module with `mount(place, context, ...parts)`, which returns a function that leaves it.
 */

const SCREENS = [
  [/^\/$/, () => (location.hash.length > 1 ? import("./setup.js") : start)],
  [/^\/lobby$/, () => import("./lobby.js")],
  [/^\/game\/([a-z2-7]{26})$/, () => import("./table.js")],
  [/^\/replay\/([^/]*)$/, () => import("./replay.js")],
];

const place = document.getElementById("screen");
const tools = document.getElementById("tools");
let leave = () => {};
let visit = 0;

/** Show the screen of the address. */
async function show(handoff = null) {
  const mine = ++visit;
  leave();
  leave = () => {};
  const [parts, load] = SCREENS.map(([path, screen]) => [path.exec(location.pathname.slice(BASE.length)), screen]).find(
    ([found]) => found,
  ) ?? [[], null];
  let screen;
  try {
    screen = load ? await load() : { mount: lost };
  } catch {
    screen = { mount: unreachable };
  }
  if (mine !== visit) return; // navigated elsewhere in the meantime
  tools.replaceChildren();
  place.replaceChildren();
  const context = {
    go,
    handoff,
    title: (text) => (document.title = text ? `${text} · noughts` : "noughts"),
    tools,
  };
  context.title("");
  leave = screen.mount(place, context, ...parts.slice(1)) ?? (() => {});
  tools.append(settingsButton());
}

/** Go to another screen, like a link. */
function go(path, handoff = null, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"](null, "", path);
  scrollTo(0, 0);
  show(handoff).then(() => place.querySelector("h1")?.focus({ preventScroll: true }));
}

function settingsButton() {
  const gear = s(
    "svg",
    { viewBox: "0 0 24 24", "aria-hidden": "true" },
    s("path", { d: "M4 7h9M19 7h1M4 17h1M11 17h9" }),
    s("circle", { cx: 16, cy: 7, r: 2.6 }),
    s("circle", { cx: 8, cy: 17, r: 2.6 }),
  );
  return h(
    "button",
    {
      type: "button",
      class: "quiet settings",
      onclick: async () => (await import("./settings.js")).open(),
    },
    gear,
    h("span", {}, "Settings"),
  );
}

function lost(where, context) {
  context.title("Nothing here");
  where.append(
    h(
      "div",
      { class: "hero" },
      h("h1", { tabindex: "-1" }, "Nothing here."),
      h("p", {}, h("a", { href: `${BASE}/` }, "To the start")),
    ),
  );
}

function unreachable(where) {
  where.append(
    h(
      "div",
      { class: "hero" },
      h("h1", { tabindex: "-1" }, "The server cannot be reached."),
      h("button", { type: "button", class: "btn main", onclick: () => location.reload() }, "Try again"),
    ),
  );
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  const plain =
    event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!link || !plain || event.defaultPrevented || link.target || link.origin !== location.origin) return;
  event.preventDefault();
  go(link.pathname + link.search + link.hash);
});
addEventListener("popstate", () => show());
show();
