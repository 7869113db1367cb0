// What works behind the numbers: what gates said last, what Airflow runs, and what each table takes.

import { get } from "./api.js";
import { el, replace, tipped } from "./dom.js";
import { problem } from "./empty.js";
import { ago, moment, number, size } from "./format.js";
import { folded, table } from "./table.js";

const SHOWN = 8;

export function works() {
  const [gates, runs, storage] = ["Gates", "Under way in Airflow", "Storage"].map((name) => {
    const body = el("div", {}, el("p", { class: "nothing" }, "Looking…"));
    return { body, card: el("section", { class: "card", "aria-label": name }, el("h2", {}, name), body) };
  });
  const look = async () => {
    try {
      const said = await get("/api/works");
      replace(gates.body, gatesTable(said.gates));
      replace(runs.body, runsTable(said));
      replace(storage.body, storageTable(said.tables));
    } catch (error) {
      for (const part of [gates, runs, storage]) problem(part.body, error);
    }
  };
  return { gates: gates.card, runs: runs.card, storage: storage.card, look };
}

function gatesTable(gates) {
  if (!gates.length) return el("p", { class: "nothing" }, "No gate has looked at anything yet: a build comes first.");
  const rows = [...gates].sort((a, b) => a.passed - b.passed).map((one) => [one.table, one.release, verdict(one), ago(one.seconds), moment(one.at)]);
  return folded("gates", ["Table", "Release", "Verdict", "Took", "Looked at"], rows, SHOWN);
}

function verdict(one) {
  if (one.passed) return one.reason ? tipped(el("span", { class: "mark good" }, "✓ passed, with a warning"), () => [one.reason]) : el("span", { class: "mark good" }, "✓ passed");
  return tipped(el("span", { class: "mark bad" }, "✗ refused"), () => [one.reason, "Readers keep the last good numbers."]);
}

function runsTable({ runs, airflow }) {
  const door = el("a", { href: airflow, rel: "noreferrer" }, "Airflow");
  if (runs === null) return el("p", { class: "nothing" }, door, " does not answer: nothing is built or watched until it does. ", el("code", {}, "penstock status"), " says why.");
  if (!runs.length) return el("p", { class: "nothing" }, "Nothing runs just now. ", door, " has the history.");
  return el("div", { class: "scroll" }, table(["DAG", "State", "Run", "Began"], runs.map((one) => [
    el("a", { href: `${airflow}/dags/${encodeURIComponent(one.dag)}/runs/${encodeURIComponent(one.run)}`, rel: "noreferrer" }, one.dag), one.state, one.run, moment(one.began),
  ]), { stacks: true }));
}

function storageTable(tables) {
  if (!tables.length) return el("p", { class: "nothing" }, "The lake is empty.");
  const whole = tables.reduce((total, one) => total + one.bytes, 0);
  const sorted = [...tables].sort((a, b) => b.bytes - a.bytes);
  const rows = sorted.map((one) => [name(one.table), one.tier, size(one.bytes), number(one.rows, "count", true)]);
  return folded("tables", ["Table", "Tier", "On disk", "Rows"], rows, SHOWN, (more) => `and ${more} smaller ones; ${size(whole)} in all`);
}

// A long name breaks at its joints where a phone has no room for it.
function name(table) { return el("span", { class: "joints" }, table.split(/(?<=[._])/).map((part, at) => [at ? el("wbr") : null, part])); }
