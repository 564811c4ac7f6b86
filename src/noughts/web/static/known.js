/** What is known of a game here, kept up with the server; and the way to tell the server something. */

import { at, deliver, Refusal } from "./ask.js";
import { evolve, fold } from "./game.js";
import { Line } from "./line.js";

/**
 * @typedef {object} Listener
 * @property {() => void} changed something is otherwise than before
 * @property {(event: object | null) => void} happened an event, or null if some have been undone
 * @property {(before: object, room: object) => void} entered the room has changed
 * @property {() => void} connected the line has broken, or is back
 * @property {() => void} gone there is no such game
 */

export class Known {
  #line;
  #listener;
  #isClosed = false;
  /** How often the room was told: what was asked before may be answered with less than is known by then. */
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

  /** Listen to the game, from the answer that gave a seat at it or else from what the server says. */
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

  /** Know something else. @param {Partial<import("./sentence.js").State>} changes */
  set(changes) {
    Object.assign(this.state, changes);
    this.#listener.changed();
  }

  /**
   * Tell the server something until it has been heard, and take up what it led to.
   * @param {string} part which part of the game it is told to
   * @param {object} body with a key, so that it may be told twice
   * @param {(error: Error) => void} broken called each time that the line breaks
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
        await this.#line.resync(); // nobody knows what else has happened since
      else if (answer.events && !this.#isClosed) this.#answered(answer, rooms);
      return answer;
    } catch (error) {
      if (error instanceof Refusal && !this.#isClosed) this.#line.resync(); // it is not as we thought
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

  /** Take the answer to a command; the line tells the same, sooner or later, and may be ahead of it. */
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

  /** The token on its way has arrived when the game has gone on from where it was sent. */
  #settle() {
    const { pending, game, version } = this.state;
    if (pending && version > pending.version && game.cells[pending.cell]) this.set({ pending: null });
  }
}
