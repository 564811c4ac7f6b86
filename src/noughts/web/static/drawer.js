/** The live log of the events of a game. */

import { h, memory } from "./dom.js";
import { formatEvent } from "./game.js";

/** @returns {{element: HTMLElement, show: (events: object[]) => void}} */
export function eventsDrawer() {
  const list = h("ol", { class: "log", tabindex: "0", role: "list", "aria-label": "Events of the game" });
  const element = h("details", { class: "drawer", ontoggle: remember }, h("summary", {}, "Events"), list);
  element.open = memory.get("events") === "open";
  let shown = [];

  function remember() {
    memory.set("events", element.open ? "open" : null);
    list.scrollTop = list.scrollHeight;
  }

  function show(events) {
    const isContinued = shown.every((event, at) => event === events[at]);
    const from = isContinued ? shown.length : 0;
    const more = events.slice(from).map((event, at) => line(from + at + 1, event));
    if (isContinued) list.append(...more);
    else list.replaceChildren(...more);
    shown = [...events];
    if (more.length) list.scrollTop = list.scrollHeight;
  }

  return { element, show };
}

function line(version, event) {
  const text = formatEvent(event);
  return h(
    "li",
    {},
    h("span", { class: "version" }, `${version}`),
    h("bdi", { dir: "ltr" }, h("b", {}, event.event), text.slice(event.event.length)),
  );
}
