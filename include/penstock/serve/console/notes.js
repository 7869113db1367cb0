// What was done to the lake: marked on the chart, for a step in the numbers may be a release, not people; and a bell for pages that show it.

import { get, live } from "./api.js";
import { el, tipped } from "./dom.js";
import { moment } from "./format.js";

// People act seldom; the numbers change each second.
const CALM = 15_000;
let asked = 0;
let done = [];

async function audit() {
  if (Date.now() - asked < CALM) return done;
  asked = Date.now();
  done = (await get("/api/audit").catch(() => ({ entries: [] }))).entries;
  return done;
}

// Calls `again` when something was done; what was done before is on the page already.
export function whenDone(again) {
  let told = 0;
  return live([["about", "audit"]], () => { if (told++) again(); });
}

export async function notes({ from, to }) {
  return (await audit()).map((one) => ({ ...one, at: new Date(one.at) })).filter((one) => one.at >= from && one.at < to).map((one) => ({
    bucket: one.at.toISOString(), series: "note", value: 0, shown: `${one.what} ${one.about}`, said: `${moment(one.at, false)}, ${one.who}: ${one.why}`,
  }));
}

// What the marks say, for the keyboard and the finger as well.
export function marks(noted) {
  if (!noted.length) return null;
  const words = `${noted.length} ${noted.length === 1 ? "mark" : "marks"}`;
  return [" · ", tipped(el("span", { class: "about", "data-key": "marks" }, words), () => noted.map((one) => `${one.shown}: ${one.said}`))];
}
