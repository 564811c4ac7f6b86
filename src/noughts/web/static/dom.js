/**
 * Creates elements. Text is never parsed as HTML: names come from strangers.
 */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Create an element. Properties that start with "on" are listeners; the others are attributes, left out
 * if they are null or false.
 * @param {string} tag
 * @param {Record<string, unknown>} attributes
 * @param {...(Node | string | null | false | undefined)} children
 */
export const h = (tag, attributes = {}, ...children) =>
  build(document.createElement(tag), attributes, children);

/** Create an SVG element. */
export const s = (tag, attributes = {}, ...children) =>
  build(document.createElementNS(SVG, tag), attributes, children);

/** A name, isolated so that its writing direction does not affect the rest of the line. */
export const name = (text) => h("bdi", {}, text);

function build(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(key, value === true ? "" : value);
    }
  }
  element.append(...children.filter((child) => child || child === 0));
  return element;
}

/** Change a text only if it differs, so that live regions and reading positions are not disturbed. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Set an attribute, or remove it if the value is null or false. */
export function setAttribute(element, key, value) {
  if (value === null || value === false || value === undefined) element.removeAttribute(key);
  else if (element.getAttribute(key) !== `${value}`) element.setAttribute(key, value);
}

/** A button. An idle one does nothing but keeps its focus: aria-disabled, not disabled. */
export function button(label, act, attributes = {}) {
  const press = () => element.getAttribute("aria-disabled") !== "true" && act();
  const element = h("button", { type: "button", class: "btn", ...attributes, onclick: press }, label);
  return element;
}

/** A mark as a small drawing. @param {"X" | "O"} mark @param {string} kind its class */
export function chip(mark, kind = "chip") {
  const strokes =
    mark === "X" ? s("path", { d: "M24 24 76 76M76 24 24 76" }) : s("circle", { cx: 50, cy: 50, r: 30 });
  return s(
    "svg",
    { class: `${kind} ${mark.toLowerCase()}`, viewBox: "0 0 100 100", "aria-hidden": "true" },
    strokes,
  );
}

/** Announce a sentence to screen readers, politely. */
export function announce(sentence) {
  const live = document.getElementById("live");
  // Appending a space makes a repeated sentence a new text, so that it is announced again.
  live.textContent = live.textContent === sentence ? `${sentence} ` : sentence;
}

/** Stored across visits. */
export const memory = keeper(() => localStorage);

/** Stored while the tab is open, also across reloads. */
export const session = keeper(() => sessionStorage);

/** A browser without storage is not an error. */
function keeper(storage) {
  return {
    get(key) {
      try {
        return storage().getItem(`noughts.${key}`);
      } catch {
        return null;
      }
    },
    set(key, value) {
      try {
        if (value === null) storage().removeItem(`noughts.${key}`);
        else storage().setItem(`noughts.${key}`, value);
      } catch {
        // not stored then
      }
    },
  };
}

/** Copy a text. Without https there is no `navigator.clipboard`. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = h("textarea", { class: "unseen", "aria-hidden": "true", tabindex: "-1" });
    field.value = text;
    const focused = document.activeElement;
    document.body.append(field);
    field.select();
    const copied = document.execCommand("copy");
    field.remove();
    focused?.focus?.();
    return copied;
  }
}

/** A button that copies what `text` returns, and briefly confirms it. */
export function copyButton(label, text, attributes = {}) {
  let back = 0;
  const element = button(label, press, attributes);
  async function press() {
    const isDone = await copy(text());
    element.style.minWidth = `${element.offsetWidth}px`; // so that its neighbours do not move
    element.textContent = isDone ? "Copied" : "Not copied";
    announce(isDone ? "Copied." : "Copying was blocked by the browser.");
    clearTimeout(back);
    back = setTimeout(() => (element.textContent = label), 2000);
  }
  return element;
}
