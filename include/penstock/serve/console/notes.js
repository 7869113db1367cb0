// What was done to the lake, marked on the chart: a step in the numbers may be a release, not people.

import { get } from "./api.js";
import { moment } from "./format.js";

export async function notes({ from, to }) {
  const { entries } = await get("/api/audit").catch(() => ({ entries: [] }));
  return entries.map((one) => ({ ...one, at: new Date(one.at) })).filter((one) => one.at >= from && one.at < to).map((one) => ({
    bucket: one.at.toISOString(), series: "note", value: 0, shown: `${one.what} ${one.about}`, said: `${moment(one.at, false)}, ${one.who}: ${one.why}`,
  }));
}
