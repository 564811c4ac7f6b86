/** The link for the other player, to copy, share or scan. */

import { BASE } from "./base.js";
import { button, copyButton, h } from "./dom.js";
import { inviteOf } from "./setup.js";

/** @param {import("./sentence.js").State} state */
export function panel({ id, room }) {
  const code = inviteOf(id);
  if (!code && !room.lobby) {
    return h("p", { class: "soft" }, "Only the browser that created this game has its link.");
  }
  const link = `${location.origin}${BASE}/game/${id}${room.lobby ? "" : `#${code}`}`;
  const field = h("input", {
    class: "link",
    readonly: true,
    "aria-label": "Link for your friend",
    onfocus: () => field.select(),
  });
  field.value = link;
  const share = navigator.share && button("Share…", () => send(link));
  const image = h("div", { class: "qr" });
  draw(image, link);
  return h(
    "div",
    { class: "invite" },
    h(
      "p",
      { class: "soft" },
      room.lobby
        ? "Your game is listed in the lobby. You can also send the link."
        : "Send this link. The first person to open it takes the other seat.",
    ),
    field,
    h(
      "div",
      { class: "row" },
      copyButton("Copy link", () => link, { class: "btn main" }),
      share,
    ),
    image,
  );
}

async function send(url) {
  try {
    await navigator.share({ title: "noughts", text: "Play noughts with me", url });
  } catch {
    // they cancelled
  }
}

async function draw(place, link) {
  try {
    const { qrImage } = await import("./qr.js");
    place.replaceChildren(qrImage(link, "QR code of the link"));
  } catch {
    place.remove(); // the link itself is still shown
  }
}
