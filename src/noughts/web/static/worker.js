/**
 * The service worker: opens the page without a network. Each version has a cache of its own, so that files of
 * versions never mix; a new one takes over when no page of the old one is open, or on request.
 *
 * The server fills in the version, the names of the files, and how the page's addresses begin. Other addresses
 * may belong to other applications.
 */

const VERSION = "%VERSION%";
const FILES = "%FILES%".split(" ");
const PAGES = "%PAGES%".split(" ");
const worker = /** @type {any} */ (self);
const BASE = new URL(".", location.href).pathname;
const CACHE = `noughts ${BASE} ${VERSION}`;

worker.addEventListener("install", (/** @type {any} */ event) => event.waitUntil(fill()));
worker.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(takeOver()));
worker.addEventListener(
  "message",
  (/** @type {MessageEvent} */ { data }) => data === "activate" && worker.skipWaiting(),
);
worker.addEventListener("fetch", (/** @type {any} */ event) => {
  const { pathname, origin } = new URL(event.request.url);
  if (event.request.method !== "GET" || origin !== location.origin) return;
  if (event.request.mode === "navigate") {
    const [first] = pathname.slice(BASE.length).split("/");
    if (PAGES.includes(first)) event.respondWith(fromCache(BASE, event.request));
  } else if (pathname.startsWith(`${BASE}static/${VERSION}/`)) {
    event.respondWith(fromCache(pathname, event.request));
  }
});

async function fill() {
  const page = await fetch(BASE, { cache: "no-store" });
  if (!page.ok || page.redirected || !(await page.clone().text()).includes(VERSION))
    throw new Error("the page has another version");
  const cache = await caches.open(CACHE);
  await cache.put(BASE, page);
  await cache.addAll(FILES.map((name) => `${BASE}static/${VERSION}/${name}`));
}

async function takeOver() {
  const own = `noughts ${BASE} `;
  const old = (await caches.keys()).filter((key) => key.startsWith(own) && key !== CACHE);
  await Promise.all(old.map((key) => caches.delete(key)));
  await worker.clients.claim();
}

/** @param {string} key @param {Request} request */
const fromCache = async (key, request) => (await (await caches.open(CACHE)).match(key)) ?? fetch(request);
