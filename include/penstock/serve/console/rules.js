// Standing questions about single facts and about a view's numbers: which there are, which of them tell somebody, and what they told last.

import { get, live } from "./api.js";
import { el, replace } from "./dom.js";
import { problem } from "./empty.js";
import { moment } from "./format.js";
import { folded, table } from "./table.js";

const ASKED = 100;
const SHOWN = 15;

export async function rulesPage(main, domains) {
  const rules = domains.flatMap((domain) => domain.rules);
  const told = el("div");
  replace(main, el("h1", {}, "Rules"), el("p", { class: "aside" }, "A rule is a condition on one fact, or on the numbers of a view in each bucket of time. An armed rule tells of every fact or bucket that meets it, once, within a second or two; another can be tried over history: ", el("code", {}, "penstock rules try"), "."),
    el("section", { class: "card", "aria-label": "Rules" }, rules.length ? el("div", { class: "scroll" }, table(["Rule", "What it asks", "State", "Of", "Where"], rules.map(row))) : el("p", { class: "nothing" }, "No domain declares a rule. They are in domains/<name>/rules.py.")),
    el("section", { class: "card", "aria-label": "Alerts" }, el("h2", {}, "What they told last"), told));
  await alerts(told);
  return live([["about", "alerts"]], () => alerts(told));
}

function row(rule) {
  return [el("b", {}, rule.name, el("span", { class: "aside" }, `, version ${rule.version}`)), el("span", { class: "prose" }, rule.doc), el("span", { class: `mark ${rule.armed ? "good" : ""}` }, rule.armed ? (rule.urgent ? "● armed, urgent" : "● armed") : "○ not armed"), el("span", { class: "prose" }, of(rule)), el("code", { class: "prose" }, rule.where)];
}

function of(rule) {
  return [rule.source, rule.every && `every ${rule.every}`, rule.by.length && `by ${rule.by.join(", ")}`].filter(Boolean).join(", ");
}

async function alerts(card) {
  try {
    const { rows } = await get("/api/alerts", [["limit", String(ASKED)]]);
    replace(card, rows.length ? folded("alerts", ["Happened", "Rule", "What"], rows.map(alert), SHOWN, (more) => `and ${more} earlier ones`, { stacks: true })
      : el("p", { class: "nothing" }, "Nothing has met an armed rule yet."));
  } catch (error) {
    problem(card, error);
  }
}

// Facts are what visitors sent: text, whatever it looks like.
function alert(row) {
  const fact = Object.entries(row.fact || {}).flatMap(([name, value]) => [el("span", { class: "aside" }, `${name} `), `${value} `]);
  return [moment(row.happened_at), row.rule, el("span", { class: "prose said" }, fact)];
}
