/** Your name, appearance, sounds, and the list of keys. */

import { button, choice, h, MAX_NAME_CHARACTERS, memory, say, yourName } from "./page.js";

const THEMES = ["system", "light", "dark"];
const SWITCHES = ["sounds", "celebration", "digits"];
const KEYS = ["digits", "arrows", "enter", "escape"];

export function open() {
  if (document.querySelector("dialog")) return;
  const given = h("input", {
    maxlength: MAX_NAME_CHARACTERS,
    autocomplete: "nickname",
    spellcheck: "false",
    dir: "auto",
  });
  given.value = yourName();
  given.addEventListener("change", () => memory.set("name", given.value.trim() || null));
  const themes = choice(
    say("page.appearance"),
    "theme",
    THEMES.map((theme) => [theme, say(`page.theme_${theme}`)]),
    THEMES.includes(memory.get("theme")) ? memory.get("theme") : "system",
  );
  themes.addEventListener("change", (event) =>
    applyTheme(/** @type {HTMLInputElement} */ (event.target).value),
  );
  const dialog = h(
    "dialog",
    { class: "sheet", "aria-labelledby": "settings-title", onclose: () => dialog.remove() },
    h("h2", { id: "settings-title" }, say("page.settings")),
    h("label", { class: "field" }, h("span", {}, say("page.your_name")), given),
    themes,
    ...SWITCHES.map(toggle),
    h("h3", {}, say("page.keys")),
    h(
      "dl",
      { class: "keys" },
      ...KEYS.flatMap((key) => [h("dt", {}, say(`page.key_${key}`)), h("dd", {}, say(`page.does_${key}`))]),
    ),
    button(say("page.done"), () => dialog.close(), { class: "btn main wide" }),
  );
  document.body.append(dialog);
  dialog.showModal();
}

/** @param {string} key */
function toggle(key) {
  const box = h("input", { type: "checkbox" });
  box.checked = memory.get(key) !== false;
  box.addEventListener("change", () => memory.set(key, box.checked ? null : false));
  return h("label", { class: "switch" }, box, h("span", {}, say(`page.${key}`)));
}

/** @param {string} theme */
function applyTheme(theme) {
  memory.set("theme", theme === "system" ? null : theme);
  dispatchEvent(new Event("theme"));
}
