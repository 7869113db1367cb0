// Records that are no facts: why, how many, and the latest of them as they came (as text, whatever they contain).

import { get } from "./api.js";
import { el, replace, tipped } from "./dom.js";
import { problem } from "./empty.js";
import { moment, number } from "./format.js";
import { table } from "./table.js";

export async function rejectedPage(main, sources) {
  const body = el("div", {});
  replace(main, el("h1", {}, "Rejected"), el("p", { class: "aside" }, "Nothing is dropped: every record that is no fact is kept here whole, with the rule that it broke."), body);
  for (const source of sources) {
    const card = el("section", { class: "card", "aria-label": source }, el("h2", {}, source));
    body.append(card);
    try {
      fill(card, await get(`/api/rejected/${encodeURIComponent(source)}`, [["limit", "200"]]));
    } catch (error) {
      const place = el("p", {});
      card.append(place);
      problem(place, error);
    }
  }
  return () => {};
}

function fill(card, said) {
  const rows = said.rows || [];
  if (!rows.length) { card.append(el("p", { class: "nothing" }, "No record was rejected.")); return; }
  const reasons = new Map();
  for (const row of rows) reasons.set(row.reason, (reasons.get(row.reason) || 0) + 1);
  card.append(
    el("ul", { class: "chips" }, [...reasons].sort((a, b) => b[1] - a[1]).map(([reason, count]) => el("li", {}, `${reason} `, el("b", {}, number(count))))),
    el("div", { class: "scroll" }, table(["When", "Reason", "Place", "Record"], rows.slice(0, 100).map((row) => [
      moment(row.logged_at || row.received_at), el("span", { class: "mark bad" }, row.reason), `${row.partition}/${row.offset}`, raw(row),
    ]))));
}

function raw(row) {
  const text = String(row.raw ?? row.value ?? "");
  const code = el("code", {}, text.length > 110 ? `${text.slice(0, 110)}…` : text);
  return text.length > 110 ? tipped(code, () => [text.slice(0, 1500)]) : code;
}
