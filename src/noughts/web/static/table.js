/** The screen of a game: actions of the players, and what is shown. */

import { newKey } from "./ask.js";
import { BASE } from "./base.js";
import { announce, h, session, setText } from "./dom.js";
import { active, boardText, eventsOf, fold, other, turn } from "./game.js";
import { herald } from "./herald.js";
import { Known } from "./known.js";
import { called, free, mine } from "./sentence.js";
import { asked, isAsked, slot } from "./slot.js";
import { View } from "./view.js";

const READABLE = 1500; // ms: messages stay at least this long
const TOGETHER = 12; // ms: events arrive one by one, and related ones are shown together

const UNREACHABLE = "The server cannot be reached.";

/** Whether the coach is on, kept from one game to the next. */
let isCoachOn = false;

export function mount(place, context, id) {
  const table = new Table(place, context, id);
  table.begin();
  return () => table.leave();
}

class Table {
  #id;
  #place;
  #context;
  #known;
  #state;
  #herald;
  #view = null;
  #left = new AbortController();
  #renderer = 0;
  #said = { text: "", at: 0 };
  #underWay = new Set();
  #isResigning = false;
  #isFollowing = false;
  #isWatching = false;
  #offeredAt = 0;
  #panel = null;
  #coach = null;
  #looked = null;
  #review = null;

