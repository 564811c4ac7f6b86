/** The first screen: a game in this browser, against the computer or between two people. */

import { about, GameView, loadTurningPoint } from "./board.js";
import {
  active,
  addressOf,
  draw,
  eventsOf,
  gameOf,
  ImpossibleHistory,
  other,
  turn,
  weights,
  whyNot,
} from "./game.js";
import {
  BASE,
  LEVELS,
  button,
  capitalised,
  choice,
  data,
  h,
  levelName,
  link,
  load,
  memory,
  message,
  say,
  words,
  yourResults,
} from "./page.js";

/**
 * @typedef {import("./game.js").Mark} Mark
 * @typedef {import("./game.js").Game} Game
 * @typedef {import("./game.js").LocalGame} LocalGame
 * @typedef {import("./board.js").Action} Action
 */

const THINKING_MS = 350;
const DEFAULT_LEVEL = "medium";

/** @param {HTMLElement} place @param {unknown} _handoff @param {string} [played] */
export function mount(place, _handoff, played) {
  try {
    const home = new Home(place, parse(played ?? "", new URLSearchParams(location.search)));
    return () => home.leave();
  } catch (error) {
    if (!(error instanceof ImpossibleHistory)) throw error;
    const why = error.move ? say(`page.fault_${error.code}`, { move: error.move }) : error.message;
    message(place, say("page.not_a_game"), h("p", {}, why), link("/", say("page.play_here"), "btn main"));
    return () => {};
  }
}

const records = () => import("./records.js");

/** @param {Partial<LocalGame>} wanted @returns {LocalGame} */
const newGame = (wanted) => ({
  moves: [],
  first: "X",
  level: LEVELS.includes(memory.get("level")) ? memory.get("level") : DEFAULT_LEVEL,
  you: "X",
  ...wanted,
});

/**
 * The game of an address, or a new one.
 * @param {string} played @param {URLSearchParams} given @returns {LocalGame}
 */
function parse(played, given) {
  if (!played && !["first", "level", "you"].some((key) => given.has(key))) return newGame({});
  const moves = [...played].map((digit) => (/^[1-9]$/.test(digit) ? Number(digit) - 1 : NaN));
  const first = mark(given.get("first"));
  const level = given.get("level")?.toLowerCase() ?? null;
  if (level !== null && !LEVELS.includes(level))
    throw new ImpossibleHistory(say("page.fault_level", { level, levels: LEVELS.map(levelName).join(", ") }));
  gameOf(moves, first);
  return { moves, first, level, you: mark(given.get("you")) };
}

/** Whether a game is what the first page begins with, so that its address need not say it. @param {LocalGame} local */
const isFirst = (local) => addressOf(local) === addressOf(newGame({}));

/** @param {string | null} given @returns {Mark} */
function mark(given) {
  const mark = (given ?? "X").toUpperCase();
  if (mark === "X" || mark === "O") return mark;
  throw new ImpossibleHistory(say("page.fault_mark", { mark: given ?? "" }));
}

class Home {
  /** @type {LocalGame} */
  #local;
  #view;
  #levels;
  #yours = h("section", { class: "card", hidden: true, "aria-label": say("page.games") });
  #timer = 0;
  /** @type {import("./coach.js").Assistant | null} */
  #assistant = null;
  /** What decided the game, once it is known. */
  #decided = "";
  #said = "";

