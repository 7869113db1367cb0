// What can be done about a source's records: groups of rejected ones that a repair may mend, what was stated of its facts, and the way back.

import { get } from "./api.js";
import { el, press, replace } from "./dom.js";
import { problem } from "./empty.js";
import { moment, number } from "./format.js";
import { operations } from "./operations.js";
import { table } from "./table.js";

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
    group.reason, number(group.records), moment(group.last), el("code", { class: "prose" }, group.shape), mend(group),
    acts && group.proposal?.dag === "repair" ? press("Repair…", () => acts(operations.repair(source, group)), { "aria-label": `Repair ${group.reason}` }) : "",
  ]);
  return [el("h3", {}, "Those that are alike"), el("div", { class: "scroll" }, table(["Reason", "Records", "Last", "Their fields", "What might mend them", ""], rows))];
}

function mend({ proposal }) { return proposal ? el("span", { class: "prose" }, proposal.why) : ""; }

// Newest first; of what was taken back, whole or in part, the revocation says so.
function said(stated, acts) {
  const revoked = new Set(stated.statements.filter((one) => one.of && !condition(one)).map((one) => one.of));
  const rows = stated.statements.map((one) => [
    moment(one.at), one.of ? `took ${one.of} back` : `${one.verb} ${one.id}`, what(one), number(one.records), one.by, el("span", { class: "prose" }, one.why),
    acts && !one.of && !revoked.has(one.id) ? press("Take back…", () => acts(operations.revoke(one, stated)), { "aria-label": `Take ${one.id} back` }) : "",
  ]);
  return [el("h3", {}, "What was said of them"), el("div", { class: "scroll" }, table(["When", "What", "Which", "Records", "By", "Why", ""], rows))];
}

// Repairs have none, and what is about everything says that it is true.
function condition(one) { return one.where === "true" ? "" : one.where; }

function what(one) {
  const changes = [...Object.entries(one.rename || {}), ...Object.entries(one.cast || {}), ...Object.entries(one.default || {})].map(([name, value]) => `${name} = ${value}`);
  const range = [one.first && `from ${one.first}`, one.last && `to ${one.last}`];
  return el("code", { class: "prose" }, [one.field && `${one.field} = ${one.value}`, one.reason, ...changes, condition(one), ...range].filter(Boolean).join(", "));
}
