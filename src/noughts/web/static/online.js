/** The screen of a game on the server: for its players, for somebody who is invited, and for spectators. */

import { GAME_ID, newKey } from "./api.js";
import { about, GameView, loadTurningPoint } from "./board.js";
import { invitation, invitePanel, joinPanel } from "./friends.js";
import { active, digits, other, turn } from "./game.js";
import { GameClient } from "./game_client.js";
import {
  announce,
  BASE,
  button,
  capitalised,
  copy,
  go,
  h,
  link,
  load,
  message,
  name,
  say,
  session,
  setText,
  words,
} from "./page.js";
import { keepOnlineGame } from "./records.js";
import { called, SeatsRow } from "./seats.js";

/**
 * @typedef {import("./game.js").Mark} Mark
 * @typedef {import("./game_client.js").Known} Known
 * @typedef {import("./board.js").Action} Action
 * @typedef {import("./board.js").Prompt} Prompt
 * @typedef {import("./page.js").Words} Words
 */

/**
 * Where a game is, for the one who looks at it.
 * @typedef {"invited" | "cut" | "waiting" | "watching" | "playing" | "over" | "gone"} Phase
 *
 * @typedef {object} State
 * @property {Known | null} known
 * @property {boolean} isOpen whether the connection is
 * @property {boolean} isGone whether the game no longer exists
 * @property {boolean} declinesSeat whether somebody who is invited wants to watch
 * @property {{cell: number, mark: Mark, version: number} | null} pending a token on its way
 * @property {string[]} sending the commands on their way
 * @property {boolean} isResigning whether the player is asked about it
 * @property {number} offeredAt the version at which an offer was made
 * @property {string} decided what decided the game, once it is known
 * @property {{text: string, at: number}} said the last message, and when it was shown
 */

const READABLE_MS = 1500; // messages stay at least this long
const RENDER_DELAY_MS = 12; // events arrive one by one, and related ones are shown together

/** @param {HTMLElement} place @param {unknown} handoff @param {string} id */
export function mount(place, handoff, id) {
  if (!GAME_ID.test(id)) {
    message(
      place,
      say("page.link_cut"),
      h("p", {}, say("page.link_cut_about")),
      link("/", say("page.to_start")),
    );
    return;
  }
  const game = new OnlineGame(place, id);
  game.begin(handoff);
  return () => game.leave();
}

/** The free seat, or null. @param {Known} known @returns {Mark | null} */
const free = ({ room }) => (room.seats.X.taken ? (room.seats.O.taken ? null : "O") : "X");

/** Whether somebody else decides about an offer. @param {Known} known @param {Mark} mark */
const isAsked = ({ you }, mark) => you.length === 1 && you[0] !== mark;

