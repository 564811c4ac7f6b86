/** What every screen is made of: elements, sentences and storage; and the way from screen to screen. */

/**
 * @typedef {import("./game.js").Mark} Mark
 * @typedef {Node | string | number | null | false | undefined} Child
 * @typedef {Record<string, Node | string | number>} Values what fills the placeholders of a sentence
 * @typedef {(Node | string)[]} Words a sentence, in which names are elements of their own
 * @typedef {{won: number, drawn: number, lost: number, streak: number, best: number}} Results
 * @typedef {() => void} Leave
 * @typedef {{mount: (place: HTMLElement, handoff: unknown, ...parts: string[]) => Leave | void}} Screen
 */

/**
 * What the server has made from the library.
 * @type {{levels: Record<string, string>, chances: Record<string, number[][]>, sentences: Record<string, string>}}
 */
export const data = await readData("data.json").catch((error) => {
  document.getElementById("unloaded")?.classList.add("failed");
  throw error;
});

/** @param {string} file */
export async function readData(file) {
  const answer = await fetch(new URL(file, import.meta.url));
  if (!answer.ok) throw new Error(`${file} could not be loaded`);
  return answer.json();
}

/** The levels, from the weakest. */
export const LEVELS = Object.keys(data.levels);

/** Where the page is mounted (empty at the root of a site), and its version. */
export const [, BASE, VERSION] = /** @type {RegExpExecArray} */ (
  /^(.*)\/static\/([^/]*)\/[^/]*$/.exec(new URL(import.meta.url).pathname)
);

// Sentences

/** A sentence of the catalogue. @param {string} key @param {Values} values */
export const say = (key, values = {}) => text(words(key, values));

/** A sentence whose values may be elements. @param {string} key @param {Values} values @returns {Words} */
export const words = (key, values = {}) =>
  data.sentences[key]
    .split(/\{(\w+)\}/)
    .map((part, at) => (at % 2 ? values[part] : part))
    .map((part) => (part instanceof Node ? part : `${part}`));

/** @param {Words} said */
export const text = (said) => said.map((part) => (part instanceof Node ? part.textContent : part)).join("");

/** @param {string} level */
export const levelName = (level) => say(`page.level_${level}`);

/** @param {string} sentence */
export const capitalised = (sentence) => sentence[0].toUpperCase() + sentence.slice(1);

// Elements: text is never parsed as HTML, because names come from strangers

/**
 * Create an element. Attributes that start with "on" are listeners; null and false leave one out.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, unknown>} attributes
 * @param {...Child} children
 */
export const h = (tag, attributes = {}, ...children) =>
  build(document.createElement(tag), attributes, children);

/**
 * Create an SVG element.
 * @param {string} tag @param {Record<string, unknown>} attributes @param {...Child} children
 */
export const s = (tag, attributes = {}, ...children) =>
  build(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/**
 * @template {Element} T
 * @param {T} element @param {Record<string, unknown>} attributes @param {Child[]} children
 */
function build(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), /** @type {EventListener} */ (value));
    else setAttribute(element, key, value === true ? "" : value);
  }
  for (const child of children) {
    if (child || child === 0) element.append(child instanceof Node ? child : `${child}`);
  }
  return element;
}

/**
 * A name, isolated so that its writing direction does not affect the rest of the line.
 * @param {string} given
 */
export const name = (given) => h("bdi", {}, given);

/**
 * Change a text only if it differs, so that reading positions are kept.
 * @param {Element} element @param {string} wanted
 */
export function setText(element, wanted) {
  if (element.textContent !== wanted) element.textContent = wanted;
}

/** Set an attribute, or remove it. @param {Element} element @param {string} key @param {unknown} value */
export function setAttribute(element, key, value) {
  if (value === null || value === false || value === undefined) element.removeAttribute(key);
  else if (element.getAttribute(key) !== `${value}`) element.setAttribute(key, `${value}`);
}

/**
 * A button. An idle one does nothing but keeps its focus: aria-disabled, not disabled.
 * @param {string} label @param {() => void} act @param {Record<string, unknown>} attributes
 */
export function button(label, act, attributes = {}) {
  const press = () => element.getAttribute("aria-disabled") !== "true" && act();
  const element = h("button", { type: "button", class: "btn", ...attributes, onclick: press }, label);
  return element;
}

/** A link to another screen. @param {string} path @param {string} label @param {string} kind its class */
export const link = (path, label, kind = "btn") => h("a", { class: kind, href: BASE + path }, label);

/** A mark as a small drawing. @param {Mark} mark */
export function chip(mark) {
  const strokes =
    mark === "X" ? s("path", { d: "M24 24 76 76M76 24 24 76" }) : s("circle", { cx: 50, cy: 50, r: 30 });
  const attributes = { class: `chip ${mark.toLowerCase()}`, viewBox: "0 0 100 100", "aria-hidden": "true" };
  return s("svg", attributes, strokes);
}

/**
 * A group of radio buttons.
 * @param {string} legend @param {string} key @param {[string, string][]} options @param {string} chosen
 */
