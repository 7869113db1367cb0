// What was done to the lake, marked on the chart: a step in the numbers may be a release, not people.

import { get } from "./api.js";
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

export async function notes({ from, to }) {
  return (await audit()).map((one) => ({ ...one, at: new Date(one.at) })).filter((one) => one.at >= from && one.at < to).map((one) => ({
    bucket: one.at.toISOString(), series: "note", value: 0, shown: `${one.what} ${one.about}`, said: `${moment(one.at, false)}, ${one.who}: ${one.why}`,
  }));
}
