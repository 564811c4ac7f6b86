/** The known state of a game, synchronized with the server; and sending commands. */

import { at, deliver, Refusal } from "./ask.js";
import { evolve, fold } from "./game.js";
import { Line } from "./line.js";

/**
 * @typedef {object} Listener
 * @property {() => void} changed the state has changed
 * @property {(event: object | null) => void} happened an event, or null if some were undone
 * @property {(before: object, room: object) => void} entered the room has changed
 * @property {() => void} connected the connection was lost or restored
 * @property {() => void} gone the game does not exist
 */

export class Known {
  #line;
  #listener;
  #isClosed = false;
  /** Counts updates of the room: the answer to an earlier request may be older than the latest. */
  #rooms = 0;

  /** @type {import("./sentence.js").State} */
  state;

  /** @param {string} id @param {Listener} listener */
  constructor(id, listener) {
    this.state = {
      id,
      game: null,
      version: 0,
      events: [],
      you: [],
      room: null,
      isInvited: false,
      open: true,
      gone: false,
      pending: null,
    };
    this.#listener = listener;
    this.#line = new Line(id, {
      event: (version, event) => this.#take(version, event),
      room: (room) => {
        this.#rooms += 1;
        this.#enter(room);
      },
      reset: (game) => this.#reset(game),
      changed: (isOpen) => this.#connect(isOpen),
      gone: () => this.#vanish(),
    });
  }

  /** Follow the game, from the answer that gave a seat or else from a fresh read. */
  open(seated) {
    if (!seated) {
      this.#line.resync();
      return;
    }
    this.#reset({ ...seated.game, you: seated.marks });
    this.#line.open(this.state.version);
  }

  close() {
    this.#isClosed = true;
    this.#line.close();
  }

  /** Update the state. @param {Partial<import("./sentence.js").State>} changes */
  set(changes) {
    Object.assign(this.state, changes);
    this.#listener.changed();
  }

  /**
   * Send a command until it is answered, and apply the result.
   * @param {string} part the part of the game that it goes to
   * @param {object} body with a key, so that it may be repeated
   * @param {(error: Error) => void} broken called each time the connection breaks
   */
  async send(part, body, broken) {
    let wasBroken = false;
    const line = {
      broken: (error) => {
        wasBroken = true;
        if (!this.#isClosed) broken(error);
      },
      again: (attempt) => this.#line.again(attempt),
      gone: () => this.#isClosed || this.state.gone,
    };
    try {
      const rooms = this.#rooms;
      const answer = await deliver(at(this.state.id, part), body, line);
      if (wasBroken)
        await this.#line.resync(); // more may have happened since
      else if (answer.events && !this.#isClosed) this.#answered(answer, rooms);
      return answer;
    } catch (error) {
      if (error instanceof Refusal && !this.#isClosed) this.#line.resync(); // our state was wrong
      throw error;
    }
  }

  #reset(game) {
    const { game: known, version } = this.state;
    this.set({ game: fold(game.events), events: game.events, version: game.version, you: game.you });
    this.#settle();
    this.#enter(game.room);
    if (!known) return;
    for (const event of game.events.slice(version)) this.#listener.happened(event);
    if (game.version < version) this.#listener.happened(null);
  }

  #take(version, event) {
    const { state } = this;
    if (version <= state.version) return;
    if (version !== state.version + 1) {
      this.#line.resync();
      return;
    }
    this.set({ game: evolve(state.game, event), events: [...state.events, event], version });
    this.#settle();
    this.#listener.happened(event);
  }

  /** Apply the answer to a command; the stream delivers the same events, and may be ahead of it. */
  #answered({ version, events, offer }, rooms) {
    for (const [index, event] of events.entries()) this.#take(version - events.length + 1 + index, event);
    const isNews = rooms === this.#rooms && this.state.room.offer?.kind !== offer?.kind;
    if (isNews) this.#enter({ ...this.state.room, offer });
  }

  #enter(room) {
    const before = this.state.room;
    this.set({ room });
    if (before) this.#listener.entered(before, room);
  }

  #connect(isOpen) {
    if (isOpen === this.state.open) return;
    this.set({ open: isOpen });
    this.#listener.connected();
  }

  #vanish() {
    this.#line.close();
    this.set({ gone: true });
    this.#listener.gone();
  }

  /** A pending token is settled once the game has moved on from where it was sent. */
  #settle() {
    const { pending, game, version } = this.state;
    if (pending && version > pending.version && game.cells[pending.cell]) this.set({ pending: null });
  }
}
