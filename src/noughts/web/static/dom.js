/**
 * Elements made in one expression. Text goes in as text and never as HTML: names come from strangers.
 */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Make an element. Properties that start with "on" listen; the others are attributes, left out where
 * they are null or false.
 * @param {string} tag
 * @param {Record<string, unknown>} attributes
 * @param {...(Node | string | null | false | undefined)} children
 */
export const h = (tag, attributes = {}, ...children) =>
  build(document.createElement(tag), attributes, children);

/** Make an element of a drawing. */
export const s = (tag, attributes = {}, ...children) =>
  build(document.createElementNS(SVG, tag), attributes, children);

/** A stranger's name: whatever its direction of writing, it leaves the rest of the line alone. */
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

/** Change a text only if it is another: a live region and a reader's place stay as they are. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Set an attribute, or take it away where the value is null or false. */
export function setAttribute(element, key, value) {
  if (value === null || value === false || value === undefined) element.removeAttribute(key);
  else if (element.getAttribute(key) !== `${value}`) element.setAttribute(key, value);
}

/** A button. One that is idle keeps the focus that it has, and does nothing: aria-disabled, not disabled. */
export function button(label, act, attributes = {}) {
  const press = () => element.getAttribute("aria-disabled") !== "true" && act();
  const element = h("button", { type: "button", class: "btn", ...attributes, onclick: press }, label);
  return element;
}

/** The mark as a small drawing. @param {"X" | "O"} mark @param {string} kind its class */
export function chip(mark, kind = "chip") {
  const strokes =
    mark === "X" ? s("path", { d: "M24 24 76 76M76 24 24 76" }) : s("circle", { cx: 50, cy: 50, r: 30 });
  return s(
    "svg",
    { class: `${kind} ${mark.toLowerCase()}`, viewBox: "0 0 100 100", "aria-hidden": "true" },
    strokes,
  );
}

/** Let a screen reader hear a sentence when it has the time. */
export function announce(sentence) {
  const live = document.getElementById("live");
  // The same words again are news, too: a space more makes them another text.
  live.textContent = live.textContent === sentence ? `${sentence} ` : sentence;
}

/** Remember across visits. */
export const memory = keeper(() => localStorage);

/** Remember for as long as the tab is open, even if the page is loaded anew. */
export const session = keeper(() => sessionStorage);

/** A browser that keeps nothing for us is no error. */
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
        // nothing is kept then
      }
    },
  };
}

/** Copy a text. Pages that are not served over https have no clipboard of the new kind. */
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

/** A button that copies what `text` returns, and says so for a moment. */
export function copyButton(label, text, attributes = {}) {
  let back = 0;
  const element = button(label, press, attributes);
  async function press() {
    const isDone = await copy(text());
    element.style.minWidth = `${element.offsetWidth}px`; // so that its neighbours stay where they are
    element.textContent = isDone ? "Copied" : "Not copied";
    announce(isDone ? "Copied." : "The browser did not let it be copied.");
    clearTimeout(back);
    back = setTimeout(() => (element.textContent = label), 2000);
  }
  return element;
}