  constructor(place, context, id) {
    this.#id = id;
    this.#place = place;
    this.#context = context;
    this.#known = new Known(id, {
      changed: () => this.#showSoon(),
      happened: (event) => this.#happened(event),
      entered: (before, room) => this.#entered(before, room),
      connected: () => this.#herald.tell(null),
      gone: () => this.#gone(),
    });
    this.#state = this.#known.state;
    this.#herald = herald(this.#state, () => this.#show());
  }

  begin() {
    const { handoff } = this.#context;
    this.#place.append(h("h1", { class: "status plain", tabindex: "-1" }, "One moment…"));
    this.#known.open(handoff);
    if (handoff) this.#show();
    document.addEventListener("keydown", (event) => this.#key(event), { signal: this.#left.signal });
  }

  leave() {
    this.#left.abort();
    this.#known.close();
    this.#herald.stop();
    clearTimeout(this.#renderer);
  }

  get #isLeft() {
    return this.#left.signal.aborted;
  }

  // Events

  #happened(event) {
    const isMove = event?.event === "playerPlacedToken";
    if (isMove && performance.now() - this.#said.at > READABLE) this.#said.text = "";
    if (event?.event === "playerResigned") this.#said.text = ""; // outdated
    this.#herald.tell(event);
  }

  #entered(before, room) {
    if (room.offer && !before.offer) {
      this.#offeredAt = this.#state.version;
      if (isAsked(this.#state, room.offer)) this.#herald.say(asked(this.#state).join(""));
    }
    if (before.offer && !room.offer) this.#lapsed(before.offer);
    if (room.next && !before.next) this.#follow();
  }

  /** An offer to take back that ends without a change of the game was declined. */
  #lapsed({ kind, mark }) {
    const isDeclined = kind === "takeBack" && this.#offeredAt === this.#state.version;
    if (isDeclined && this.#state.you.includes(mark))
      this.#say(`${called(this.#state, other(mark))} does not allow it.`);
  }

  #gone() {
    if (this.#view) {
      this.#herald.tell(null);
      return;
    }
    const sentence = "Game not found.";
    announce(sentence);
    this.#context.title("No such game");
    this.#place.replaceChildren(
      h(
        "div",
        { class: "hero" },
        h("h1", { tabindex: "-1" }, sentence),
        h("p", {}, "The link may be incomplete, or the game too old."),
        h("a", { class: "btn", href: `${BASE}/` }, "To the start"),
      ),
    );
  }

  /** Show a message below the board. */
  #say(text) {
    if (this.#isLeft) return;
    this.#said = { text, at: performance.now() };
    this.#herald.say(text);
    this.#showSoon();
  }

  // Actions

  #acts() {
    return {
      play: (cell) => this.#play(cell),
      look: (cell) => this.#look(cell),
      takeBack: () => this.#command("take-back", { version: this.#state.version, mark: this.#taker() }),
      allow: () => this.#command("take-back/answer", { accept: true }),
      decline: () => this.#command("take-back/answer", { accept: false }),
      ask: () => this.#askToResign(true),
      playOn: () => this.#askToResign(false),
      resign: () => this.#resign(),
      rematch: () => this.#rematch(),
      follow: () => this.#follow(),
      coach: () => this.#toggleCoach(),
      review: () => this.#toggleReview(),
    };
  }

  /** A digit plays its cell from anywhere on the screen, except in text fields. */
  #key(event) {
    const isTyping = event.target.closest?.("input, textarea, select, dialog, [contenteditable]");
    if (isTyping || event.ctrlKey || event.altKey || event.metaKey || !/^[1-9]$/.test(event.key)) return;
    if (!this.#view || this.#panel) return;
    event.preventDefault();
    this.#play(Number(event.key) - 1);
  }

  /** Place a token: shown immediately, and removed if the server refuses it. */
  async #play(cell) {
    const refusal = this.#whyNot(cell);
    if (refusal !== null) {
      if (refusal) this.#say(refusal);
      return;
    }
    const { version } = this.#state;
    const mark = mine(this.#state);
    this.#isResigning = false;
    this.#said.text = "";
    this.#known.set({ pending: { cell, mark, version } });
    this.#show();
    let wasBroken = false;
    const broken = ({ message }) => {
      if (!wasBroken) this.#say(`${message} Your move on ${cell + 1} will be sent again.`);
      wasBroken = true;
    };
    try {
      await this.#known.send("moves", { cell, version, key: newKey(), mark }, broken);
      if (wasBroken) this.#say(`Your move on ${cell + 1} has arrived.`);
    } catch (error) {
      this.#say(`Your move on ${cell + 1} was refused. ${error.message}`);
    }
    this.#known.set({ pending: null });
  }

  /** Why a cell cannot be played, as a sentence; null if it can, "" to refuse silently. */
  #whyNot(cell) {
    const { game, you, pending, gone } = this.#state;
    if (!you.length || pending || gone || this.#review) return "";
    if (game.over) return "The game is over.";
    if (!game.ready) return "The game has not begun.";
    if (!mine(this.#state)) return `It is ${called(this.#state, active(game))}'s turn.`;
    return game.cells[cell] ? `Cell ${cell + 1} is taken.` : null;
  }

  /** Send a command, one of each kind at a time; show the reason of a refusal. */
  async #command(part, body = {}) {
    if (this.#underWay.has(part)) return null;
    this.#underWay.add(part);
    this.#said.text = "";
    this.#showSoon();
    let wasBroken = false;
    const broken = ({ message }) => {
      if (!wasBroken) this.#say(`${message} It will be tried again.`);
      wasBroken = true;
    };
    try {
      const answer = await this.#known.send(part, { ...body, key: newKey() }, broken);
      if (wasBroken) this.#said.text = "";
      return this.#isLeft ? null : answer;
    } catch (error) {
      this.#say(error.message);
      return null;
    } finally {
      this.#underWay.delete(part);
      this.#showSoon();
    }
  }

  /** Whose token is taken back: your own, or on a shared screen the last one placed. */
  #taker() {
    const { game, you } = this.#state;
    return you.length === 2 ? other(turn(game)) : you[0];
  }

  #askToResign(isResigning) {
    this.#isResigning = isResigning;
    this.#show();
    if (isResigning) this.#view.focusSlot();
    else this.#view.focusButton("resign");
  }

  #resign() {
    const { game, you, version } = this.#state;
    this.#isResigning = false;
    this.#command("resign", { version, mark: you.length === 2 ? active(game) : you[0] });
  }

  async #rematch() {
    const seated = await this.#command("rematch");
    if (seated?.id) this.#goOn(seated.id, seated);
  }

  /** Go to the rematch; a player takes the seat there first. */
  #follow() {
    const { room, you } = this.#state;
    if (you.length) this.#rematch();
    else this.#goOn(room.next, null);
  }

  #goOn(id, seated) {
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    this.#context.go(`${BASE}/game/${id}`, seated);
  }

  async #join(body, broken) {
    let seated;
    try {
      seated = await this.#known.send("join", body, broken);
    } catch (error) {
      if (error.status === 404) error.message = "This invitation is wrong, or somebody has used it.";
      this.#say(error.message);
      throw error;
    }
    if (this.#isLeft) return;
    this.#known.open(seated); // again, so that the server knows who is connected
    this.#show();
    this.#view.focusBoard();
  }

  // Rendering

  #showSoon() {
    clearTimeout(this.#renderer);
    if (!this.#isLeft) this.#renderer = setTimeout(() => this.#show(), TOGETHER);
  }

  #show() {
    clearTimeout(this.#renderer);
    const state = this.#state;
    const { game, pending } = state;
    if (!game) {
      if (!state.open && !state.gone) setText(this.#place.querySelector("h1"), "Reconnecting…");
      return;
    }
    this.#view ??= new View(this.#place, this.#context, this.#id, this.#acts());
    this.#choosePanel();
    const advice = this.#advice();
    this.#view.show({
      state,
      shown: this.#review ? fold(eventsOf(game.moves.slice(0, this.#review.step), game.first)) : game,
      playable: this.#review || pending ? null : mine(state),
      labels: pending ? {} : (advice?.labels ?? {}),
      coaching:
        isCoachOn && game.ready && !game.over ? (advice?.say(this.#looked) ?? this.#coachWaits()) : "",
      isReviewing: this.#review !== null,
      hasPanel: this.#panel !== null,
      slot: slot(state, { isResigning: this.#isResigning, said: this.#said.text }),
      actions: this.#actions(),
    });
  }

  /** The available buttons. */
  #actions() {
    const { game, you, room, pending } = this.#state;
    const isBusy = (part) => this.#underWay.has(part);
    const isPlayer = you.length > 0;
    if (game.over) {
      const hasMoves = game.moves.length > 0;
      return {
        rematch: isPlayer &&
          !room.next && { isIdle: isBusy("rematch") || you.includes(room.offer?.mark) },
        review: hasMoves && { isPressed: this.#review !== null },
        replay: hasMoves && {},
      };
    }
    const tokens = turn(game) === this.#taker() ? 2 : 1;
    const isFixed =
      game.moves.length < tokens || pending || room.offer?.kind === "takeBack" || isBusy("take-back");
    return {
      takeBack: isPlayer && { isIdle: isFixed },
      coach: game.ready && { isPressed: isCoachOn },
      resign: isPlayer && { isIdle: isBusy("resign") },
    };
  }

  /** The panel before the game: invite a player, or take the seat. */
  #choosePanel() {
    const { you } = this.#state;
    if (you.length) this.#forgetInvitation();
    const wanted = this.#wantedPanel();
    if (this.#panel === wanted) return;
    this.#panel = wanted;
    this.#state.isInvited = wanted === "join";
    this.#view.fillPanel(null);
    if (wanted) this.#loadPanel(wanted);
  }

  #wantedPanel() {
    const { game, you, room } = this.#state;
    if (you.length) return game.ready || game.over ? null : "invite";
    const isInvited = free(this.#state) && (location.hash.length > 1 || room.lobby);
    const isUnanswered = session.get(`join.${this.#id}`) !== null;
    return (isInvited || isUnanswered) && !game.over && !this.#isWatching ? "join" : null;
  }

  /** Remove the invitation code from the address once a seat is taken. */
  #forgetInvitation() {
    session.set(`join.${this.#id}`, null);
    if (location.hash) history.replaceState(null, "", location.pathname);
  }

  async #loadPanel(kind) {
    const module = await (kind === "invite" ? import("./invite.js") : import("./join.js")).catch(
      () => null,
    );
    if (this.#panel !== kind || this.#isLeft) return;
    if (!module) {
      this.#panel = null; // retried with the next change, at the latest after reconnecting
      return;
    }
    const join = (body, broken) => this.#join(body, broken);
    this.#view.fillPanel(module.panel(this.#state, join, () => this.#watch()));
  }

  #watch() {
    this.#isWatching = true;
    this.#show();
    this.#view.focusSentence();
  }

  // The coach and the review, loaded on first use

  #toggleCoach() {
    isCoachOn = !isCoachOn;
    this.#show();
  }

  /** The coach's advice on the position: to players on their own moves, to spectators on all. */
  #advice() {
    const { game } = this.#state;
    if (!isCoachOn || !this.#mayCoach()) return null;
    if (this.#coach) return this.#coach.advise(boardText(game), game.first);
    this.#loadCoach();
    return null;
  }

  #mayCoach() {
    const { game, you } = this.#state;
    return game.ready && !game.over && (!you.length || mine(this.#state));
  }

  async #loadCoach() {
    const module = await import("./coach.js").catch(() => null);
    if (!module) {
      isCoachOn = false;
      this.#say(UNREACHABLE);
      return;
    }
    this.#coach ??= new module.Coach(() => this.#showSoon());
    this.#showSoon();
  }

  #coachWaits() {
    if (!this.#mayCoach()) return "The coach helps when it is your turn.";
    return this.#coach?.failure ?? "The coach thinks…";
  }

  #look(cell) {
    if (cell === this.#looked) return;
    this.#looked = cell;
    if (isCoachOn) this.#showSoon();
  }

  async #toggleReview() {
    if (this.#review) {
      this.#review.slider.remove();
      this.#review.words.remove();
      this.#review = null;
    } else {
      const module = await import("./review.js").catch(() => null);
      if (this.#review || this.#isLeft) return;
      if (!module) {
        this.#say(UNREACHABLE);
        return;
      }
      const { game } = this.#state;
      const panel = module.reviewPanel(
        game,
        (mark) => called(this.#state, mark),
        (step) => {
          this.#review.step = step;
          this.#show();
        },
      );
      this.#review = { ...panel, step: game.moves.length };
      this.#view.beginReview(panel);
    }
    this.#show();
  }
}
