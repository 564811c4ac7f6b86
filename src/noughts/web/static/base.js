// Where the page is mounted: empty at the root of a site, or a prefix such as /noughts.

export const BASE = new URL(import.meta.url).pathname.replace(/\/static\/[^/]*$/, "");
