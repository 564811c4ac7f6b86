/** The theme, and the list of keys. */

import { h, memory } from "./dom.js";

const THEMES = [
  ["", "System"],
  ["light", "Light"],
  ["dark", "Dark"],
];
const KEYS = [
  ["1 – 9", "place your mark on that cell"],
  ["Arrows", "walk over the board"],
  ["Enter", "place your mark where you are"],
];

export function open() {
  const chosen = memory.get("theme") ?? "";
  const dialog = h(
    "dialog",
    { class: "sheet", "aria-labelledby": "settings-title", onclose: () => dialog.remove() },
    h("h2", { id: "settings-title" }, "Settings"),
    h(
      "fieldset",
      { class: "field" },
      h("legend", {}, "Appearance"),
      h(
        "div",
        { class: "segments", onchange: (event) => wear(event.target.value) },
        ...THEMES.map(([value, text]) =>
          h(
            "label",
            {},
            h("input", { type: "radio", name: "theme", value, checked: value === chosen }),
            h("span", {}, text),
          ),
        ),
      ),
    ),
    h("h3", {}, "Keys"),
    h("dl", { class: "keys" }, ...KEYS.flatMap(([key, does]) => [h("dt", {}, key), h("dd", {}, does)])),
    h("button", { type: "button", class: "btn main wide", onclick: () => dialog.close() }, "Done"),
  );
  document.body.append(dialog);
  dialog.showModal();
}

function wear(theme) {
  memory.set("theme", theme || null);
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}
