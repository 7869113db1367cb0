// What people on call can do, each by the DAG that does it: what its form says, and what it asks for beside the reason.

import { el } from "./dom.js";
import { moment } from "./format.js";

const UNTIL = { name: "to", label: "to, that day included", type: "date" };
const HAPPENED = [{ name: "from", label: "Happened from", type: "date" }, UNTIL];
const REPLAY = [
  { name: "code", label: "Code: a folder, a wheel or a git revision", placeholder: "what is deployed" },
  { name: "source", label: "Only this source", placeholder: "all of them" },
  { name: "view", label: "Only this view, from the facts that there are", placeholder: "all of them" },
  { name: "from", label: "Arrived from", type: "date" },
  UNTIL,
];
const ALL = "all";
// Which DAG takes back what was said so.
const STATED_BY = { retracted: "retract", restated: "restate", repaired: "repair" };

export const operations = {
  replay: (domain) => ({ dag: "replay", form: { domain }, title: `Replay ${domain}`, fields: REPLAY,
    told: "Makes a new release from bronze, by the code that you name. Readers see nothing of it until a switch." }),
  switch: (domain, release) => ({ dag: "switch", form: { domain, release }, title: `Switch ${domain} to ${release}`, fields: [],
    told: "Compares both releases first and asks for a yes. Then one step moves the pointer; going back is the same step." }),
  drop: (domain, release) => ({ dag: "drop_release", form: { domain, release }, title: `Drop ${domain} ${release}`, fields: [],
    told: "Deletes the tables of a release that nobody reads, for good, once it is approved. Its numbers can be had again by a replay." }),
  point: () => ({ dag: "restore_point", form: {}, title: "Take a restore point", fields: [],
    told: "Pins the whole lake as it is now. It takes a second, copies nothing, and is kept for 30 days." }),
  rewind: (point, domains) => ({ dag: "rewind", form: { point: point.id }, title: `Rewind to ${moment(point.at)}`,
    fields: [{ name: "domain", label: "Whose tables", options: [...domains, ALL] }],
    told: `Brings silver, gold and speed back to ${point.id}, and shapes again what the log has since: no event is lost. The present is kept as a restore point, so that this can be undone the same way.` }),
  retract: ({ source, key, columns }) => ({ dag: "retract", form: { source }, title: `Retract facts of ${source}`,
    fields: [condition(columns, { required: true, placeholder: `${key} like 'load-test-%'` }), ...HAPPENED],
    told: "Facts for which the condition holds no longer count. First you see which numbers change; nothing is erased, and it can be taken back." }),
  restate: ({ source, key, columns }) => ({ dag: "restate", form: { source }, title: `Correct facts of ${source}`,
    fields: [{ name: "field", label: "The field that says something wrong", options: columns },
      { name: "value", label: "What is right, in SQL on the same fact", required: true, placeholder: "'Rhineland', or upper(region)" },
      condition(columns, { required: true, placeholder: `${key} = 'v7'` }), ...HAPPENED],
    told: "Where the condition holds, the field says what is right from now on, and all numbers follow. What it said before is kept, and can be had back." }),
  repair: (source, { reason, proposal }) => ({ dag: "repair", form: { source, reason }, title: `Repair ${reason} of ${source}`,
    fields: [
      { name: "rename", label: "Fields that have another name", placeholder: "old=new, with commas", value: pairs(proposal?.rename) },
      { name: "cast", label: "Fields of another type: integer, number, string, boolean", placeholder: "field=integer", value: pairs(proposal?.cast) },
      { name: "default", label: "What is missing is meant to be", placeholder: "field=value" },
    ],
    told: "Tries it first on every record that was rejected for this reason, and says how many would be facts. What stays rejected is left alone; it can be taken back." }),
  revoke: ({ id, verb, source }, { columns }) => ({ dag: STATED_BY[verb], form: { source, revoke: id }, title: `Take ${id} back`,
    fields: verb === "repaired" ? [] : [condition(columns, { label: "Only where this holds, in SQL", placeholder: "all of it" })],
    told: `What was ${verb} is again as it was before. First you see which numbers change.` }),
};

function condition(columns, given) {
  return { name: "where", label: "Which facts: a condition in SQL", rows: 2, says: `Columns: ${columns.join(", ")}`, ...given };
}

function pairs(said) { return Object.entries(said || {}).map(([name, value]) => `${name}=${value}`).join(", "); }

// One field of a form, by what it is: a list to choose from, a text of some lines, or an input. `says` stands below it.
export function field({ label, options, says, value, ...attributes }) {
  const named = { autocomplete: "off", spellcheck: "false", ...attributes };
  const made = options ? el("select", named, options.map((one) => el("option", { value: one, selected: one === value }, one)))
    : attributes.rows ? el("textarea", named, value || "") : el("input", { ...named, value });
  return el("label", {}, el("span", {}, label), made, says ? el("span", { class: "aside" }, says) : null);
}
