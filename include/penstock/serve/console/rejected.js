// Records that are no facts: why, how many, and the latest of them as they came (as text, whatever they contain).

import { begin, mayAct, underWay } from "./acting.js";
import { get } from "./api.js";
import { el, replace } from "./dom.js";
import { problem } from "./empty.js";
import { moment, number } from "./format.js";
import { mending } from "./mending.js";
import { whenDone } from "./notes.js";
import { code, folded } from "./table.js";

const ASKED = 200;
const SHOWN = 12;

export async function rejectedPage(main, sources, me) {
  const doing = el("div");
  const cards = sources.map((source) => ({ source, latest: el("div"), stated: el("div") }));
  replace(main, el("h1", {}, "Rejected"), el("p", { class: "aside" }, "Nothing is dropped: every record that is no fact is kept here whole, with the rule that it broke."), doing,
    cards.map(({ source, latest, stated }) => el("section", { class: "card", "aria-label": source }, el("h2", {}, source), latest, stated)));
  const show = async () => {
    const airflow = await underWay(doing, again);
    const acts = mayAct(me) ? (operation) => begin(operation, airflow, again) : null;
    await Promise.all(cards.flatMap(({ source, latest, stated }) => [look(source, latest), mending(stated, source, acts)]));
  };
  const again = () => show().catch((error) => problem(doing, error));
  await show();
  return whenDone(again);
}

async function look(source, body) {
  try {
    const { rows } = await get(`/api/rejected/${encodeURIComponent(source)}`, [["limit", String(ASKED)]]);
    draw(source, body, rows, "");
  } catch (error) {
    problem(body, error);
  }
}

// All of the latest, or those of one reason.
function draw(source, body, rows, chosen) {
  if (!rows.length) { replace(body, el("p", { class: "nothing" }, "No record was rejected.")); return; }
  const reasons = new Map();
  for (const row of rows) reasons.set(row.reason, (reasons.get(row.reason) || 0) + 1);
  const chip = (reason, count) => el("li", {}, el("button", {
    type: "button", "aria-pressed": reason === chosen ? "true" : "false", "data-key": reason, onclick: () => draw(source, body, rows, reason === chosen ? "" : reason),
  }, `${reason} `, el("b", {}, number(count))));
  const shown = rows.filter((row) => !chosen || row.reason === chosen);
  replace(body,
    el("p", { class: "aside" }, `Why the latest ${number(rows.length)} were; a click shows those of one reason.`),
    el("ul", { class: "chips" }, [...reasons].sort((a, b) => b[1] - a[1]).map(([reason, count]) => chip(reason, count))),
    folded(`rejected ${source}`, ["When", "Reason", "Partition/offset", "Record"], shown.map((row) => [
      moment(row.received_at), row.reason, `${row.partition}/${row.offset}`, code(String(row.raw ?? "")),
    ]), SHOWN, (more) => `and ${more} earlier ones`, { stacks: true }));
}
