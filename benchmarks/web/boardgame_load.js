// Load for the peer: many matches at once, each played by two socket.io clients.
// Usage: node boardgame_load.js MODULES PORT SERVER_PID MATCHES GAMES THINK_MS
// Each match plays GAMES one after the other; all are created and joined beforehand.
// A move counts when both clients have the new state; its latency is the time until then.
// Prints one line of JSON, with the same names as load.py.
'use strict';

const { readFileSync } = require('node:fs');
const http = require('node:http');
const { createRequire } = require('node:module');
const { resolve } = require('node:path');

const [modules, port, pid, ...numbers] = process.argv.slice(2);
const [MATCHES, GAMES, THINK_MS] = numbers.map(Number);
const { io } = createRequire(resolve(modules, 'package.json'))('socket.io-client');

const SITE = `http://127.0.0.1:${port}`;
const LOBBY = '/games/tic-tac-toe';
const MAX_SECONDS = 60;
const STALL_SECONDS = 30;
const TICKS_PER_SECOND = 100;

const agent = new http.Agent({ keepAlive: true, maxSockets: 32 });

function post(path, content) {
  return new Promise((answered, failed) => {
    const body = Buffer.from(JSON.stringify(content));
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const request = http.request(SITE + path, { method: 'POST', agent, headers }, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part));
      response.on('end', () => {
        const said = Buffer.concat(parts).toString();
        if (response.statusCode === 200) answered(JSON.parse(said));
        else failed(new Error(`${path} got ${response.statusCode}: ${said}`));
      });
    });
    request.on('error', failed);
    request.end(body);
  });
}

/** Run jobs 0, 1, …, `width` at a time. */
async function together(width, count, job) {
  let next = 0;
  async function worker() {
    while (next < count) {
      next += 1;
      await job(next - 1);
    }
  }
  await Promise.all(Array.from({ length: width }, worker));
}

async function newGame() {
  const { matchID } = await post(`${LOBBY}/create`, { numPlayers: 2 });
  const secrets = [];
  for (const playerID of ['0', '1']) {
    const seat = await post(`${LOBBY}/${matchID}/join`, { playerID, playerName: 'somebody' });
    secrets.push(seat.playerCredentials);
  }
  return { id: matchID, secrets };
}

function connect() {
  return new Promise((connected, failed) => {
    const options = { transports: ['websocket'], forceNew: true, reconnection: false };
    const socket = io(`${SITE}/tic-tac-toe`, options);
    socket.once('connect', () => connected(socket));
    socket.once('connect_error', failed);
  });
}

/** The CPU seconds of the server, and its resident bytes. */
function usage() {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').pop().split(' ');
  const resident = /VmRSS:\s*(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return { cpu: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND, memory: Number(resident[1]) * 1024 };
}

const seconds = () => Number(process.hrtime.bigint()) / 1e9;

/** The two clients of a match, and their games. */
class MatchPlayers {
  constructor(sockets, games, tally) {
    Object.assign(this, { sockets, games, tally, game: null, state: null, waiting: 0, since: 0, hasBegun: false });
    this.ready = new Promise((isReady) => { this.isReady = isReady; });
    this.played = new Promise((finish) => { this.finish = finish; });
    for (const socket of sockets) {
      socket.on('sync', (id, { state }) => this.arrived(id, state, false));
      socket.on('update', (id, state) => this.arrived(id, state, true));
    }
  }

  /** Both clients request the next game; `begin` starts the first one. */
  open() {
    this.game = this.games.pop();
    if (!this.game || this.tally.late) {
      this.finish();
      return;
    }
    this.waiting = 2;
    this.sockets.forEach((socket, seat) => {
      socket.emit('sync', this.game.id, String(seat), this.game.secrets[seat], 2);
    });
  }

  begin() {
    this.hasBegun = true;
    this.turn();
  }

  arrived(id, state, isMove) {
    if (id !== this.game.id) return;
    this.waiting -= 1;
    if (this.waiting > 0) return;
    this.state = state;
    if (isMove) {
      this.tally.moved(seconds() - this.since);
      if (state.ctx.gameover) {
        this.open();
        return;
      }
    }
    if (this.hasBegun) this.turn();
    else this.isReady();
  }

  turn() {
    if (this.tally.late) this.finish();
    else if (THINK_MS) setTimeout(() => this.move(), THINK_MS * (0.5 + Math.random()));
    else this.move();
  }

  move() {
    const { G, ctx, _stateID: version } = this.state;
    const free = G.cells.flatMap((held, cell) => (held === null ? [cell] : []));
    const cell = free[Math.floor(Math.random() * free.length)];
    const playerID = ctx.currentPlayer;
    const payload = { type: 'place', args: [cell], playerID, credentials: this.game.secrets[playerID] };
    this.waiting = 2;
    this.since = seconds();
    this.sockets[playerID].emit('update', { type: 'MAKE_MOVE', payload }, version, this.game.id, playerID);
  }
}

class Tally {
  constructor() {
    this.latencies = [];
    this.late = false;
    this.last = 0;
  }

  moved(latency) {
    this.latencies.push(latency);
    this.last = seconds();
  }

  /** Stop after the time limit, and fail when no moves are accepted. */
  watch(start) {
    this.last = start;
    return setInterval(() => {
      if (seconds() - start > MAX_SECONDS) this.late = true;
      if (seconds() - this.last > STALL_SECONDS) throw new Error('no move was accepted for too long');
    }, 500);
  }

  quantile(part) {
    const sorted = Float64Array.from(this.latencies).sort();
    return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
  }
}

async function main() {
  const plan = Array.from({ length: MATCHES }, () => []);
  let start = seconds();
  await together(32, MATCHES * GAMES, async (number) => plan[number % MATCHES].push(await newGame()));
  const created = (MATCHES * GAMES) / (seconds() - start);
  agent.destroy();

  const before = usage();
  const tally = new Tally();
  const pairs = [];
  await together(25, MATCHES, async (number) => {
    pairs[number] = new MatchPlayers(await Promise.all([connect(), connect()]), plan[number], tally);
    pairs[number].open();
    await pairs[number].ready;
  });
  const connected = usage();

  const ownBefore = process.cpuUsage();
  start = seconds();
  const watch = tally.watch(start);
  pairs.forEach((pair) => pair.begin());
  await Promise.all(pairs.map((pair) => pair.played));
  const wall = seconds() - start;
  const after = usage();
  const own = process.cpuUsage(ownBefore);
  clearInterval(watch);
  console.log(JSON.stringify({
    moves: tally.latencies.length,
    rate: tally.latencies.length / wall,
    p50: tally.quantile(0.5),
    p99: tally.quantile(0.99),
    worst: tally.quantile(1),
    server: (after.cpu - connected.cpu) / wall,
    client: (own.user + own.system) / 1e6 / wall,
    memory: after.memory,
    idle_pair: (connected.memory - before.memory) / MATCHES,
    pair: (after.memory - before.memory) / MATCHES,
    created,
  }));
  process.exit(0);
}

main();
