/** Games with other people: starting one, inviting somebody, and taking a seat. */

import { get, newKey, post, Refusal } from "./api.js";
import {
  BASE,
  LEVELS,
  button,
  choice,
  copyButton,
  currentVisit,
  data,
  go,
  h,
  levelName,
  MAX_NAME_CHARACTERS,
  memory,
  name,
  say,
  session,
  setTitle,
  yourName,
} from "./page.js";
import { botName } from "./seats.js";

/** @typedef {import("./game_client.js").Known} Known */

const LOCAL_HOST = /^(?:(?:.*\.)?localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\])$/;
const INVITATION = /^[\w-]{32}$/;
const MAX_INVITES = 100;

/** The last game that was asked for: a retry after a lost answer creates no second game. */
let lastRequest = { body: "", key: "" };
let isCreating = false;

const withYourName = () => (yourName() ? { name: yourName() } : {});

/** Create a game and show it. @param {Record<string, unknown>} wanted */
export async function createGame(wanted = { opponent: "friend", ...withYourName() }) {
  if (isCreating) return;
  isCreating = true;
  const visit = currentVisit();
  const body = JSON.stringify(wanted);
  if (lastRequest.body !== body) lastRequest = { body, key: newKey() };
  const seated = await post("/games", { ...wanted, key: lastRequest.key }).finally(
    () => (isCreating = false),
  );
  lastRequest.body = "";
  if (seated.invite) keepInvite(seated.id, seated.invite);
  if (visit === currentVisit()) go(`/game/${seated.id}`, seated); // unless they have gone elsewhere
}

/** Say near what was pressed why it failed. @param {Element} place @param {unknown} error */
export function complain(place, error) {
  place.textContent = /** @type {Error} */ (error).message;
}

/**
 * A form that is sent once at a time; errors appear above its button.
 * @param {string} submit @param {(body: Record<string, string>) => Promise<unknown>} send @param {...Element} fields
 */
function form(submit, send, ...fields) {
  const said = h("p", { class: "said", role: "alert" });
  const element = h(
    "form",
    { class: "setup", onsubmit: press },
    ...fields,
    said,
    h("button", { class: "btn main wide", type: "submit" }, submit),
  );
  /** @param {SubmitEvent} event */
  async function press(event) {
    event.preventDefault();
    if (element.dataset.busy) return;
    element.dataset.busy = "yes";
    said.textContent = "";
    try {
      const given = answers(element);
      await send(given);
      if (element.elements.namedItem("name")) memory.set("name", given.name ?? null); // which was accepted
    } catch (error) {
      complain(said, error);
    } finally {
      delete element.dataset.busy;
    }
  }
  return element;
}

/**
 * The values of a form; an empty name is not sent.
 * @param {HTMLFormElement} element
 */
function answers(element) {
  const given = /** @type {Record<string, string>} */ (Object.fromEntries(new FormData(element)));
  if (!("name" in given)) return given;
  const { name: written, ...others } = given;
  return written.trim() ? { name: written.trim(), ...others } : others;
}

/** A field for your name, filled with the last one. */
function nameField() {
  const field = h("input", {
    name: "name",
    maxlength: MAX_NAME_CHARACTERS,
    autocomplete: "nickname",
    autocapitalize: "words",
    spellcheck: "false",
    enterkeyhint: "go",
    dir: "auto",
    placeholder: say("page.optional"),
  });
  field.value = yourName();
  return h("label", { class: "field" }, h("span", {}, say("page.your_name")), field);
}

/** @returns {[string, string][]} */
const marks = () => [
  ["X", "X"],
  ["O", "O"],
  ["random", say("page.at_random")],
];

/** The choices of a mark and of who starts. */
const seatChoices = () => [
  choice(say("page.your_mark"), "mark", marks(), "X"),
  choice(say("page.who_starts"), "first", marks(), "X"),
];

/** The screens before a game. @param {HTMLElement} place @param {unknown} _handoff @param {string} kind */
export function mount(place, _handoff, kind) {
  setTitle(say(`page.${kind}`));
  const hero = h(
    "div",
    { class: "hero" },
    h("h1", { tabindex: "-1" }, say(`page.${kind}`)),
    h("p", {}, say(`page.${kind}_about`)),
  );
  place.append(hero);
  if (kind === "bots") return void listBots(hero);
  const submit = say(kind === "friend" ? "page.get_link" : "page.open");
  const opponent = kind === "friend" ? "friend" : "lobby";
  hero.append(form(submit, (body) => createGame({ opponent, ...body }), nameField(), ...seatChoices()));
}

