// What can be done about a source's records: groups of rejected ones that a repair may mend, what was stated of its facts, and the way back.

import { get } from "./api.js";
import { el, press, replace } from "./dom.js";
import { problem } from "./empty.js";
import { moment, number } from "./format.js";
import { operations } from "./operations.js";
import { code, folded, table } from "./table.js";

const SAID = 8;

// `acts` begins an operation; null for who may not.
export async function mending(part, source, acts) {
  const of = encodeURIComponent(source);
  try {
    const [{ groups }, stated] = await Promise.all([get(`/api/rejected/${of}/groups`), get(`/api/statements/${of}`)]);
    replace(part, groups.length ? alike(groups, source, acts) : null, stated.statements.length ? said(stated, acts) : null,
      acts ? el("p", { class: "row-of-buttons" },
        press("Retract facts…", () => acts(operations.retract(stated)), { "aria-label": `Retract facts of ${source}` }),
        press("Correct a field…", () => acts(operations.restate(stated)), { "aria-label": `Correct a field of ${source}` })) : null);
  } catch (error) {
    problem(part, error);
  }
}

function alike(groups, source, acts) {
  const rows = groups.map((group) => [
    group.reason, number(group.records), moment(group.first, false), moment(group.last, false), code(fields(group)), mend(group),
    acts && group.proposal?.dag === "repair" ? press("Repair…", () => acts(operations.repair(source, group)), { "aria-label": `Repair ${group.reason}` }) : "",
  ]);
  return [el("h3", {}, "All of them by reason"), el("div", { class: "scroll" }, table(["Reason", "Records", "Since", "Last", "Fields of the most", "What might mend them", ""], rows))];
}

// Of the most: the names in the shape of an object, and what is no text; of anything else the words for it.
function fields({ shape }) {
  if (!shape.startsWith("{")) return shape;
  return Object.entries(JSON.parse(shape)).map(([name, type]) => (type === "VARCHAR" ? name : `${name} ${typeof type === "string" ? type.toLowerCase() : "…"}`)).join(", ");
}

function mend({ proposal }) { return proposal ? el("span", { class: "prose" }, proposal.why) : ""; }

// Newest first; of what was taken back, whole or in part, the revocation says so.
function said(stated, acts) {
  const revoked = new Set(stated.statements.filter((one) => one.of && !condition(one)).map((one) => one.of));
  const rows = stated.statements.map((one) => [
    moment(one.at), one.of ? `took ${one.of} back` : `${one.verb} ${one.id}`, what(one), number(one.records), one.by, el("span", { class: "prose" }, one.why),
    acts && !one.of && !revoked.has(one.id) ? press("Take back…", () => acts(operations.revoke(one, stated)), { "aria-label": `Take ${one.id} back` }) : "",
  ]);
  return [el("h3", {}, "Retracted, corrected, repaired"), folded(`said of ${stated.source}`, ["When", "What", "Which", "Records", "By", "Why", ""], rows, SAID, (more) => `and ${more} earlier ones`)];
}

// Repairs have none, and what is about everything says that it is true.
function condition(one) { return one.where === "true" ? "" : one.where; }

function what(one) {
  const changes = [...Object.entries(one.rename || {}), ...Object.entries(one.cast || {}), ...Object.entries(one.default || {})].map(([name, value]) => `${name} = ${value}`);
  const range = [one.first && `from ${one.first}`, one.last && `to ${one.last}`];
  const told = [one.field && `${one.field} = ${one.value}`, one.reason, ...changes, condition(one), ...range].filter(Boolean).join(", ");
  return told && el("code", { class: "prose" }, told);
}
