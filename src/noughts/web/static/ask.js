/** Questions and commands to the server, and the two ways in which they fail. */

import { BASE } from "./base.js";

const API = `${BASE}/api/v1`;
const PATIENCE = 10_000;

/** The server has said no; `message` is its sentence. */
export class Refusal extends Error {
  constructor(status, problem, retryAfter) {
    super(problem.detail ?? problem.title ?? `The server answered ${status}.`);
    this.status = status;
    this.code = problem.code ?? "";
    this.version = problem.version ?? null;
    this.retryAfter = retryAfter;
  }
}

/** Nobody knows whether the server has heard it: there was no answer, or "not now". */
export class BrokenLine extends Error {
  constructor(detail = "The server cannot be reached.") {
    super(detail);
  }
}

/** The address of a game, or of a part of it, within the API. */
export const at = (id, part = "") => `/games/${encodeURIComponent(id)}${part && `/${part}`}`;

/** A key that stands for one command, whoever sends it how often. */
export const newKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");

/** Ask for something. */
export const get = (path) => ask(path, {});

/** Tell the server something, once. */
export const post = (path, body) =>
  ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });

/**
 * Tell the server something until it has been heard. It is safe to say it again: the body has a key.
 * @param {string} path
 * @param {object} body
 * @param {{broken: (error: BrokenLine) => void, again: (attempt: number) => Promise<unknown>, gone: () => boolean}} line
 *   what to do when the line breaks, how long to wait, and whether nobody waits for the answer any more
 */
export async function deliver(path, body, line) {
  for (let attempt = 0; ; attempt++) {
    try {
      return await post(path, body);
    } catch (error) {
      if (!(error instanceof BrokenLine) || line.gone()) throw error;
      line.broken(error);
      await line.again(attempt);
      if (line.gone()) throw error;
    }
  }
}

async function ask(path, options) {
  let answer;
  let data = null;
  try {
    answer = await fetch(API + path, {
      ...options,
      cache: "no-store",
      signal: AbortSignal.timeout(PATIENCE),
    });
    data = await answer.json();
  } catch {
    if (!answer || answer.ok) throw new BrokenLine();
  }
  if (answer.ok) return data;
  // The server is not well, or not there, and something between us and it says so.
  if (answer.status >= 500) throw new BrokenLine(data?.detail);
  throw new Refusal(answer.status, data ?? {}, Number(answer.headers.get("Retry-After")) || 0);
}