  /** @param {HTMLElement} place @param {LocalGame} local */
  constructor(place, local) {
    this.#local = local;
    this.#levels = choice(
      say("page.level"),
      "level",
      LEVELS.map((level) => [level, levelName(level)]),
      local.level ?? "",
    );
    this.#levels.classList.add("levels");
    this.#levels.addEventListener("change", (event) => {
      this.#choose(/** @type {HTMLInputElement} */ (event.target).value);
    });
    this.#view = new GameView(place, {
      play: (cell) => this.#play(cell),
      look: (cell) => this.#assistant?.look(cell),
      choices: [this.#levels],
    });
    const isReplay = this.#game.over;
    this.#go(local);
    if (isReplay) {
      this.#decide();
      this.#assist("review").finally(() => this.#addCards()); // below the review
    } else {
      this.#addCards();
    }
  }

  /** Add the cards beside the board. */
  #addCards() {
    this.#view.side.append(
      friendCard((wanted) => this.#start(wanted)),
      this.#yours,
    );
    if (memory.get("games")?.length) load(records).then((found) => found?.fillCard(this.#yours));
  }

  leave() {
    clearTimeout(this.#timer);
    this.#view.leave();
  }

  get #game() {
    return gameOf(this.#local.moves, this.#local.first);
  }

  /** The marks that are placed at this screen. @returns {Mark[]} */
  get #you() {
    return this.#local.level ? [this.#local.you] : ["X", "O"];
  }

  /** Start another game. @param {Partial<LocalGame>} wanted */
  #start(wanted) {
    document.querySelector(".confetti")?.remove();
    this.#assistant?.endReview();
    if (this.#local.moves.length) history.pushState(null, "", `${BASE}/`);
    this.#go(newGame(wanted));
  }

  /**
   * Go on with a state of the game: show it, and let the computer move if it is its turn.
   * @param {LocalGame} local
   */
  #go(local) {
    clearTimeout(this.#timer);
    this.#local = local;
    this.#said = "";
    this.#decided = "";
    const game = this.#game;
    history.replaceState(null, "", BASE + (isFirst(local) ? "/" : addressOf(local)));
    this.#show();
    const mover = active(game);
    if (mover && !this.#you.includes(mover)) this.#timer = setTimeout(() => this.#answer(), THINKING_MS);
  }

  /** Go on with other moves. @param {number[]} moves */
  #change(moves) {
    const before = this.#local;
    this.#go({ ...before, moves });
    this.#record(before);
  }

  /** @param {number} cell */
  #place(cell) {
    this.#change([...this.#local.moves, cell]);
  }

  #answer() {
    const bot = LEVELS.indexOf(this.#local.level ?? "");
    this.#place(draw(weights(data.chances, bot, this.#game)));
  }

  /** @param {number} cell */
  #play(cell) {
    const game = this.#game;
    if (this.#assistant?.isReviewing) return;
    const isYours = this.#you.includes(turn(game));
    const refusal = whyNot(game, cell, turn(game)) ?? (isYours ? null : "notYourTurn");
    if (!refusal) return this.#place(cell);
    this.#say(say(`page.refused_${refusal}`, { player: this.#called(turn(game)) }));
  }

  /** Show a message until the game goes on. @param {string} sentence */
  #say(sentence) {
    this.#said = sentence;
    this.#view.say(sentence);
    this.#show();
  }

  /** Give the game up, and start another. */
  #startAgain() {
    const before = this.#local;
    load(records).then((found) => found?.dropGame(before));
    this.#start({ level: before.level, you: before.you });
  }

  /** Whose move is taken back: yours, or with two people at this screen the last one. */
  get #taker() {
    const { level, you } = this.#local;
    return level ? you : other(turn(this.#game));
  }

  #takeBack() {
    const { moves } = this.#local;
    const taker = this.#taker;
    this.#view.announceNext(say("page.took_back", { player: capitalised(this.#called(taker)) }));
    this.#change(moves.slice(0, turn(this.#game) === taker ? -2 : -1));
  }

  /** How a player is called. @param {Mark} mark */
  #called(mark) {
    const { level, you } = this.#local;
    if (!level) return mark;
    return mark === you ? say("page.you") : levelName(level);
  }

  /**
   * Keep the game in this browser, and celebrate its end.
   * @param {LocalGame} before
   */
  async #record(before) {
    const local = this.#local;
    const game = this.#game;
    const found = await load(records);
    found?.keepGame(local, before, game);
    const celebration = await load(() => import("./celebration.js"));
    if (this.#local !== local || this.#view.isLeft) return;
    if (!game.over) return celebration?.tick();
    celebration?.celebrate(this.#outcome(game), document.body);
    this.#decide();
    found?.fillCard(this.#yours);
  }

  /** Say what decided the game. */
  async #decide() {
    const local = this.#local;
    const part = await loadTurningPoint();
    if (this.#local !== local || !part) return;
    this.#decided = part.turningPoint(this.#game, (mark) => this.#called(mark));
    this.#show();
  }

  /** @param {Game} game @returns {"won" | "lost" | "drawn"} */
  #outcome({ winner }) {
    return winner ? (this.#you.includes(winner) ? "won" : "lost") : "drawn";
  }

  // What is shown

  #show() {
    const local = this.#local;
    const game = this.#game;
    const { level } = local;
    const isFocusLost = game.over && this.#levels.contains(document.activeElement);
    this.#levels.hidden = !level || game.over;
    const chosen = /** @type {HTMLInputElement | null} */ (this.#levels.querySelector(`[value="${level}"]`));
    if (chosen) chosen.checked = true;
    const mover = active(game);
    const isYours = mover !== null && this.#you.includes(mover);
    const scene = {
      game,
      events: eventsOf(local.moves, local.first),
      status: this.#status(game),
      note: game.over ? [this.#decided] : level ? aboutLevel(level) : [],
      mood: game.over && level ? this.#outcome(game) : "",
      playable: isYours ? mover : null,
      actions: game.over ? this.#lastActions() : this.#actions(game),
      prompt: { words: [this.#said], choices: [], isSaid: true },
      called: (/** @type {Mark} */ mark) => capitalised(this.#called(mark)),
    };
    this.#view.show(this.#assistant?.adjust(scene, isYours) ?? scene);
    if (isFocusLost) this.#view.focusStatus();
  }

  /** @param {Game} game */
  #status(game) {
    const you = this.#local.level ? this.#you : [];
    const called = (/** @type {Mark} */ mark) => this.#called(mark);
    if (game.over) return game.winner ? about("won", game.winner, you, called) : words("page.drawn");
    const mover = turn(game);
    return about(this.#local.level && mover !== this.#local.you ? "thinking" : "move", mover, you, called);
  }

  /** @param {Game} game @returns {(Action | false)[]} */
  #actions(game) {
    const { length } = game.moves;
    const isCoaching = this.#assistant?.isCoaching ?? false;
    return [
      {
        key: "take_back",
        act: () => this.#takeBack(),
        isIdle: length < (turn(game) === this.#taker ? 2 : 1),
      },
      { key: "coach", act: () => this.#assist("coach"), isPressed: isCoaching },
      this.#otherOpponent,
      { key: "new_game", act: () => this.#startAgain(), isIdle: !length },
    ];
  }

  /** @returns {(Action | false)[]} */
  #lastActions() {
    const { level, you, first } = this.#local;
    const at = LEVELS.indexOf(level ?? "");
    const isReviewing = this.#assistant?.isReviewing ?? false;
    return [
      { key: "again", act: () => this.#start({ level, you, first: other(first) }), isMain: true },
      level !== null && at < LEVELS.length - 1 && { key: "harder", act: () => this.#choose(LEVELS[at + 1]) },
      level !== null && at > 0 && { key: "easier", act: () => this.#choose(LEVELS[at - 1]) },
      this.#otherOpponent,
      { key: "review", act: () => this.#review(), isPressed: isReviewing },
    ];
  }

  /** The button for the other mark or, with two people at this screen, for the computer. @returns {Action} */
  get #otherOpponent() {
    const { level, you } = this.#local;
    if (!level) return { key: "computer", act: () => this.#start({}) };
    const mark = other(you);
    return { key: "swap", label: say("page.swap", { mark }), act: () => this.#start({ level, you: mark }) };
  }

  /** @param {string} level */
  #choose(level) {
    memory.set("level", level);
    this.#start({ level, you: this.#local.you });
  }

  async #review() {
    await this.#assist("review");
    this.#assistant?.showReview();
  }

  /** Turn the coach or the review on or off. @param {"coach" | "review"} what */
  async #assist(what) {
    const local = this.#local;
    const coach = await load(
      () => import("./coach.js"),
      (sentence) => this.#say(sentence),
    );
    if (!coach || (what === "review" && this.#local !== local)) return;
    this.#assistant ??= new coach.Assistant(this.#view, () => this.#show());
    if (what === "coach") this.#assistant.toggleCoach();
    else this.#assistant.toggleReview(this.#game, (mark) => this.#called(mark));
  }
}

/** How a level plays, and your results; the exact figure is elsewhere. @param {string} level */
function aboutLevel(level) {
  const found = yourResults(level);
  const results = found ? `${say("page.results", found)} ` : "";
  return [`${say(`page.about_${level}`)} ${results}`, link("/bots", say("page.exactly"), "")];
}

/** @param {(wanted: Partial<LocalGame>) => void} start */
function friendCard(start) {
  const said = h("p", { class: "said", role: "alert" });
  const invite = async () => {
    said.textContent = "";
    const friends = await load(
      () => import("./friends.js"),
      (sentence) => (said.textContent = sentence),
    );
    await friends?.createGame().catch((error) => friends.complain(said, error));
  };
  return h(
    "section",
    { class: "card", "aria-labelledby": "friend-title" },
    h("h2", { id: "friend-title" }, say("page.friend")),
    h("p", { class: "soft" }, say("page.friend_about")),
    h(
      "div",
      { class: "row" },
      button(say("page.get_link"), invite, { class: "btn main" }),
      button(say("page.this_screen"), () => start({ level: null })),
    ),
    said,
    h(
      "p",
      { class: "links" },
      link("/friend", say("page.options"), ""),
      link("/lobby", say("page.lobby"), ""),
    ),
  );
}
