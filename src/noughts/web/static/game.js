/**
 * The rules: a game is an immutable value, and `evolve` returns the next one. Tests compare it with the
 * library, position by position.
 */

/** @typedef {"X" | "O"} Mark */

/**
 * An event, as the server sends it.
 * @typedef {{schema: 1, event: "gameCreated", first: Mark}
 *   | {schema: 1, event: "playerJoined", name: string, mark: Mark}
 *   | {schema: 1, event: "playerPlacedToken", row: number, column: number, mark: Mark}
 *   | {schema: 1, event: "gamePlacedCount", count: number}
 *   | {schema: 1, event: "gameCompleted", completed: true}
 *   | {schema: 1, event: "gameReady" | "gameDraw"}
 *   | {schema: 1, event: "playerNotifyIllegalMove", [field: string]: unknown}
 *   | {schema: 1, event: "playerActive" | "gameWon" | "gameLost" | "playerResigned" | "playerTookBack", mark: Mark}
 * } GameEvent
 */

/**
 * @typedef {object} Game
 * @property {Mark} first the mark that starts
 * @property {(Mark | null)[]} cells nine, row by row
 * @property {number[]} moves the cells in the order they were taken
 * @property {{name: string, mark: Mark}[]} players
 * @property {boolean} ready
 * @property {Mark | null} winner
 * @property {Mark | null} resigned
 * @property {boolean} over
 */

/**
 * A game in the browser; its address has all of it.
 * @typedef {object} LocalGame
 * @property {number[]} moves
 * @property {Mark} first
 * @property {string | null} level null if two people play
 * @property {Mark} you your mark, if you play against the computer
 */

/** @type {Mark[]} */
export const MARKS = ["X", "O"];

export const LINES = [
  [0, 1, 2],
  [3, 4, 5],
  [6, 7, 8],
  [0, 3, 6],
  [1, 4, 7],
  [2, 5, 8],
  [0, 4, 8],
  [2, 4, 6],
];

const SYMMETRIES = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8],
  [2, 5, 8, 1, 4, 7, 0, 3, 6],
  [8, 7, 6, 5, 4, 3, 2, 1, 0],
  [6, 3, 0, 7, 4, 1, 8, 5, 2],
  [2, 1, 0, 5, 4, 3, 8, 7, 6],
  [8, 5, 2, 7, 4, 1, 6, 3, 0],
  [6, 7, 8, 3, 4, 5, 0, 1, 2],
  [0, 3, 6, 1, 4, 7, 2, 5, 8],
];

/** Events that no game can have produced in that order; `move` is the number of the move at fault. */
export class ImpossibleHistory extends Error {
  /** @param {string} message @param {{move?: number, code?: string}} fault */
  constructor(message, { move = 0, code = "" } = {}) {
    super(message);
    this.move = move;
    this.code = code;
  }
}

/** @param {Mark} mark @returns {Mark} */
export const other = (mark) => (mark === "X" ? "O" : "X");

/** The mark to move or, when the game is over, the one that would be. @param {Game} game */
export const turn = ({ moves, first }) => (moves.length % 2 ? other(first) : first);

/** The mark to move, or null when the game is over. @param {Game} game @returns {Mark | null} */
export const active = (game) => (game.over ? null : turn(game));

/** The lines that one mark holds alone: none, one, or the two that one token completed. @param {Game} game */
export const wonLines = ({ cells }) =>
  LINES.filter(([a, b, c]) => cells[a] && cells[a] === cells[b] && cells[a] === cells[c]);

/** @param {Game} game */
const isFinal = (game) => wonLines(game).length > 0 || game.cells.every(Boolean);

/** The board as the library writes it. @param {Game} game */
export const boardText = ({ cells }) =>
  cells.map((mark, cell) => (mark ?? "_") + (cell === 2 || cell === 5 ? "/" : "")).join("");

/** The digits of the moves, as people type them. @param {Game} game */
export const digits = ({ moves }) => moves.map((cell) => cell + 1).join("");

/** @param {Mark} first @returns {Game} */
const empty = (first) => ({
  first,
  cells: Array(9).fill(null),
  moves: [],
  players: [],
  ready: false,
  winner: null,
  resigned: null,
  over: false,
});

/** The game after an event. @param {Game | null} game @param {GameEvent} event @returns {Game} */
export function evolve(game, event) {
  if (game === null) {
    if (event.event === "gameCreated") return empty(event.first);
    throw new ImpossibleHistory(`a game starts with gameCreated, not with ${formatEvent(event)}`);
  }
  switch (event.event) {
    case "playerPlacedToken":
      return withToken(game, event);
    case "gamePlacedCount":
    case "playerActive":
    case "gameLost":
    case "gameDraw": // these repeat what the board and the winner show
    case "playerNotifyIllegalMove":
      return game;
    case "gameWon":
      return { ...game, winner: event.mark };
    case "gameCompleted":
      return { ...game, over: true };
    case "gameReady":
      return { ...game, ready: true };
    case "playerJoined":
      return { ...game, players: [...game.players, { name: event.name, mark: event.mark }] };
    case "playerResigned":
      return { ...game, resigned: event.mark };
    case "playerTookBack":
      return withoutTokens(game, event.mark);
    case "gameCreated":
      throw new ImpossibleHistory("gameCreated can only be the first event");
    default:
      throw new TypeError(`${/** @type {GameEvent} */ (event).event} is not an event`);
  }
}

/** Apply events in order. @param {Iterable<GameEvent>} events @param {Game | null} start @returns {Game} */
export function fold(events, start = null) {
  let game = start;
  for (const event of events) game = evolve(game, event);
  if (game === null) throw new ImpossibleHistory("a game has events");
  return game;
}