export const choice = (legend, key, options, chosen) =>
  h(
    "fieldset",
    { class: "field" },
    h("legend", {}, legend),
    h(
      "div",
      { class: "segments" },
      ...options.map(([value, label]) =>
        h(
          "label",
          {},
          h("input", { type: "radio", name: key, value, checked: value === chosen }),
          h("span", {}, label),
        ),
      ),
    ),
  );

/**
 * A screen of a few words and a way on.
 * @param {HTMLElement} place @param {string} title @param {...Child} children
 */
export function message(place, title, ...children) {
  setTitle(title);
  place.replaceChildren(h("div", { class: "hero" }, h("h1", { tabindex: "-1" }, title), ...children));
}

/** Announce a sentence to screen readers, politely. @param {string} sentence */
export function announce(sentence) {
  const live = /** @type {HTMLElement} */ (document.getElementById("live"));
  // A space makes a repeated sentence a new text, which is announced again.
  live.textContent = live.textContent === sentence ? `${sentence} ` : sentence;
}

/** Copy a text. Without https there is no `navigator.clipboard`. @param {string} copied */
export async function copy(copied) {
  try {
    await navigator.clipboard.writeText(copied);
    return true;
  } catch {
    const field = h("textarea", { class: "unseen", "aria-hidden": "true", tabindex: "-1" });
    field.value = copied;
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    document.body.append(field);
    field.select();
    const isDone = document.execCommand("copy");
    field.remove();
    focused?.focus();
    return isDone;
  }
}

/**
 * A button that copies what `copied` returns, and confirms it for a moment.
 * @param {string} label @param {() => string} copied @param {Record<string, unknown>} attributes
 */
export function copyButton(label, copied, attributes = {}) {
  let back = 0;
  const element = button(label, press, attributes);
  async function press() {
    const isDone = await copy(copied());
    element.style.minWidth = `${element.offsetWidth}px`; // so that its neighbours do not move
    element.textContent = say(isDone ? "page.copied" : "page.not_copied");
    announce(say(isDone ? "page.copied" : "page.copying_blocked"));
    clearTimeout(back);
    back = setTimeout(() => (element.textContent = label), 2000);
  }
  return element;
}

// Storage: a browser without it is not an error

/** @param {() => Storage} storage */
const storageOf = (storage) => ({
  /** @param {string} key @returns {any} */
  get(key) {
    try {
      return JSON.parse(storage().getItem(`noughts${BASE}.${key}`) ?? "null");
    } catch {
      return null;
    }
  },
  /** @param {string} key @param {unknown} value null removes it */
  set(key, value) {
    try {
      if (value === null) storage().removeItem(`noughts${BASE}.${key}`);
      else storage().setItem(`noughts${BASE}.${key}`, JSON.stringify(value));
    } catch {
      // not stored then
    }
  },
});

/** Stored across visits. */
export const memory = storageOf(() => localStorage);

/** Stored while the tab is open, also across reloads. */
export const session = storageOf(() => sessionStorage);

export const MAX_NAME_CHARACTERS = 32;

/** Your name, or "". */
export function yourName() {
  const kept = memory.get("name");
  return typeof kept === "string" && kept.length <= MAX_NAME_CHARACTERS ? kept.trim() : "";
}

/** @type {(keyof Results)[]} */
export const RESULTS = ["won", "drawn", "lost", "streak", "best"];

/** Your results at a level; null if there are none. @param {string} level @returns {Results | null} */
export function yourResults(level) {
  const kept = memory.get("results")?.[level];
  return RESULTS.every((key) => Number.isSafeInteger(kept?.[key])) ? kept : null;
}

// Screens

/** @type {[RegExp, () => Promise<Screen>][]} */
const SCREENS = [
  [/^\/$/, () => import("./home.js")],
  [/^\/(?:play|replay)(?:\/([^/]*))?$/, () => import("./home.js")],
  [/^\/(friend|open|bots)$/, () => import("./friends.js")],
  [/^\/lobby$/, () => import("./lobby.js")],
  [/^\/games$/, () => import("./records.js")],
  [/^\/game\/([^/]*)$/, () => import("./online.js")],
];

const place = /** @type {HTMLElement} */ (document.getElementById("screen"));
/** @type {Leave} */
let leave = () => {};
let visit = 0;

/** The number of the visit to this screen, by which late answers notice that they are for an earlier one. */
export const currentVisit = () => visit;

/** @param {string} title */
export const setTitle = (title) => (document.title = title ? `${title} · noughts` : "noughts");

/**
 * Go to another screen, like a link.
 * @param {string} path @param {unknown} handoff what this screen has fetched for it
 */
export function go(path, handoff = null, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"](null, "", BASE + path);
  scrollTo(0, 0);
  show(handoff).then(focusTitle);
}

export const focusTitle = () => place.querySelector("h1")?.focus({ preventScroll: true });

