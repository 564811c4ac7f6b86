// Where the page is mounted: nothing at the root of a site, or a prefix such as /noughts.

export const BASE = new URL(import.meta.url).pathname.replace(/\/static\/[^/]*$/, "");