class OnlineGame {
  #id;
  #place;
  #client;
  /** @type {State} */
  #state = {
    known: null,
    isOpen: true,
    isGone: false,
    declinesSeat: false,
    pending: null,
    sending: [],
    isResigning: false,
    offeredAt: 0,
    decided: "",
    said: { text: "", at: 0 },
  };
  /** @type {GameView | null} */
  #view = null;
  #seats = new SeatsRow();
  #panel = h("div", { class: "panel" });
  #watching = h("p", { class: "soft", "data-testid": "watching" });
  /** @type {import("./coach.js").Assistant | null} */
  #assistant = null;
  #renderer = 0;
  #isLeft = false;

  /** @param {HTMLElement} place @param {string} id */
  constructor(place, id) {
    this.#place = place;
    this.#id = id;
    this.#client = new GameClient(id, {
      changed: (known, before) => this.#changed(known, before),
      connected: (isOpen) => this.#set({ isOpen }),
      gone: () => this.#gone(),
    });
  }

  /** @param {unknown} handoff */
  begin(handoff) {
    message(this.#place, say("page.one_moment"));
    this.#client.open(handoff);
  }

  leave() {
    this.#isLeft = true;
    this.#client.close();
    this.#view?.leave();
    clearTimeout(this.#renderer);
  }

  /** @param {Partial<State>} changes */
  #set(changes) {
    this.#state = { ...this.#state, ...changes };
    if (this.#isLeft) return;
    clearTimeout(this.#renderer);
    this.#renderer = setTimeout(() => this.#show(), RENDER_DELAY_MS);
  }

  /** Show a message below the board. @param {string} sentence */
  #say(sentence) {
    this.#set({ said: { text: sentence, at: performance.now() } });
    this.#view?.say(sentence);
  }

  // What happens

  /** @param {Known} known @param {Known | null} before */
  #changed(known, before) {
    const { pending, said } = this.#state;
    const isPlaced = pending && known.game.cells[pending.cell];
    const isSettled =
      pending && known.version > pending.version && (isPlaced || !this.#state.sending.includes("moves"));
    const isOutdated = known.version !== before?.version && performance.now() - said.at > READABLE_MS;
    this.#set({
      known,
      pending: isSettled ? null : pending,
      said: isOutdated ? { text: "", at: 0 } : said,
    });
    const { offer } = known.room;
    if (offer && !before?.room.offer) this.#set({ offeredAt: known.version });
    if (known.you.length) this.#seated(known);
    if (known.game.over && !before?.game.over) this.#decide(known);
    if (!before) return void this.#show();
    if (before.room.offer && !offer) this.#lapsed(before.room.offer, known);
    if (known.room.next && !before.room.next) this.#follow();
    if (known.game.over && !before.game.over && known.you.length) this.#celebrate(known);
  }

  /** @param {Known} known */
  async #celebrate({ game: { winner }, you }) {
    const celebration = await load(() => import("./celebration.js"));
    if (this.#isLeft) return;
    celebration?.celebrate(winner ? (you.includes(winner) ? "won" : "lost") : "drawn", this.#place);
  }

  /** Say what decided the game, unless somebody resigned. @param {Known} known */
  async #decide({ game }) {
    if (game.resigned) return;
    const part = await loadTurningPoint();
    if (part) this.#set({ decided: part.turningPoint(game, (mark) => this.#called(mark)) });
  }

  /** How a player is called in a sentence. @param {Mark} mark */
  #called(mark) {
    const { known } = this.#state;
    if (!known) return mark;
    return this.#isYou(mark) ? say("page.you") : called(known, mark);
  }

  /** @param {Mark} mark */
  #isYou(mark) {
    const you = this.#state.known?.you ?? [];
    return you.length === 1 && you[0] === mark;
  }

  /**
   * An offer to take back that ends without a change of the game was declined.
   * @param {import("./game_client.js").Offer} offer @param {Known} known
   */
  #lapsed({ kind, mark }, known) {
    if (kind !== "takeBack" || !known.you.includes(mark)) return;
    const isDeclined = this.#state.offeredAt === known.version;
    const isTakenBack = known.events
      .slice(this.#state.offeredAt)
      .some(({ event }) => event === "playerTookBack");
    if (isDeclined) this.#say(say("page.declined", { player: called(known, other(mark)) }));
    else if (!isTakenBack) this.#say(say("page.lapsed", { player: called(known, other(mark)) }));
  }

  /** Keep the game among yours, and take the invitation out of the address. @param {Known} known */
  #seated(known) {
    session.set(`join.${this.#id}`, null);
    if (location.hash) history.replaceState(null, "", location.pathname);
    keepOnlineGame(this.#id, known);
  }

  #gone() {
    this.#set({ isGone: true });
    if (this.#view) return;
    announce(say("page.no_game"));
    message(
      this.#place,
      say("page.no_game"),
      h("p", {}, say("page.no_game_about")),
      link("/", say("page.to_start")),
    );
  }

  // Commands

  /** Place a token: shown immediately, and removed if the server refuses it. @param {number} cell */
  async #play(cell) {
    const { known, pending } = this.#state;
    const refusal = this.#whyNot(cell);
    if (!known || pending || refusal === "") return;
    if (refusal) return this.#say(refusal);
    const { version, game } = known;
    const mark = turn(game);
    this.#set({ pending: { cell, mark, version }, isResigning: false, said: { text: "", at: 0 } });
    this.#show();
    const sent = await this.#send(
      "moves",
      { cell, version, mark },
      { lost: "page.move_waits", sent: "page.move_arrived" },
    );
    if (!sent || (this.#state.known?.version ?? 0) > version) this.#set({ pending: null });
  }

  /**
   * Why a cell cannot be played, as a sentence; null if it can, "" to refuse silently.
   * @param {number} cell
   */
  #whyNot(cell) {
    const { known } = this.#state;
    if (!known?.you.length || this.#state.isGone || this.#assistant?.isReviewing) return "";
    const { game, you } = known;
    if (game.over) return say("page.refused_gameOver");
    if (!game.ready) return say("page.refused_notReady");
    if (game.cells[cell]) return say("page.refused_cellTaken");
    if (you.includes(turn(game))) return null;
    return say("page.refused_notYourTurn", { player: called(known, turn(game)) });
  }

  /**
   * Send a command, one of each kind at a time; show the reason of a refusal.
   * @param {string} part @param {object} body @param {{lost?: string, sent?: string}} sentences
   */
  async #send(part, body = {}, { lost = "page.command_waits", sent = "" } = {}) {
    if (this.#state.sending.includes(part)) return null;
    this.#set({ sending: [...this.#state.sending, part], isResigning: false, said: { text: "", at: 0 } });
    let wasLost = false;
    try {
      const answer = await this.#client.send(part, { ...body, key: newKey() }, () => {
        wasLost = true;
        this.#say(say(lost));
      });
      if (wasLost && sent) this.#say(say(sent));
      else if (wasLost) this.#set({ said: { text: "", at: 0 } });
      return this.#isLeft ? null : answer;
    } catch (error) {
      const { code, message: why } = /** @type {import("./api.js").Refusal} */ (error);
      this.#say(code === "staleVersion" ? say("page.moved_on") : why);
      return null;
    } finally {
      this.#set({ sending: this.#state.sending.filter((one) => one !== part) });
    }
  }

  /** Whose token is taken back: your own, or on a shared screen the last one placed. @param {Known} known */
  #taker = ({ game, you }) => (you.length === 2 ? other(turn(game)) : you[0]);

  /** @param {boolean} isResigning */
  #askToResign(isResigning) {
    this.#set({ isResigning });
    this.#show();
    if (isResigning) this.#view?.focusPrompt();
    else this.#view?.focusAction("resign");
  }

  async #rematch() {
    const seated = await this.#send("rematch");
    if (seated?.id && !this.#isLeft) go(`/game/${seated.id}`, seated);
  }

  /** Go to the rematch; a player takes the seat there first. */
  #follow() {
    const { known } = this.#state;
    if (known?.you.length) this.#rematch();
    else if (known?.room.next && !this.#isLeft) go(`/game/${known.room.next}`);
  }

  /** @param {object} body @param {Element} said where to say that it takes long */
  async #join(body, said) {
    const seated = await this.#client
      .send("join", body, (error) => setText(said, `${error.message} ${say("page.will_retry")}`))
      .catch((error) => {
        if (error.code === "notFound") error.message = say("page.invitation_used");
        throw error;
      });
    if (this.#isLeft) return;
    this.#client.open(seated); // again, so that the server knows who is connected
    this.#show();
    this.#view?.focusBoard();
  }

  // What is shown

  /** @param {Known} known @returns {Phase} */
  #phase(known) {
    const { game, you, room } = known;
    if (this.#state.isGone) return "gone";
    if (game.over) return "over";
    if (you.length) return game.ready ? "playing" : "waiting";
    if (this.#state.declinesSeat) return "watching";
    if (session.get(`join.${this.#id}`) !== null) return "invited"; // the answer was lost
    if (!free(known)) return "watching";
    return room.lobby || invitation() === "whole" ? "invited" : "cut";
  }

  #show() {
    clearTimeout(this.#renderer);
    const { known, isOpen, pending, isGone } = this.#state;
    if (!known) {
      const title = this.#place.querySelector("h1");
      if (title && !isOpen && !isGone) setText(title, say("page.reconnecting"));
      return;
    }
    this.#view ??= this.#newView();
    const { game, you, events } = known;
    const phase = this.#phase(known);
    this.#seats.show(known, isOpen);
    const isFocusLost = this.#fillPanel(phase, known);
    const watching = known.room.watching - Number(!you.length);
    setText(this.#watching, watching > 0 ? say("page.watching_count", { count: watching }) : "");
    const mover = active(game);
    const isYours = phase === "playing" && mover !== null && you.includes(mover);
    const scene = {
      game,
      events,
      status: this.#status(phase, known),
      note: [this.#state.decided],
      mood: game.over && game.winner && you.length === 1 ? (you[0] === game.winner ? "won" : "lost") : "",
      playable: isYours && !pending ? mover : null,
      pending,
      actions: this.#actions(phase, known),
      prompt: this.#prompt(phase, known),
      isHeld: !isOpen,
      called: (/** @type {Mark} */ mark) =>
        this.#isYou(mark) ? capitalised(say("page.you")) : called(known, mark),
    };
    const isHelped = isYours || phase === "watching";
    this.#view.show(this.#assistant?.adjust(scene, isHelped) ?? scene);
    if (isFocusLost) this.#view.focusBoard();
  }

  #newView() {
    const hadFocus = this.#place.contains(document.activeElement);
    const view = new GameView(this.#place, {
      play: (cell) => this.#play(cell),
      look: (cell) => this.#assistant?.look(cell),
      head: [this.#seats.element, this.#panel],
      kind: "centred",
    });
    view.side.append(this.#watching);
    if (hadFocus) view.focusStatus();
    return view;
  }

  /**
   * Fill the panel in place of the board, to invite somebody or to take the seat; true if the focus was in it
   * and it is gone.
   * @param {Phase} phase @param {Known} known
   */
  #fillPanel(phase, known) {
    const wanted = ["waiting", "invited", "cut"].includes(phase) ? phase : "";
    if (this.#panel.dataset.shows === wanted) return false;
    const hadFocus = this.#panel.contains(document.activeElement);
    this.#panel.dataset.shows = wanted;
    this.#panel.replaceChildren();
    if (phase === "waiting") this.#panel.append(invitePanel(this.#id, known));
    if (phase === "invited") {
      const join = (/** @type {object} */ body, /** @type {Element} */ said) => this.#join(body, said);
      this.#panel.append(joinPanel(this.#id, this.#offer(known), join, () => this.#watch(true)));
    }
    if (phase === "cut") {
      this.#panel.append(
        h("p", { class: "warning" }, say("page.link_incomplete")),
        h(
          "div",
          { class: "row" },
          link("/", say("page.to_start")),
          button(say("page.just_watch"), () => this.#watch(true)),
        ),
      );
    }
    return hadFocus && !wanted;
  }

  /** @param {Known} known */
  #offer(known) {
    const mark = free(known);
    if (!mark) return say("page.seat_unanswered");
    return say(known.game.first === mark ? "page.seat_you_start" : "page.seat_they_start", { mark });
  }

  /** @param {boolean} declinesSeat */
  #watch(declinesSeat) {
    this.#set({ declinesSeat });
    this.#show();
    this.#view?.focusStatus();
  }

  /** @param {Phase} phase @param {Known} known @returns {Words} */
  #status(phase, known) {
    const { game, you, room } = known;
    const player = (/** @type {Mark} */ mark) => name(called(known, mark));
    if (phase === "gone") return words("page.game_gone");
    if (!this.#state.isOpen) return words("page.reconnecting");
    if (phase === "over") return game.winner ? about("won", game.winner, you, player) : words("page.drawn");
    if (phase === "invited") {
      const mark = free(known);
      if (!mark) return words("page.take_your_seat");
      return words(room.lobby ? "page.waits_for_opponent" : "page.invites_you", {
        player: player(other(mark)),
      });
    }
    if (phase === "cut") return words("page.link_cut");
    if (!game.ready)
      return words(
        you.length ? (room.lobby ? "page.wait_opponent" : "page.wait_friend") : "page.wait_player",
      );
    const mover = turn(game);
    return about(you.includes(mover) ? "move" : "thinking", mover, you, player);
  }

  /** @param {Phase} phase @param {Known} known @returns {(Action | false)[]} */
  #actions(phase, known) {
    const { game, you, room } = known;
    const { pending, sending } = this.#state;
    const isPlayer = you.length > 0;
    if (phase === "over") {
      const isIdle = sending.includes("rematch") || (room.offer !== null && you.includes(room.offer.mark));
      const hasMoves = game.moves.length > 0;
      return [
        isPlayer && !room.next && { key: "rematch", act: () => this.#rematch(), isIdle, isMain: true },
        hasMoves && {
          key: "review",
          act: () => this.#assist("review"),
          isPressed: this.#assistant?.isReviewing ?? false,
        },
        hasMoves && { key: "copy_replay", act: () => this.#copyReplay(known) },
      ];
    }
    if (phase === "watching") {
      return [
        !!free(known) &&
          (known.room.lobby || invitation() === "whole") && {
            key: "take_seat",
            act: () => this.#watch(false),
            isMain: true,
          },
        game.ready && this.#coachAction(),
      ];
    }
    if (phase === "gone") return [{ key: "to_start", act: () => go("/") }];
    if (phase !== "playing") return [];
    const needed = turn(game) === this.#taker(known) ? 2 : 1;
    const isFixed =
      game.moves.length < needed ||
      pending !== null ||
      room.offer?.kind === "takeBack" ||
      sending.includes("take-back");
    const isAlone = you.length === 2 || room.seats[other(you[0])].bot !== null;
    return [
      { key: "take_back", act: () => this.#takeBack(known), isIdle: isFixed },
      isAlone && this.#coachAction(), // nobody is helped in secret against a friend
      { key: "resign", act: () => this.#askToResign(true), isIdle: sending.includes("resign") },
    ];
  }

  #coachAction() {
    return {
      key: "coach",
      act: () => this.#assist("coach"),
      isPressed: this.#assistant?.isCoaching ?? false,
    };
  }

  /** @param {Known} known */
  #takeBack(known) {
    this.#send("take-back", { version: known.version, mark: this.#taker(known) });
  }

  /** @param {Known} known */
  async #copyReplay({ game }) {
    const address = `${location.origin}${BASE}/play/${digits(game)}?first=${game.first}`;
    this.#say(say((await copy(address)) ? "page.copied" : "page.copying_blocked"));
    const { said } = this.#state;
    setTimeout(() => this.#state.said === said && this.#set({ said: { text: "", at: 0 } }), 2 * READABLE_MS);
  }

  /**
   * What is asked, offered or said below the board.
   * @param {Phase} phase @param {Known} known @returns {Prompt}
   */
  #prompt(phase, known) {
    const { game, room, you } = known;
    const { offer } = room;
    const { said, isResigning } = this.#state;
    const player = (/** @type {Mark} */ mark) => name(called(known, mark));
    if (isResigning && phase === "playing") {
      const resign = () =>
        this.#send("resign", { version: known.version, mark: you.length === 2 ? turn(game) : you[0] });
      return {
        words: words("page.resign_question"),
        choices: [
          { key: "resign_yes", act: resign },
          { key: "resign_no", act: () => this.#askToResign(false), isCancel: true },
        ],
      };
    }
    if (phase === "gone") return { words: [], choices: [] };
    if (offer && isAsked(known, offer.mark)) {
      const answer = (/** @type {boolean} */ accept) => () => this.#send("take-back/answer", { accept });
      const choices = [
        { key: "allow", act: answer(true) },
        { key: "decline", act: answer(false) },
      ];
      const isTakeBack = offer.kind === "takeBack";
      return {
        words: words(isTakeBack ? "page.asks_take_back" : "page.offers_rematch", {
          player: player(offer.mark),
        }),
        choices: isTakeBack ? choices : [],
      };
    }
    if (said.text) return { words: [said.text], choices: [], isSaid: true };
    if (offer && you.includes(offer.mark)) {
      const key = offer.kind === "takeBack" ? "page.asked_take_back" : "page.offered_rematch";
      return { words: words(key, { player: player(other(offer.mark)) }), choices: [] };
    }
    if (phase === "over" && room.next) {
      return { words: words("page.rematch_on"), choices: [{ key: "go_there", act: () => this.#follow() }] };
    }
    if (game.resigned)
      return { words: about("resigned", game.resigned, you, player), choices: [], isSaid: true };
    if (!you.length && phase === "watching") return { words: [this.#whyWatching(known)], choices: [] };
    return { words: [], choices: [] };
  }

  /** @param {Known} known */
  #whyWatching(known) {
    if (this.#state.declinesSeat || known.room.lobby) return say("page.watching");
    return say(location.hash.length > 1 ? "page.invitation_used_watching" : "page.watching");
  }

  /** Turn the coach or the review on or off. @param {"coach" | "review"} what */
  async #assist(what) {
    const coach = await load(
      () => import("./coach.js"),
      (sentence) => this.#say(sentence),
    );
    const { known } = this.#state;
    if (!coach || !this.#view || !known || this.#isLeft) return;
    this.#assistant ??= new coach.Assistant(this.#view, () => this.#show());
    if (what === "coach") this.#assistant.toggleCoach();
    else this.#assistant.toggleReview(known.game, (mark) => called(known, mark));
    if (what === "review") this.#assistant.showReview();
  }
}
