/** Requests to the server, and the two ways in which they fail. */

import { BASE, askToReload, say } from "./page.js";

const API = `${BASE}/api/v1`;
const REQUEST_TIMEOUT_MS = 10_000;
/** Codes of refusals that this page cannot cause, unless it and the server are of different versions. */
const MISUNDERSTOOD = ["badRequest", "methodNotAllowed", "wrongType", ""];

/** The server refused; `message` is its reason. */
export class Refusal extends Error {
  /** @param {number} status @param {{detail?: string, code?: string}} problem */
  constructor(status, problem) {
    super(problem.detail ?? say("page.server_answered", { status }));
    this.code = problem.code ?? "";
    if (MISUNDERSTOOD.includes(this.code)) askToReload();
  }
}

/** The outcome is unknown: there was no answer, or a temporary failure. */
export class Disconnected extends Error {
  constructor(detail = say("page.unreachable")) {
    super(detail);
  }
}

export const GAME_ID = /^[a-z2-7]{26}$/;

/** The path of a game, or of a part of it, in the API. @param {string} id */
export const at = (id, part = "") => `/games/${encodeURIComponent(id)}${part && `/${part}`}`;

/** The address of the events of a game. @param {string} id @param {number} version */
export const streamAddress = (id, version) => `${API}${at(id, "events")}?after=${version}`;

/** A key that identifies one command, however often it is sent. */
export const newKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );

/** Send a GET request. @param {string} path @returns {Promise<any>} */
export const get = (path) => request(path, {});

/** Send a POST request, once. @param {string} path @param {object} body @returns {Promise<any>} */
export const post = (path, body) =>
  request(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });

/** @param {string} path @param {RequestInit} options */
async function request(path, options) {
  const giveUp = new AbortController();
  const timer = setTimeout(() => giveUp.abort(), REQUEST_TIMEOUT_MS);
  let answer;
  let content = null;
  try {
    answer = await fetch(API + path, { ...options, cache: "no-store", signal: giveUp.signal });
    content = await answer.json();
  } catch {
    if (!answer || answer.ok) throw new Disconnected();
  } finally {
    clearTimeout(timer);
  }
  if (answer.ok) return content;
  // A proxy reports that the server is failing or unreachable.
  if (answer.status >= 500) throw new Disconnected(content?.detail);
  throw new Refusal(answer.status, content ?? {});
}