/**
 * Why a mark may not be placed on a cell (the first reason), or null.
 * @param {Game} game @param {number} cell @param {Mark} mark
 */
export function whyNot(game, cell, mark) {
  if (game.over || isFinal(game)) return "gameOver";
  if (!Number.isInteger(cell) || cell < 0 || cell > 8) return "noSuchCell";
  if (game.cells[cell]) return "cellTaken";
  return mark === turn(game) ? null : "notYourTurn";
}

/** The events that placing a token leads to; it must be legal. @param {Game} game @param {number} cell */
export function placed(game, cell) {
  const mark = turn(game);
  /** @type {GameEvent} */
  const token = { schema: 1, event: "playerPlacedToken", row: Math.floor(cell / 3), column: cell % 3, mark };
  const after = evolve(game, token);
  /** @type {GameEvent[]} */
  const events = [token, { schema: 1, event: "gamePlacedCount", count: after.moves.length }];
  if (wonLines(after).length) {
    events.push({ schema: 1, event: "gameWon", mark }, { schema: 1, event: "gameLost", mark: other(mark) });
  } else if (isFinal(after)) {
    events.push({ schema: 1, event: "gameDraw" });
  } else {
    events.push({ schema: 1, event: "playerActive", mark: other(mark) });
    return events;
  }
  events.push({ schema: 1, event: "gameCompleted", completed: true });
  return events;
}

/**
 * The events of a game from its moves alone; the first move that is not legal is refused.
 * @param {number[]} moves @param {Mark} first
 */
export function eventsOf(moves, first = "X") {
  /** @type {GameEvent[]} */
  const events = [
    { schema: 1, event: "gameCreated", first },
    { schema: 1, event: "gameReady" },
    { schema: 1, event: "playerActive", mark: first },
  ];
  let game = fold(events);
  for (const [at, cell] of moves.entries()) {
    const code = whyNot(game, cell, turn(game));
    if (code) throw new ImpossibleHistory(`move ${at + 1}: ${code}`, { move: at + 1, code });
    const more = placed(game, cell);
    events.push(...more);
    game = fold(more, game);
  }
  return events;
}

/** A game from its moves alone. @param {number[]} moves @param {Mark} first */
export const gameOf = (moves, first = "X") => fold(eventsOf(moves, first));

/**
 * An event in the notation of the specification, such as playerPlacedToken(0,2,X).
 * @param {GameEvent} event
 */
export function formatEvent(event) {
  const fields = Object.entries(event).filter(([key]) => key !== "schema" && key !== "event");
  return `${event.event}(${fields.map(([, value]) => value).join(",")})`;
}

/** The address of a game, without the part where the page is mounted. @param {LocalGame} local */
export function addressOf({ moves, first, level, you }) {
  const more = level ? `&level=${level}${you === "O" ? "&you=O" : ""}` : "";
  return `/play/${moves.map((cell) => cell + 1).join("")}?first=${first}${more}`;
}

/**
 * The class of a position: what it has in common with its images.
 * @param {Game} game
 * @returns {{text: string, cells: number[]}} nine digits: 0 is free, 1 the mark to move, 2 the other; and the
 *   cell of the board that each of them is about
 */
export function classOf(game) {
  const own = turn(game);
  const written = game.cells.map((mark) => (mark === null ? "0" : mark === own ? "1" : "2"));
  return SYMMETRIES.map((cells) => ({ cells, text: cells.map((cell) => written[cell]).join("") })).reduce(
    (least, one) => (one.text < least.text ? one : least),
  );
}

/**
 * A bot's chances in each free cell, as whole numbers.
 * @param {Record<string, number[][]>} chances for each class, the weights of each bot's free cells
 * @param {number} bot
 * @param {Game} game
 * @returns {Map<number, number>} the weight of each free cell
 */
export function weights(chances, bot, game) {
  const { cells, text } = classOf(game);
  const free = cells.filter((cell) => !game.cells[cell]);
  return new Map(free.map((cell, at) => [cell, chances[text][bot][at]]));
}

/** Draw a cell by its weight. @param {Map<number, number>} weighted */
export function draw(weighted, random = Math.random) {
  let left = random() * [...weighted.values()].reduce((sum, weight) => sum + weight, 0);
  for (const [cell, weight] of weighted) {
    left -= weight;
    if (left < 0) return cell;
  }
  throw new RangeError("no cell has a chance");
}

/** @param {Game} game @param {{row: number, column: number, mark: Mark}} token @returns {Game} */
function withToken(game, { row, column, mark }) {
  const cell = 3 * row + column;
  const refusal = [row, column].every((place) => [0, 1, 2].includes(place))
    ? isFinal(game)
      ? "gameOver" // by a resignation, which the board does not show
      : whyNot({ ...game, over: false }, cell, mark)
    : "noSuchCell";
  if (refusal) throw new ImpossibleHistory(`a token could not have been placed: ${refusal}`);
  return {
    ...game,
    cells: game.cells.map((held, at) => (at === cell ? mark : held)),
    moves: [...game.moves, cell],
  };
}

/** @param {Game} game @param {Mark} mark @returns {Game} */
function withoutTokens(game, mark) {
  const taken = turn(game) === mark ? 2 : 1; // the player's own, and the answer to it if there was one
  if (taken > game.moves.length) throw new ImpossibleHistory(`${mark} has no token to take back`);
  const gone = game.moves.slice(-taken);
  const cells = game.cells.map((held, cell) => (gone.includes(cell) ? null : held));
  return { ...game, cells, moves: game.moves.slice(0, -taken) };
}
