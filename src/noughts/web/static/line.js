/** The event stream of one game, which reconnects when it breaks. */

import { at, BrokenLine, get, Refusal } from "./ask.js";
import { BASE } from "./base.js";

const LONGEST_WAIT = 10_000;
const SILENCE_LIMIT_MS = 25_000; // the server sends a ping every 15 s
const CHECK_INTERVAL_MS = 1000;

/**
 * @typedef {object} Listener
 * @property {(version: number, event: object) => void} event
 * @property {(room: object) => void} room
 * @property {(game: object) => void} reset the whole game, read from the server
 * @property {(isOpen: boolean) => void} changed
 * @property {() => void} gone the game no longer exists
 */

export class Line {
  #id;
  #listener;
  #source = null;
  #timer = 0;
  #attempt = 0;
  #heardAt = Infinity; // until a stream is open
  #watch;
  #closing = new AbortController();
  #waiting = [];

  /** @param {string} id @param {Listener} listener */
  constructor(id, listener) {
    this.#id = id;
    this.#listener = listener;
    const { signal } = this.#closing;
    addEventListener("offline", () => this.#lost(), { signal });
    addEventListener("online", () => this.resync(), { signal });
    // Timers stop while a device sleeps, so compare times.
    document.addEventListener("visibilitychange", () => this.#checkSilence(), { signal });
    this.#watch = setInterval(() => this.#checkSilence(), CHECK_INTERVAL_MS);
  }

  /** Follow the events after a version. */
  open(version) {
    this.#source?.close();
    const source = new EventSource(`${BASE}/api/v1${at(this.#id, "events")}?after=${version}`);
    this.#source = source;
    this.#heardAt = Date.now();
    for (const sign of ["open", "message", "room", "ping"])
      source.addEventListener(sign, () => (this.#heardAt = Date.now()));
    source.onopen = () => this.#found();
    source.onmessage = ({ lastEventId, data }) =>
      this.#listener.event(Number(lastEventId), JSON.parse(data));
    source.addEventListener("room", ({ data }) => this.#listener.room(JSON.parse(data)));
    source.onerror = () => {
      this.#listener.changed(false);
      // Closed for good: the server refused, or the browser gave up. Otherwise the browser retries.
      if (source.readyState === EventSource.CLOSED && source === this.#source) this.#later();
    };
  }

  /** Read the whole game, and follow from there. */
  async resync() {
    clearTimeout(this.#timer);
    try {
      const game = await get(at(this.#id));
      if (this.#closing.signal.aborted) return;
      this.#listener.reset(game);
      this.open(game.version);
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      if (error instanceof Refusal && error.status === 404) this.#listener.gone();
      else if (error instanceof BrokenLine || error instanceof Refusal) this.#later();
      else throw error;
    }
  }

  /** Wait until the connection is back, or until it is time for another try. */
  again(attempt) {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      setTimeout(resolve, patience(attempt));
    });
  }

  close() {
    this.#closing.abort();
    clearTimeout(this.#timer);
    clearInterval(this.#watch);
    this.#source?.close();
    this.#release();
  }

  #found() {
    this.#attempt = 0;
    this.#listener.changed(true);
    this.#release();
  }

  #lost() {
    this.#source?.close();
    this.#later();
  }

  #later() {
    this.#heardAt = Infinity;
    this.#listener.changed(false);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.resync(), patience(this.#attempt++));
  }

  /** Detect a dead stream: the browser may get neither events nor an error. */
  #checkSilence() {
    if (Date.now() - this.#heardAt > SILENCE_LIMIT_MS) this.#lost();
  }

  #release() {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** Exponential backoff with jitter. */
const patience = (attempt) => Math.min(LONGEST_WAIT, 500 * 2 ** attempt) * (0.75 + Math.random() / 2);
