/** The text below the buttons of a game: a question, an offer or a message. */

import { other } from "./game.js";
import { about, called } from "./sentence.js";

/**
 * @typedef {object} Slot
 * @property {[string, string]} words a name, if the sentence starts with one, and the rest
 * @property {[string, string][]} choices the label and the action of each button
 */

const NOTHING = { words: ["", ""], choices: [] };

/**
 * @param {import("./sentence.js").State} state
 * @param {{isResigning: boolean, said: string}} now
 * @returns {Slot}
 */
export function slot(state, { isResigning, said }) {
  const { game, room, you } = state;
  const { offer } = room;
  if (isResigning && !game.over) {
    return {
      words: ["", "Resign this game?"],
      choices: [
        ["Yes, resign", "resign"],
        ["No, play on", "playOn"],
      ],
    };
  }
  if (offer && isAsked(state, offer)) {
    return {
      words: asked(state),
      choices:
        offer.kind === "takeBack"
          ? [
              ["Allow", "allow"],
              ["Decline", "decline"],
            ]
          : [],
    };
  }
  if (said) return { words: ["", said], choices: [] };
  if (offer && you.includes(offer.mark)) return { words: ["", offered(state)], choices: [] };
  if (game.over && room.next)
    return { words: ["", "The rematch is on."], choices: [["Go there", "follow"]] };
  if (game.resigned) return { words: about(state, game.resigned, " resigned."), choices: [] };
  if (!you.length) return { words: ["", "You are watching."], choices: [] };
  return NOTHING;
}

/** Whether an offer is to be answered here. */
export const isAsked = ({ you }, { mark }) => you.length === 1 && !you.includes(mark);

/** The opponent's request. @returns {[string, string]} */
export const asked = (state) => {
  const { kind, mark } = state.room.offer;
  return [called(state, mark), kind === "takeBack" ? " asks to take back a move." : " offers a rematch."];
};

function offered(state) {
  const { kind, mark } = state.room.offer;
  const what = kind === "takeBack" ? "You have asked to take back" : "You have offered a rematch";
  return `${what}: ${called(state, other(mark))} decides.`;
}
