/**
 * The event stream of one game, which reconnects when it breaks. A tab that nobody sees closes its stream and
 * polls, because browsers allow only six connections to a server on HTTP/1.1; unless it waits in the lobby,
 * which lists only games whose players are connected.
 */

import { at, Disconnected, get, Refusal, streamAddress } from "./api.js";

const MAX_RETRY_MS = 10_000;
const SILENCE_LIMIT_MS = 25_000; // the server sends a ping every 15 s
const CHECK_INTERVAL_MS = 1000;
const HIDDEN_POLL_INTERVAL_MS = 10_000;

/**
 * @typedef {object} Listener
 * @property {(version: number, event: import("./game.js").GameEvent) => void} event
 * @property {(room: import("./game_client.js").Room) => void} room
 * @property {() => number} version the last one that is known
 * @property {() => boolean} isListed whether the game waits in the lobby
 * @property {(game: any) => void} reset the whole game, read from the server
 * @property {(isOpen: boolean) => void} changed
 * @property {() => void} gone the game no longer exists
 */

export class GameStream {
  #id;
  #listener;
  /** @type {EventSource | null} */
  #source = null;
  #timer = 0;
  #attempt = 0;
  /** Counts the reads of the game: the answer to an earlier one may be late. */
  #reads = 0;
  #lastSignalAt = Infinity; // until a stream is open
  #watch;
  #closing = new AbortController();
  /** @type {(() => void)[]} */
  #waiting = [];

  /** @param {string} id @param {Listener} listener */
  constructor(id, listener) {
    this.#id = id;
    this.#listener = listener;
    const { signal } = this.#closing;
    addEventListener("offline", () => this.#lost(), { signal });
    addEventListener("online", () => this.resync(), { signal });
    document.addEventListener("visibilitychange", () => this.#changeVisibility(), { signal });
    // Timers stop while a device sleeps, so compare times.
    this.#watch = setInterval(() => this.#checkSilence(), CHECK_INTERVAL_MS);
  }

  /** Follow the events after a version. @param {number} version */
  open(version) {
    if (this.#closing.signal.aborted) return;
    this.#source?.close();
    if (this.#isIdle) return this.#poll();
    const source = new EventSource(streamAddress(this.#id, version));
    this.#source = source;
    this.#lastSignalAt = Date.now();
    for (const sign of ["open", "message", "room", "ping"])
      source.addEventListener(sign, () => (this.#lastSignalAt = Date.now()));
    source.onopen = () => {
      this.#found();
      this.#closeIfIdle();
    };
    source.onmessage = ({ lastEventId, data }) => {
      this.#listener.event(Number(lastEventId), JSON.parse(data));
      this.#closeIfIdle();
    };
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
    const mine = ++this.#reads;
    const before = this.#listener.version();
    try {
      const game = await get(at(this.#id));
      if (this.#closing.signal.aborted || mine !== this.#reads) return;
      const now = this.#listener.version();
      const isOld = now > before && now > game.version; // the stream has brought more meanwhile
      if (!isOld) this.#listener.reset(game);
      this.open(this.#listener.version());
    } catch (error) {
      if (this.#closing.signal.aborted || mine !== this.#reads) return;
      if (error instanceof Refusal && error.code === "notFound") this.#listener.gone();
      else if (error instanceof Disconnected || error instanceof Refusal) this.#later();
      else throw error;
    }
  }

  /** Wait until the connection is back, or until it is time for another try. @param {number} attempt */
  again(attempt) {
    return new Promise((/** @type {(value?: void) => void} */ resolve) => {
      this.#waiting.push(resolve);
      setTimeout(resolve, retryPause(attempt));
    });
  }

  close() {
    this.#closing.abort();
    clearTimeout(this.#timer);
    clearInterval(this.#watch);
    this.#source?.close();
    this.#release();
  }

  get #isIdle() {
    return document.hidden && !this.#listener.isListed();
  }

  /** Open the stream of a tab that is shown, and close that of a hidden one. */
  #changeVisibility() {
    if (document.hidden) this.#closeIfIdle();
    else if (this.#source?.readyState === EventSource.OPEN) this.#checkSilence();
    else this.resync();
  }

  /** Close the stream and poll, if nobody needs it. */
  #closeIfIdle() {
    if (!this.#isIdle || this.#source?.readyState !== EventSource.OPEN) return;
    this.#source.close();
    this.#poll();
  }

  #poll() {
    this.#source = null;
    this.#lastSignalAt = Infinity;
    this.#found();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.resync(), HIDDEN_POLL_INTERVAL_MS);
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
    this.#lastSignalAt = Infinity;
    this.#listener.changed(false);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.resync(), retryPause(this.#attempt++));
  }

  /** Detect a dead stream: the browser may get neither events nor an error. */
  #checkSilence() {
    if (Date.now() - this.#lastSignalAt > SILENCE_LIMIT_MS) this.#lost();
  }

  #release() {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** Exponential backoff with jitter. @param {number} attempt */
const retryPause = (attempt) => Math.min(MAX_RETRY_MS, 500 * 2 ** attempt) * (0.75 + Math.random() / 2);