/** The server's bots, with their exact strength. @param {HTMLElement} hero */
async function listBots(hero) {
  const said = h("p", { class: "said", role: "alert" });
  const list = h("ul", { class: "games" });
  hero.append(said, list);
  try {
    const { bots } = await get("/bots");
    for (const { policy, description, strength } of bots) {
      const level = LEVELS.find((one) => data.levels[one] === policy);
      const play = () =>
        createGame({ opponent: "bot", bot: policy, ...withYourName() }).catch((error) =>
          complain(said, error),
        );
      const about = h(
        "span",
        {},
        h("strong", {}, name(botName(policy)), level !== policy && level && ` (${levelName(level)})`),
        h("small", {}, description),
        h("small", {}, strength),
      );
      const label = say("page.play_bot", { bot: botName(policy) });
      list.append(h("li", {}, about, button(say("page.play"), play, { "aria-label": label })));
    }
  } catch (error) {
    complain(said, error);
  }
}

// An invitation

/** What the link of this address is, as an invitation. */
export function invitation() {
  const code = location.hash.slice(1);
  return INVITATION.test(code) ? "whole" : code ? "cut" : "none";
}

/**
 * The invitation codes of games created here, so that the link survives a reload.
 * @param {string} id @param {string} code
 */
function keepInvite(id, code) {
  const kept = Object.entries(memory.get("invites") ?? {}).slice(1 - MAX_INVITES);
  memory.set("invites", Object.fromEntries([...kept, [id, code]]));
}

/** The link for the other player, to copy, share or scan. @param {string} id @param {Known} known */
export function invitePanel(id, { room }) {
  const code = memory.get("invites")?.[id];
  if (!code && !room.lobby) return h("p", { class: "soft" }, say("page.link_elsewhere"));
  const address = `${location.origin}${BASE}/game/${id}${room.lobby ? "" : `#${code}`}`;
  const field = h("input", { class: "link", readonly: true, "aria-label": say("page.link_label") });
  field.value = address;
  field.addEventListener("focus", () => field.select());
  const isLocal = LOCAL_HOST.test(location.hostname);
  const image = h("div", { class: "qr" });
  if (!isLocal) drawCode(image, address);
  return h(
    "div",
    { class: "invite" },
    h("p", { class: "soft" }, say(room.lobby ? "page.listed" : "page.send_link")),
    field,
    h(
      "div",
      { class: "row" },
      copyButton(say("page.copy_link"), () => address, { class: "btn main" }),
      "share" in navigator && button(say("page.share"), () => share(address)),
    ),
    isLocal && h("p", { class: "warning" }, say("page.link_is_local", { host: location.hostname })),
    image,
  );
}

/** @param {string} url */
async function share(url) {
  try {
    await navigator.share({ title: "noughts", text: say("page.share_text"), url });
  } catch {
    // they cancelled
  }
}

/** @param {HTMLElement} place @param {string} address */
async function drawCode(place, address) {
  try {
    const { svg } = await post("/qr", { link: address });
    place.append(
      h("img", { src: `data:image/svg+xml,${encodeURIComponent(svg)}`, alt: say("page.link_code") }),
    );
  } catch {
    place.remove(); // the link itself is still shown
  }
}

/**
 * The form for somebody who is invited.
 * @param {string} id @param {string} offer @param {(body: object, said: Element) => Promise<unknown>} join @param {() => void} watch
 */
export function joinPanel(id, offer, join, watch) {
  const kept = `join.${id}`;
  const invite = location.hash.slice(1) || null;
  const element = form(
    say("page.take_seat"),
    async (body) => {
      // Kept until it is answered: a retry, even after a reload, gets the same seat.
      const key = session.get(kept) ?? newKey();
      session.set(kept, key);
      try {
        await join({ invite, ...body, key }, /** @type {Element} */ (element.querySelector(".said")));
        session.set(kept, null);
      } catch (error) {
        if (error instanceof Refusal) session.set(kept, null);
        throw error;
      }
    },
    nameField(),
  );
  return h(
    "div",
    { class: "join" },
    h("p", { class: "soft" }, offer),
    element,
    button(say("page.just_watch"), watch, { class: "quiet" }),
  );
}
