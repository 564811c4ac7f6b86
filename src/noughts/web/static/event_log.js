/** The events of a game, as they are recorded. */

import { formatEvent } from "./game.js";
import { h, say } from "./page.js";

/** @typedef {import("./game.js").GameEvent} GameEvent */

/** @type {WeakMap<Element, {list: HTMLElement, shown: GameEvent[]}>} */
const logs = new WeakMap();

/**
 * Show events in a place; those that are there already stay.
 * @param {Element} place @param {GameEvent[]} events
 */
export function showEvents(place, events) {
  const log = logs.get(place) ?? { list: newList(place), shown: [] };
  const { list, shown } = log;
  const same = shown.findIndex((event, at) => formatEvent(event) !== (events[at] && formatEvent(events[at])));
  const from = same < 0 ? shown.length : same;
  while (list.children.length > from) list.lastChild?.remove();
  list.append(...events.slice(from).map((event, at) => line(from + at + 1, event)));
  logs.set(place, { list, shown: events });
  if (events.length !== from) list.scrollTop = list.scrollHeight;
}

/** @param {Element} place */
function newList(place) {
  const list = h("ol", {
    class: "log",
    tabindex: "0",
    role: "list",
    "aria-label": say("page.events_of_game"),
  });
  place.append(list);
  return list;
}

/** @param {number} version @param {GameEvent} event */
const line = (version, event) =>
  h(
    "li",
    {},
    h("span", { class: "version" }, `${version}`),
    h("bdi", { dir: "ltr" }, h("b", {}, event.event), formatEvent(event).slice(event.event.length)),
  );
