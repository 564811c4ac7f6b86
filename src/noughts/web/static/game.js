/**
 * The state of a game after its events. Tests compare it with the Python version (core/game.py).
 *
 * A game is an immutable value; `evolve` returns the next one.
 *
 * @typedef {"X" | "O"} Mark
 * @typedef {{schema: 1, event: string, [field: string]: unknown}} GameEvent
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

/** Events that no game can have produced in that order. */
export class ImpossibleHistory extends Error {}

/** @param {Mark} mark @returns {Mark} */
export const other = (mark) => (mark === "X" ? "O" : "X");

/** The mark to move or, when the game is over, the one that would be. @param {Game} game */
export function turn(game) {
  const count = game.cells.filter(Boolean).length;
  return count % 2 ? other(game.first) : game.first;
}

/** The mark to move, or null when the game is over. @param {Game} game @returns {Mark | null} */
export const active = (game) => (game.over ? null : turn(game));

/** The lines that one mark holds alone: none, one, or the two that one token completed. @param {Game} game */
export const wonLines = ({ cells }) =>
  LINES.filter(([a, b, c]) => cells[a] && cells[a] === cells[b] && cells[a] === cells[c]);

const isFinal = (game) => wonLines(game).length > 0 || game.cells.every(Boolean);

/** The board as the library writes it. @param {Game} game */
export const boardText = ({ cells }) =>
  [0, 3, 6]
    .map((row) =>
      cells
        .slice(row, row + 3)
        .map((mark) => mark ?? "_")
        .join(""),
    )
    .join("/");

/** The digits of the moves, as people type them. @param {Game} game */
export const digits = ({ moves }) => moves.map((cell) => cell + 1).join("");

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
    case "gameDraw":
      return game; // these repeat what the board and the winner show
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
      throw new TypeError(`${event.event} is no event`);
  }
}

/** Apply events in order. @param {Iterable<GameEvent>} events @param {Game | null} start @returns {Game | null} */
export function fold(events, start = null) {
  let game = start;
  for (const event of events) game = evolve(game, event);
  return game;
}

/** Why a mark may not be placed on a cell (the first reason), or null. */
export function whyNot(game, cell, mark) {
  if (game.over || isFinal(game)) return "gameOver";
  if (!Number.isInteger(cell) || cell < 0 || cell > 8) return "noSuchCell";
  if (mark !== turn(game)) return "notYourTurn";
  return game.cells[cell] ? "cellTaken" : null;
}

/** The events that placing a token leads to; it must be legal. @param {Game} game @param {number} cell */
export function placed(game, cell) {
  const mark = turn(game);
  const token = {
    schema: 1,
    event: "playerPlacedToken",
    row: Math.floor(cell / 3),
    column: cell % 3,
    mark,
  };
  const after = evolve(game, token);
  const events = [token, { schema: 1, event: "gamePlacedCount", count: after.moves.length }];
  if (wonLines(after).length) {
    events.push({ schema: 1, event: "gameWon", mark }, { schema: 1, event: "gameLost", mark: other(mark) });
  } else if (isFinal(after)) {
    events.push({ schema: 1, event: "gameDraw" });
  } else {
    return [...events, { schema: 1, event: "playerActive", mark: other(mark) }];
  }
  return [...events, { schema: 1, event: "gameCompleted", completed: true }];
}

/**
 * The events of a game from its moves alone; the first that is not legal is refused.
 * @param {number[]} moves
 * @param {Mark} first
 * @returns {GameEvent[]}
 */
export function eventsOf(moves, first = "X") {
  const events = [
    { schema: 1, event: "gameCreated", first },
    { schema: 1, event: "gameReady" },
    { schema: 1, event: "playerActive", mark: first },
  ];
  let game = fold(events);
  for (const [at, cell] of moves.entries()) {
    const refusal = whyNot(game, cell, turn(game));
    if (refusal) throw new ImpossibleHistory(`move ${at + 1}: ${refusal}`);
    const more = placed(game, cell);
    events.push(...more);
    game = fold(more, game);
  }
  return events;
}

/** An event in the notation of the specification, such as playerPlacedToken(0,2,X). @param {GameEvent} event */
export function formatEvent(event) {
  const fields = Object.entries(event).filter(([key]) => key !== "schema" && key !== "event");
  return `${event.event}(${fields.map(([, value]) => value).join(",")})`;
}

function withToken(game, { row, column, mark }) {
  const cell = 3 * row + column;
  const refusal = [row, column].every((place) => [0, 1, 2].includes(place))
    ? isFinal(game)
      ? "gameOver" // by a resignation, which the board does not show
      : whyNot({ ...game, over: false }, cell, mark)
    : "noSuchCell";
  if (refusal) throw new ImpossibleHistory(`a token could not have been placed: ${refusal}`);
  return { ...game, cells: game.cells.with(cell, mark), moves: [...game.moves, cell] };
}

function withoutTokens(game, mark) {
  const taken = turn(game) === mark ? 2 : 1; // the player's own, and the answer to it if there was one
  if (taken > game.moves.length) {
    throw new ImpossibleHistory(`${mark} has no token to take back`);
  }
  const gone = game.moves.slice(-taken);
  const cells = game.cells.map((held, cell) => (gone.includes(cell) ? null : held));
  return { ...game, cells, moves: game.moves.slice(0, -taken) };
}
