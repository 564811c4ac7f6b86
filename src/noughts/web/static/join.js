/** The screen for a person who opens an invitation. */

import { newKey, Refusal } from "./ask.js";
import { h, session } from "./dom.js";
import { free } from "./sentence.js";
import { answers, complain, nameField } from "./setup.js";

/**
 * @param {import("./sentence.js").State} state
 * @param {(body: object, broken: (error: Error) => void) => Promise<void>} join
 * @param {() => void} watch
 */
export function panel(state, join, watch) {
  const invite = location.hash.slice(1) || null;
  const form = h(
    "form",
    { class: "setup", onsubmit: send },
    nameField("Your name", "name"),
    h("button", { class: "btn main wide", type: "submit" }, "Take the seat"),
    h("p", { class: "said", role: "alert" }),
    h("button", { class: "quiet", type: "button", onclick: watch }, "Just watch"),
  );

  async function send(event) {
    event.preventDefault();
    if (form.dataset.busy) return;
    form.dataset.busy = "yes";
    // Kept until it is answered: a retry, even after a reload, gets the same seat.
    const kept = `join.${state.id}`;
    const key = session.get(kept) ?? newKey();
    session.set(kept, key);
    try {
      await join({ invite, ...answers(form), key }, (error) =>
        complain(form, new Error(`${error.message} It will be tried again.`)),
      );
      session.set(kept, null);
    } catch (error) {
      if (error instanceof Refusal) session.set(kept, null);
      complain(form, error);
    } finally {
      delete form.dataset.busy;
    }
  }

  return h("div", { class: "join" }, h("p", { class: "soft" }, offer(state)), form);
}

function offer(state) {
  const mark = free(state);
  if (!mark) return "You have asked for the seat before, and the answer was lost. Ask again.";
  const { first } = state.game;
  return `You play ${mark}. ${first === mark ? "You start." : `${first} starts.`}`;
}
