/** Requests to the server, and the two ways in which they fail. */

import { BASE } from "./base.js";

const API = `${BASE}/api/v1`;
const PATIENCE = 10_000;

/** The server refused; `message` is its reason. */
export class Refusal extends Error {
  constructor(status, problem, retryAfter) {
    super(problem.detail ?? problem.title ?? `The server answered ${status}.`);
    this.status = status;
    this.code = problem.code ?? "";
    this.version = problem.version ?? null;
    this.retryAfter = retryAfter;
  }
}

/** The outcome is unknown: there was no answer, or a temporary failure. */
export class BrokenLine extends Error {
  constructor(detail = "The server cannot be reached.") {
    super(detail);
  }
}

/** The path of a game, or of a part of it, in the API. */
export const at = (id, part = "") => `/games/${encodeURIComponent(id)}${part && `/${part}`}`;

/** A key that identifies one command, however often it is sent. */
export const newKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");

/** Send a GET request. */
export const get = (path) => ask(path, {});

/** Send a POST request, once. */
export const post = (path, body) =>
  ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });

/**
 * Send a POST request until it is answered. Repeating it is safe: the body has a key.
 * @param {string} path
 * @param {object} body
 * @param {{broken: (error: BrokenLine) => void, again: (attempt: number) => Promise<unknown>, gone: () => boolean}} line
 *   `broken` is called when the connection breaks, `again` waits before a retry, `gone` cancels it
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
  // A proxy reports that the server is failing or unreachable.
  if (answer.status >= 500) throw new BrokenLine(data?.detail);
  throw new Refusal(answer.status, data ?? {}, Number(answer.headers.get("Retry-After")) || 0);
}
