/** The state of a game on the server, kept in step with it; and the commands of its players. */

import { at, Disconnected, post, Refusal } from "./api.js";
import { evolve, fold } from "./game.js";
import { GameStream } from "./game_stream.js";

/**
 * @typedef {import("./game.js").Game} Game
 * @typedef {import("./game.js").GameEvent} GameEvent
 * @typedef {import("./game.js").Mark} Mark
 * @typedef {{name: string | null, bot: string | null, taken: boolean, present: boolean}} Seat
 * @typedef {{kind: "takeBack" | "rematch", mark: Mark}} Offer
 */

/**
 * @typedef {object} Room
 * @property {{X: Seat, O: Seat}} seats
 * @property {boolean} lobby
 * @property {number} watching
 * @property {Offer | null} offer
 * @property {{X: number, O: number, draws: number}} score
 * @property {string | null} next
 */

/**
 * A game that is known. It never changes: the client has the next one.
 * @typedef {object} Known
 * @property {Game} game
 * @property {number} version
 * @property {GameEvent[]} events
 * @property {Mark[]} you the seats that are yours
 * @property {Room} room
 */

/**
 * @typedef {object} Listener
 * @property {(known: Known, before: Known | null) => void} changed
 * @property {(isOpen: boolean) => void} connected the connection was lost or restored
 * @property {() => void} gone the game does not exist
 */

export class GameClient {
  #id;
  #stream;
  #listener;
  #isClosed = false;
  #isGone = false;
  /** Counts updates of the room: the answer to an earlier request may be older than the latest. */
  #rooms = 0;
  /** @type {Known | null} */
  known = null;

  /** @param {string} id @param {Listener} listener */
  constructor(id, listener) {
    this.#id = id;
    this.#listener = listener;
    this.#stream = new GameStream(id, {
      version: () => this.known?.version ?? 0,
      isListed: () => !!this.known?.you.length && this.known.room.lobby && !this.known.game.ready,
      event: (version, event) => this.#take(version, event),
      room: (room) => {
        this.#rooms += 1;
        this.#change({ room });
      },
      reset: (game) => this.#reset(game),
      changed: (isOpen) => listener.connected(isOpen),
      gone: () => {
        this.#isGone = true;
        this.#stream.close();
        listener.gone();
      },
    });
  }

  /** Follow the game, from the answer that gave a seat or else from a fresh read. @param {any} seated */
  open(seated) {
    if (!seated) return void this.#stream.resync();
    this.#reset({ ...seated.game, you: seated.marks });
    this.#stream.open(seated.game.version);
  }

  close() {
    this.#isClosed = true;
    this.#stream.close();
  }

  /**
   * Send a command until it is answered, and apply the result. Repeating it is safe: the body has a key.
   * @param {string} part the part of the game that it goes to
   * @param {object} body
   * @param {(error: Error) => void} disconnected called when the connection breaks for the first time
   */
  async send(part, body, disconnected) {
    const rooms = this.#rooms;
    for (let attempt = 0; ; attempt++) {
      try {
        const answer = await post(at(this.#id, part), body);
        if (attempt)
          await this.#stream.resync(); // more may have happened since
        else if (answer.events && !this.#isClosed) this.#answered(answer, rooms);
        return answer;
      } catch (error) {
        const isOver = this.#isClosed || this.#isGone;
        if (error instanceof Refusal && !isOver) this.#stream.resync(); // what we knew was wrong
        if (!(error instanceof Disconnected) || isOver) throw error;
        if (!attempt) disconnected(error);
        await this.#stream.again(attempt);
        if (this.#isClosed || this.#isGone) throw error;
      }
    }
  }

  /** @param {Partial<Known>} changes */
  #change(changes) {
    const before = this.known;
    this.known = /** @type {Known} */ ({ ...before, ...changes });
    this.#listener.changed(this.known, before);
  }

  /** @param {{events: GameEvent[], version: number, you: Mark[], room: Room}} game */
  #reset({ events, version, you, room }) {
    this.#change({ game: fold(events), events, version, you, room });
  }

  /** @param {number} version @param {GameEvent} event */
  #take(version, event) {
    if (!this.known || version <= this.known.version) return;
    if (version !== this.known.version + 1) return void this.#stream.resync();
    this.#change({ game: evolve(this.known.game, event), events: [...this.known.events, event], version });
  }

  /**
   * Apply the answer to a command; the stream delivers the same events, and may be ahead of it.
   * @param {{version: number, events: GameEvent[], offer: Offer | null}} answer @param {number} rooms
   */
  #answered({ version, events, offer }, rooms) {
    for (const [index, event] of events.entries()) this.#take(version - events.length + 1 + index, event);
    const isNews = rooms === this.#rooms && this.known?.room.offer?.kind !== offer?.kind;
    if (isNews && this.known) this.#change({ room: { ...this.known.room, offer } });
  }
}