/** Show the screen of the address. @param {unknown} handoff */
async function show(handoff = null) {
  const mine = ++visit;
  leave();
  leave = () => {};
  const path = location.pathname.slice(BASE.length);
  const found = SCREENS.find(([pattern]) => pattern.test(path));
  /** @type {Screen} */
  let screen = { mount: lost };
  if (found) {
    let why = say("page.not_loaded");
    const part = await load(found[1], (away) => (why = away));
    screen = part ?? { mount: (where) => failing(where, why) };
  }
  if (mine !== visit) return; // navigated elsewhere in the meantime
  setTitle("");
  place.replaceChildren();
  try {
    leave = screen.mount(place, handoff, ...(found?.[0].exec(path)?.slice(1) ?? [])) ?? (() => {});
  } catch (error) {
    failing(place, say("page.failed"));
    throw error;
  }
}

/** @param {HTMLElement} where */
const lost = (where) => message(where, say("page.lost"), link("/", say("page.to_start")));

/** @param {HTMLElement} where @param {string} why */
const failing = (where, why) => message(where, why, button(say("page.try_again"), reload));

document.addEventListener("click", (event) => {
  const anchor = event.target instanceof Element && event.target.closest("a");
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!anchor || !isPlain || event.defaultPrevented || anchor.target || anchor.download) return;
  if (anchor.origin !== location.origin || !anchor.pathname.startsWith(`${BASE}/`)) return;
  event.preventDefault();
  go(anchor.pathname.slice(BASE.length) + anchor.search + anchor.hash);
});
addEventListener("popstate", () => show().then(focusTitle));
document.getElementById("settings")?.addEventListener("click", async () => {
  const settings = await load(() => import("./settings.js"), notify);
  settings?.open();
});

// Parts that cannot be loaded, and versions: an old page and a new server

const VERSION_TIMEOUT_MS = 5000;

/**
 * Load a part of the page. Returns null if it cannot be loaded: if the server is away, calls `away` with a
 * sentence about it, and otherwise asks the player to reload the page.
 * @template T
 * @param {() => Promise<T>} part @param {(sentence: string) => void} away
 * @returns {Promise<T | null>}
 */
export async function load(part, away = () => {}) {
  try {
    return await part();
  } catch {
    const isThere = await askToReload(say("page.not_loaded"));
    if (!isThere) away(say("page.unreachable"));
    return null;
  }
}

for (const kind of ["error", "unhandledrejection"])
  addEventListener(kind, async () => {
    const isThere = await askToReload(say("page.failed"));
    if (!isThere) notify(say("page.failed"));
  });

/**
 * Ask the player to reload the page if the server has another version of it, or else for the reason given.
 * False if the server is away: then nothing could be loaded.
 */
export async function askToReload(why = "") {
  const isOld = await isOutdated();
  const sentence = isOld ? say("page.outdated") : why;
  if (isOld !== null && sentence) notify(sentence, button(say("page.reload"), reload));
  return isOld !== null;
}

/** Whether the server has another version of the page, or null if it is away. */
async function isOutdated() {
  try {
    const signal = AbortSignal.timeout(VERSION_TIMEOUT_MS);
    const answer = await fetch(`${BASE}/worker.js`, { cache: "no-store", signal });
    return answer.ok ? !(await answer.text()).includes(VERSION) : null;
  } catch {
    return null;
  }
}

/** Say something at the foot of the window. @param {string} sentence @param {Element} [action] */
function notify(sentence, action) {
  const bar = /** @type {HTMLElement} */ (document.getElementById("news"));
  if (bar.firstChild?.textContent === sentence) return;
  const dismiss = button(say("page.dismiss"), () => bar.replaceChildren());
  bar.replaceChildren(h("p", { role: "alert" }, sentence), action ?? dismiss);
}

/**
 * Start the worker of the new version and load the page again; without a worker, if the new one could not be
 * installed and the old one would only bring the old page back.
 */
async function reload() {
  const registration = await navigator.serviceWorker?.getRegistration();
  await registration?.update().catch(() => {}); // offline
  const worker = registration?.waiting ?? registration?.installing;
  const reloadWithout = async () => {
    if (await isOutdated()) await registration?.unregister();
    location.reload();
  };
  if (!worker) return reloadWithout();
  navigator.serviceWorker.addEventListener("controllerchange", () => location.reload());
  worker.addEventListener("statechange", () => worker.state === "redundant" && reloadWithout());
  worker.postMessage("activate");
}

/** Keep the page for visits without a network; browsers allow it on https and localhost. */
async function keepOffline() {
  if (!("serviceWorker" in navigator)) return loadAll();
  const registration = await navigator.serviceWorker.register(`${BASE}/worker.js`);
  if (registration.waiting) offerUpdate();
  const watch = () => {
    const worker = registration.installing;
    worker?.addEventListener("statechange", () => {
      if (worker.state === "installed" && registration.active) offerUpdate();
    });
  };
  watch();
  registration.addEventListener("updatefound", watch);
}

const offerUpdate = () => notify(say("page.updated"), button(say("page.reload"), reload));

/** Load what this page may need later, while there is a network. */
const loadAll = () =>
  Promise.all([
    import("./records.js"),
    import("./celebration.js"),
    import("./coach.js"),
    import("./friends.js"),
    import("./settings.js"),
    import("./event_log.js"),
    import("./turning_point.js").then(({ loadMistakes }) => loadMistakes()),
  ]);

show().then(() => keepOffline().catch(() => {})); // which is optional
