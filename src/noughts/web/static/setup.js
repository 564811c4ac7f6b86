/** The forms for a new game: opponent, names, marks and who starts. */

import { get, newKey, post } from "./ask.js";
import { BASE } from "./base.js";
import { announce, h, memory, name as bdi } from "./dom.js";
import { botName } from "./sentence.js";

const LONGEST_NAME = 32;
const MARKS = [
  ["X", "X"],
  ["O", "O"],
  ["random", "At random"],
];

const KINDS = {
  friend: {
    title: "Play a friend",
    about: "You get a link. The first person to open it plays against you.",
    fields: () => [nameField("Your name", "name"), markChoice(), firstChoice()],
    submit: "Make the link",
  },
  same: {
    title: "Same screen",
    about: "Two people, one device.",
    fields: () => [nameField("Who plays X", "name"), nameField("Who plays O", "other"), firstChoice()],
    submit: "Play",
  },
  computer: {
    title: "Play the computer",
    about: "Each says exactly how strong it is.",
    fields: () => [nameField("Your name", "name"), markChoice(), firstChoice()],
    submit: null,
  },
};

const OPPONENTS = { friend: "friend", same: "self", computer: "bot" };

export function mount(place, context) {
  const which = location.hash.slice(1);
  const kind = KINDS[which];
  if (!kind) {
    context.go(`${BASE}/`, null, { replace: true });
    return () => {};
  }
  context.title(kind.title);
  const create = creator(context, () => ({ opponent: OPPONENTS[which] }));
  const form = h(
    "form",
    { class: "setup", onsubmit: create },
    ...kind.fields(),
    kind.submit && h("button", { class: "btn main wide", type: "submit" }, kind.submit),
    h("p", { class: "said", role: "alert" }),
  );
  place.append(
    h("div", { class: "hero" }, h("h1", { tabindex: "-1" }, kind.title), h("p", {}, kind.about), form),
  );
  if (which === "computer") listBots(form);
  return () => {};
}

/**
 * Returns a submit handler that creates the game and shows its screen.
 * @param {import("./app.js").Context} context
 * @param {() => object} wanted the fields that the form does not have
 */
export function creator(context, wanted) {
  let sent = { wish: "", key: "" }; // a retry after a lost answer creates no second game
  return async (event) => {
    event.preventDefault();
    const form = event.currentTarget;
    if (form.dataset.busy) return;
    form.dataset.busy = "yes";
    const body = { ...wanted(), ...answers(form) };
    if (event.submitter?.value) body.bot = event.submitter.value;
    const wish = JSON.stringify(body);
    if (sent.wish !== wish) sent = { wish, key: newKey() };
    try {
      const seated = await post("/games", { ...body, key: sent.key });
      sent.wish = "";
      if (seated.invite) rememberInvite(seated.id, seated.invite);
      context.go(`${BASE}/game/${seated.id}`, seated);
    } catch (error) {
      complain(form, error);
    } finally {
      delete form.dataset.busy;
    }
  };
}

/** Show below a form why it was refused. */
export function complain(form, error) {
  const wait = error.retryAfter ? ` Try again in ${error.retryAfter} s.` : "";
  form.querySelector(".said").textContent = error.message + wait;
}

/** The values of a form; names are remembered, and empty ones are not sent. */
export function answers(form) {
  const given = Object.fromEntries(new FormData(form));
  for (const key of ["name", "other"]) {
    if (!(key in given)) continue;
    given[key] = given[key].trim();
    memory.set(key, given[key] || null);
    if (!given[key]) delete given[key];
  }
  return given;
}

/** A field for a name, filled with the last one. */
export function nameField(label, key) {
  const field = h("input", {
    name: key,
    maxlength: LONGEST_NAME,
    autocomplete: key === "name" ? "nickname" : "off",
    autocapitalize: "words",
    spellcheck: "false",
    enterkeyhint: "go",
    dir: "auto",
    placeholder: "Optional",
  });
  field.value = memory.get(key) ?? "";
  return h("label", { class: "field" }, h("span", {}, label), field);
}

/** The choice of a mark. */
export const markChoice = () => choice("Your mark", "mark", MARKS);

/** The choice of who starts. */
export const firstChoice = () => choice("Who starts", "first", MARKS);

function choice(legend, key, options) {
  return h(
    "fieldset",
    { class: "field" },
    h("legend", {}, legend),
    h(
      "div",
      { class: "segments" },
      ...options.map(([value, text], index) =>
        h(
          "label",
          {},
          h("input", { type: "radio", name: key, value, checked: index === 0 }),
          h("span", {}, text),
        ),
      ),
    ),
  );
}

/** The invitation codes of games created here, so that the link survives a reload. */
export function rememberInvite(id, code) {
  const kept = Object.entries(invites()).slice(-9);
  memory.set("invites", JSON.stringify(Object.fromEntries([...kept, [id, code]])));
}

/** The invitation code of a game, if it was created here. */
export const inviteOf = (id) => invites()[id] ?? null;

function invites() {
  try {
    return JSON.parse(memory.get("invites")) ?? {};
  } catch {
    return {};
  }
}

async function listBots(form) {
  const list = h(
    "div",
    { class: "bots", role: "group", "aria-label": "Opponents" },
    h("p", { class: "soft" }, "Loading bots…"),
  );
  form.querySelector(".said").before(list);
  try {
    const { bots } = await get("/bots");
    list.replaceChildren(...bots.map(botChoice));
  } catch (error) {
    list.replaceChildren();
    complain(form, error);
    announce(error.message);
  }
}

function botChoice({ policy, strength }) {
  return h(
    "button",
    { class: "choice", type: "submit", value: policy },
    h("span", {}, h("strong", {}, bdi(botName(policy))), h("small", {}, strength)),
    h("span", { class: "arrow", "aria-hidden": "true" }, "→"),
  );
}
