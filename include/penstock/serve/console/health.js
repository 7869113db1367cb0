// Whether each tier is well, in a word that needs no colour: ✓ well, ✗ what is not, ○ nothing to judge yet.

import { el } from "./dom.js";
import { ago, moment, number } from "./format.js";

// As the watch judges streams (penstock.ops.watch.streams): one that says nothing for so long, or is so far behind.
const SILENT = 45;
const FAR = 60;

export function line({ well, words }) {
  const sign = well === null ? "○" : well ? "✓" : "✗";
  return el("p", { class: `mark ${well === null ? "" : well ? "good" : "bad"}` }, `${sign} ${words}`);
}

const WELL = { well: true, words: "well" };
const wrong = (words) => ({ well: false, words });
const yet = (words) => ({ well: null, words });

export function collection(hours) {
  if (!hours) return wrong("the log does not say what it took");
  const lost = hours.reduce((total, row) => total + Number(row.lost || 0), 0);
  if (lost) return wrong(`${number(lost, "count", true)} went from the log before they were archived`);
  if (!hours.length) return yet("nothing has come yet");
  return hours.some((row) => row.open) ? WELL : yet("nothing has come this hour");
}

export function streaming(kind, streams, now = Date.now()) {
  const own = streams.filter((one) => one.job.startsWith(`${kind}-`));
  if (!own.length) return yet("no stream has said anything yet");
  const failed = own.find((one) => one.state === "failed");
  if (failed) return wrong(`${failed.job} failed: ${failed.sentence || "see its state below"}`);
  const silent = own.find((one) => quiet(one, now));
  if (silent) return wrong(`${silent.job} says nothing since ${moment(silent.at)}`);
  const far = own.find((one) => Number(one.lag_seconds || 0) > FAR);
  return far ? wrong(`${far.job} is ${ago(far.lag_seconds)} behind`) : WELL;
}

// Whether a stream has said nothing for long: what it said last is no longer so.
export function quiet(one, now = Date.now()) { return (now - new Date(one.at)) / 1000 > SILENT; }

export function lake(hours) {
  if (!hours) return wrong("the ledger cannot be read");
  const closed = hours.filter((row) => !row.open);
  if (!closed.length) return yet("no hour is closed yet");
  const bad = closed.filter((row) => !row.balanced).length;
  return bad ? wrong(`${number(bad)} of ${number(closed.length)} closed source-hours ${bad === 1 ? "does" : "do"} not balance`) : WELL;
}

export function delivery(status, now = Date.now()) {
  const torn = Object.keys(status.problems || {});
  if (torn.length) return wrong(`cannot be read: ${torn.join(", ")}`);
  if (!Object.values(status.epochs).some((epoch) => epoch >= 0)) return yet("nothing to read yet");
  const old = age(status, now);
  return old > FAR ? wrong(`what is read is ${ago(old)} old`) : WELL;
}

// So many seconds ago ends what the answers hold in full, of the source that is furthest behind.
export function age(status, now = Date.now()) {
  const ages = (status.streams || []).filter((one) => one.job.startsWith("shape-") && one.lag_seconds !== null && one.lag_seconds !== undefined)
    .map((one) => Math.max(0, (now - new Date(one.at)) / 1000) + Number(one.lag_seconds));
  return ages.length ? Math.max(...ages) : null;
}
