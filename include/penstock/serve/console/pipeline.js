// The five tiers as they are: what flows, what waits, how fresh, and whether it is well; and the ledger, hour by hour.

import { Problem, live } from "./api.js";
import { el, replace, tipped } from "./dom.js";
import { problem } from "./empty.js";
import { ago, moment, number } from "./format.js";
import { age, collection, delivery, lake, line, quiet, streaming } from "./health.js";
import { table } from "./table.js";
import { works } from "./works.js";

// The works look into every table and ask Airflow: now and then is enough.
const WORKS = 15_000;

export async function pipelinePage(main) {
  const tiers = el("ol", { class: "tiers" });
  const streams = el("div", { class: "scroll" });
  const ledger = el("div", { class: "scroll" });
  const trouble = el("div", {});
  const behind = works();
  let worked = 0;
  const before = new Map();
  replace(main, el("h1", {}, "Pipeline"), trouble, tiers,
    el("section", { class: "card", "aria-label": "Streams" }, el("h2", {}, "Streams"), streams),
    el("div", { class: "grid" }, el("div", {}, behind.gates, behind.runs), behind.storage),
    el("section", { class: "card", "aria-label": "Ledger" }, el("h2", {}, "Ledger"),
      el("p", { class: "aside" }, "Accepted by the log = archived in bronze = facts + rejected + duplicates. Each hour balances, or says by how much not."), ledger));
  return live([["about", "pipeline"]], (told) => {
    if (Date.now() - worked > WORKS) { worked = Date.now(); behind.look(); }
    // The tab is seen again: what there is now comes in a moment.
    if (!told) return;
    const { status, ledger: book } = told;
    // Each part by itself: where one cannot be read, the other is what a person needs.
    if (book.problem) problem(ledger, new Problem(book.problem)); else drawLedger(ledger, book);
    if (status.problem) { problem(trouble, new Problem(status.problem)); return; }
    replace(trouble, troubles(status));
    drawTiers(tiers, status, book.hours, flows(status, before), taken(book.hours, new Date(told.at), before));
    drawStreams(streams, status);
  });
}

function troubles(status) {
  const said = Object.entries(status.problems || {});
  return said.length ? el("ul", { class: "card bad troubles", role: "alert" }, said.map(([name, text]) => el("li", {}, el("b", {}, `✗ ${name}: `), text))) : null;
}

// Records a second of all streams of a kind, since the look before; nothing until there are two looks.
function flows(status, before) {
  const rates = new Map();
  for (const one of status.streams || []) {
    const [was, now] = [before.get(`${one.job} ${one.release}`), { total: Number(one.rows_total || 0), at: new Date(one.at) }];
    if (!was || now.at > was.at) before.set(`${one.job} ${one.release}`, { ...now, rate: was && now.total >= was.total ? (now.total - was.total) / ((now.at - was.at) / 1000) : was?.rate });
    const { rate } = before.get(`${one.job} ${one.release}`);
    const kind = one.job.split("-")[0];
    if (rate !== undefined && !quiet(one)) rates.set(kind, (rates.get(kind) || 0) + rate);
  }
  return (kind) => (rates.has(kind) ? `${number(rates.get(kind), "decimal")} a second` : "");
}

// What is accepted a second: the ledger's own count, since the look before.
function taken(hours, at, before) {
  if (!hours) return "";
  const [was, now] = [before.get("accepted"), { total: accepted(hours), at }];
  before.set("accepted", now);
  // The ledger looks a week back: when an hour leaves it, the sum falls.
  return was && now.total >= was.total ? `${number((now.total - was.total) / ((now.at - was.at) / 1000), "decimal")} a second` : "";
}

function accepted(hours) { return hours.reduce((total, row) => total + Number(row.accepted || 0), 0); }

