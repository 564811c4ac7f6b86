/** Sounds and confetti; off by the settings, or with reduced motion. */

import { h, memory } from "./page.js";

const PIECES = 24;
/** Notes in hertz, one after the other. */
const TUNES = { won: [523, 659, 784, 1047], drawn: [523, 523], lost: [392, 330], tick: [660] };
const NOTE_SECONDS = 0.11;

const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** @type {AudioContext | null} */
let audio = null;

/** @param {"won" | "drawn" | "lost"} outcome @param {Element} screen where to celebrate */
export function celebrate(outcome, screen) {
  sound(outcome);
  const place = screen.querySelector("noughts-board");
  if (outcome === "won" && place && !isStill() && memory.get("celebration") !== false) confetti(place);
}

/** The sound of a mark. */
export const tick = () => sound("tick");

/** @param {keyof typeof TUNES} tune */
function sound(tune) {
  if (isStill() || memory.get("sounds") === false || !("AudioContext" in globalThis)) return;
  audio ??= new AudioContext();
  audio.resume(); // it may have been interrupted
  const start = audio.currentTime + 0.02;
  const volume = tune === "tick" ? 0.03 : 0.08;
  for (const [at, pitch] of TUNES[tune].entries()) {
    const from = start + at * NOTE_SECONDS;
    const gain = new GainNode(audio, { gain: 0 });
    gain.gain.setValueAtTime(volume, from);
    gain.gain.exponentialRampToValueAtTime(0.001, from + 2 * NOTE_SECONDS);
    const tone = new OscillatorNode(audio, { frequency: pitch, type: "triangle" });
    tone.connect(gain).connect(audio.destination);
    tone.start(from);
    tone.stop(from + 2 * NOTE_SECONDS);
  }
}

/** @param {Element} place */
function confetti(place) {
  const pieces = Array.from({ length: PIECES }, (_, at) => {
    const piece = h("i", { class: `piece p${at % 4}` });
    piece.style.setProperty("--x-to", `${(24 * Math.random() - 12).toFixed(1)}rem`);
    piece.style.setProperty("--turn", `${Math.round(720 * Math.random())}deg`);
    piece.style.setProperty("--wait", `${Math.round(250 * Math.random())}ms`);
    return piece;
  });
  const shower = h("div", { class: "confetti", "aria-hidden": "true" }, ...pieces);
  place.append(shower);
  shower.addEventListener("animationend", ({ target }) => {
    if (target === pieces[PIECES - 1]) shower.remove();
  });
}
