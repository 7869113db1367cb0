// Reports: funnel, conversions, who comes back, experiments, people, unusual hours. Each answer is made by the server.

import { get } from "./api.js";
import { lines, state } from "./certificate.js";
import { csv, download } from "./csv.js";
import { el, hinted, press, replace, tipped } from "./dom.js";
import { problem } from "./empty.js";
import { capital, moment, number } from "./format.js";
import { table } from "./table.js";
import { zone } from "./state.js";

const NUMBERS = "tbody td, .count, .big b";
const DRAWN = { enriched, funnel, goals, retention, uplift, people, unusual };

export async function reports(page) {
  const cards = await Promise.all((page.domain.reports || []).map((report) => card(page, report)));
  replace(page.parts.reports, cards);
}

async function card(page, report) {
  const body = el("div", { class: "rows" });
  const section = el("section", { class: `card panel report ${report.kind}`, "aria-label": report.title }, el("header", {}, el("h2", {}, report.title)), body);
  try {
    const said = await get(`/api/reports/${page.domain.name}/${report.name}`, asked(page, report));
    const missed = page.state.filters.filter((one) => !page.where(report.view).some((known) => known.key === one.key)).map((one) => one.key);
    const drawn = DRAWN[report.kind](said);
    replace(body, drawn || el("p", { class: "nothing" }, empty(report)));
    const told = () => lines(said.certificate, report.doc);
    // A hundred numbers would be as many stops of the keyboard: it has the words below them.
    for (const number of body.querySelectorAll(NUMBERS)) hinted(number, told);
    const what = tipped(el("span", { class: `about ${state(said.certificate)}` }, "What is this?"), told);
    const save = press("CSV", () => download(`${report.name}.csv`, csv(flat(said.rows))), { "aria-label": `${report.title} as CSV` });
    section.append(el("footer", {}, el("span", {}, what, missed.length ? ` · not filtered by ${missed.join(", ")}` : ""), save));
  } catch (error) {
    problem(body, error);
  }
  return section;
}

function asked(page, report) {
  const where = page.where(report.view).map(({ key, value }) => ["where", `${key}:eq:${value}`]);
  return [["from", page.at.from.toISOString()], ["to", page.at.to.toISOString()], ["tz", zone], ...where];
}

function empty(report) {
  return report.kind === "unusual" ? "No hour was unlike the same hour of past weeks." : `Nothing for “${report.title}” in this range.`;
}

// A spreadsheet has no lists in a cell: the weeks of a cohort become columns.
function flat(rows) {
  return rows.map(({ kept, ...row }) => (kept ? { ...row, ...Object.fromEntries(kept.map((share, week) => [`week_${week}`, share])) } : row));
}

function funnel({ rows }) {
  if (!rows[0]?.count) return null;
  return el("ol", { class: "steps" }, rows.map((row) => el("li", {},
    el("p", { class: "row" }, el("span", { class: "fill", width: `${row.of_all * 100}%` }), el("span", { class: "name" }, row.step), el("span", { class: "count" }, number(row.count))),
    el("p", { class: "aside" }, row.of_before === null ? "all visits" : `${number(row.of_before, "percent")} of the step before · ${number(row.of_all, "percent")} of all`))));
}

function goals({ rows }) {
  if (!rows.length) return null;
  return scrolled(["Goal", "Events", "Visitors", "Conversion"], rows.map((row) => [row.goal, number(row.events), number(row.visitors), number(row.conversion, "share")]));
}

function enriched({ rows }) {
  if (!rows.length) return null;
  const [key] = Object.keys(rows[0]);
  return scrolled([capital(key), "Page views", "Users"], rows.slice(0, 9).map((row) => [row[key], number(row.views), number(row.users)]));
}

function retention({ rows }) {
  const weeks = rows.filter((row) => row.visitors);
  if (!weeks.length) return null;
  const longest = Math.max(...weeks.map((row) => row.kept.length));
  const columns = ["Week of", "New", ...Array.from({ length: longest }, (_, week) => (week ? `+${week}` : "+0"))];
  return scrolled(columns, weeks.map((row) => [day(row.week), number(row.visitors), ...Array.from({ length: longest }, (_, week) => heat(row.kept[week]))]), { stacks: false });
}

// The share is written in the cell; the shade only repeats it.
function heat(share) {
  if (share === undefined || share === null) return "";
  return el("span", { class: `heat heat-${Math.min(5, Math.ceil(share * 20))}` }, number(share, "share"));
}

function day(text) { return new Date(`${text}T12:00:00`).toLocaleDateString(undefined, { day: "numeric", month: "short" }); }

function uplift({ rows }) {
  if (!rows.length) return null;
  return scrolled(["Experiment", "Variant", "Visitors", "Conversion", "Uplift, 95 % interval"], rows.map((row) => [
    row.experiment, row.variant, number(row.visitors), number(row.conversion, "share"), against(row),
  ]));
}

function against(row) {
  if (row.uplift === undefined) return "what it is compared with";
  if (row.uplift === null) return "too few conversions";
  const kind = row.sure ? (row.uplift > 0 ? "good" : "bad") : "";
  const words = row.sure ? (row.uplift > 0 ? "▲ better" : "▼ worse") : "not sure yet";
  return el("span", { class: kind }, `${signed(row.uplift)} (${signed(row.low)} to ${signed(row.high)}) ${words}`);
}

function signed(share) { return `${share > 0 ? "+" : share < 0 ? "−" : ""}${number(Math.abs(share), "percent")}`; }

function people({ rows }) {
  const [row] = rows;
  if (!row?.visitors) return null;
  return el("div", { class: "big" }, el("b", {}, number(row.people, "count", true)), el("p", { class: "aside" },
    row.merged ? `people behind ${number(row.visitors, "count", true)} visitor ids: ${row.merged === 1 ? "one id is" : `${number(row.merged, "count", true)} ids are`} one more of somebody already counted.`
      : `people behind as many visitor ids: none of them was said to be another.`));
}

function unusual({ rows }) {
  if (!rows.length) return null;
  const largest = [...rows].sort((a, b) => Math.abs(b.far) - Math.abs(a.far)).slice(0, 8);
  return scrolled(["Hour", "Visitors", "Usual", "Spreads"], largest.map((row) => [
    moment(row.hour, false), number(row.value), number(row.usual), `${row.far > 0 ? "▲" : "▼"} ${number(Math.abs(row.far), "decimal")}`,
  ]));
}

function scrolled(columns, rows, how) { return el("div", { class: "scroll" }, table(columns, rows, how)); }
