// The peer's server: tic-tac-toe on boardgame.io, on 127.0.0.1 and a free port.
// Usage: node boardgame_server.js MODULES memory|flatfile [FOLDER]
// It prints "Serving on http://127.0.0.1:PORT" once it is ready, like noughts.
'use strict';

const { createRequire } = require('node:module');
const { resolve } = require('node:path');

const [modules, kind, folder] = process.argv.slice(2);
const peer = createRequire(resolve(modules, 'package.json'));
const { FlatFile, Origins, Server } = peer('boardgame.io/server');
const { INVALID_MOVE } = peer('boardgame.io/core');

const LINES = ['012', '345', '678', '036', '147', '258', '048', '246'].map((line) => [...line].map(Number));

const ticTacToe = {
  name: 'tic-tac-toe',
  minPlayers: 2,
  maxPlayers: 2,
  setup: () => ({ cells: new Array(9).fill(null) }),
  turn: { minMoves: 1, maxMoves: 1 },
  moves: {
    place({ G, playerID }, cell) {
      if (G.cells[cell] !== null) return INVALID_MOVE; // a cell off the board is undefined, and refused too
      G.cells[cell] = playerID;
      return undefined;
    },
  },
  endIf({ G: { cells }, ctx }) {
    const held = ([a, b, c]) => cells[a] !== null && cells[a] === cells[b] && cells[b] === cells[c];
    if (LINES.some(held)) return { winner: ctx.currentPlayer };
    return cells.includes(null) ? undefined : { draw: true };
  },
};

async function main() {
  const db = kind === 'flatfile' ? new FlatFile({ dir: folder, logging: false }) : undefined;
  const server = Server({ games: [ticTacToe], origins: [Origins.LOCALHOST], db });
  const { appServer } = await server.run({ port: { host: '127.0.0.1', port: 0 } });
  console.log(`Serving on http://127.0.0.1:${appServer.address().port}`);
}

main();