function drawTiers(list, status, hours, flow, rate) {
  const streams = status.streams || [];
  const sum = (name) => hours?.reduce((total, row) => total + Number(row[name] || 0), 0);
  const behind = (kind) => {
    const lags = streams.filter((one) => one.job.startsWith(kind)).map((one) => Number(one.lag_seconds || 0));
    return lags.length ? `${ago(Math.max(...lags))} behind` : "";
  };
  const tier = (name, health, value, unit, ...words) => el("li", {}, el("h2", {}, name), el("p", {}, el("b", {}, value), ` ${unit}`), line(health), words.filter(Boolean).map((text) => el("p", { class: "aside" }, text)));
  const old = age(status);
  replace(list,
    tier("Collection", collection(hours), number(sum("accepted")), "accepted", rate, hours?.length ? `since ${moment(hours.map((row) => row.hour).sort()[0], false)}` : ""),
    tier("Log", streaming("archive", streams), number(streams.reduce((total, one) => total + Number(one.lag_records || 0), 0)), "waiting", flow("archive"), behind("archive")),
    tier("Shape", streaming("shape", streams), number(sum("facts")), "facts", flow("shape"), `${number(sum("rejected"))} rejected, ${number(sum("duplicates"))} duplicates`, behind("shape")),
    tier("Lake", lake(hours), number(sum("archived")), "archived", hours ? `${number(hours.length - hours.filter((row) => row.open).length)} source-hours closed` : ""),
    tier("Delivery", delivery(status), number(Object.keys(status.epochs).length), "views", old === null ? "" : `complete to ${ago(old)} ago`, read(Math.max(-1, ...Object.values(status.epochs)))));
}

function read(epoch) { return epoch < 0 ? "" : `read to epoch ${number(epoch, "count", true)}`; }

function drawStreams(element, status) {
  const streams = status.streams || [];
  if (!streams.length) { replace(element, el("p", { class: "nothing" }, "No stream has said anything yet. Start them: the streams DAG in Airflow, or ", el("code", {}, "penstock up"), ".")); return; }
  replace(element, table(["Stream", "State", "Driver", "Release", "Epoch", "Rows", "Behind", "Waiting", "Said at"], streams.map((one) => [
    one.job, running(one), one.group || "", one.release || "", number(one.epoch, "count", true), number(one.rows, "count", true), ago(one.lag_seconds), number(one.lag_records, "count", true), moment(one.at),
  ])));
}

function running(stream) {
  const said = [stream.sentence, stream.todo].filter(Boolean);
  const mark = el("span", { class: `mark ${said.length ? "bad" : ""}` }, stream.state || "");
  return said.length ? tipped(mark, () => said) : mark;
}

function drawLedger(element, book) {
  const rows = [...book.hours].sort((a, b) => (a.hour < b.hour ? 1 : a.hour > b.hour ? -1 : a.source < b.source ? -1 : 1)).slice(0, 60);
  if (!rows.length) { replace(element, el("p", { class: "nothing" }, "The ledger is empty: nothing has been archived yet.")); return; }
  const columns = ["Hour", "Source", "Accepted", "Archived", "Facts", "Rejected", "Duplicates", "Balance"];
  replace(element, table(columns, rows.map((row) => [
    moment(row.hour, false), row.source, number(row.accepted, "count", true), number(row.archived, "count", true), number(row.facts, "count", true),
    rejected(row), number(row.duplicates, "count", true), balance(row),
  ])));
}

function rejected(row) {
  const reasons = Object.entries(row.reasons || {}).map(([reason, count]) => `${reason}: ${number(count, "count", true)}`);
  const text = el("span", {}, number(row.rejected, "count", true));
  return reasons.length ? tipped(text, () => reasons) : text;
}

function balance(row) {
  if (row.open) return el("span", { class: "mark" }, "open");
  if (row.balanced) return el("span", { class: "mark good" }, "✓ balanced");
  const wrong = [["unarchived", "not archived"], ["unshaped", "not shaped"]].filter(([name]) => row[name]);
  const told = wrong.map(([name, less]) => `${number(Math.abs(row[name]), "count", true)} ${row[name] > 0 ? less : "booked too many"}`);
  return el("span", { class: "mark bad" }, `✗ ${told.join(", ")}`);
}
