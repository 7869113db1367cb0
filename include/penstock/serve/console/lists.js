// The top lists, as bars. A click on a row filters the page by it.

import { view } from "./api.js";
import { lines } from "./certificate.js";
import { csv, download } from "./csv.js";
import { el, press, replace, tipped } from "./dom.js";
import { problem } from "./empty.js";
import { capital, number } from "./format.js";

const SHOWN = 9;
const MOST = 100;
const chosen = new Map();
const unfolded = new Set();

export async function panels(page) {
  const groups = Map.groupBy ? Map.groupBy(page.domain.lists, (list) => list.group) : grouped(page.domain.lists);
  const made = await Promise.all([...groups].map(([group, lists]) => panel(page, group, lists)));
  replace(page.parts.lists, made);
}

function grouped(lists) {
  const groups = new Map();
  for (const list of lists) groups.set(list.group, [...(groups.get(list.group) || []), list]);
  return groups;
}

async function panel(page, group, lists) {
  const list = lists.find((one) => one.label === chosen.get(group)) || lists[0];
  const tabs = el("div", { class: "tabs", role: "group", "aria-label": group }, lists.map((one) => el("button", {
    type: "button", "aria-pressed": one === list ? "true" : "false", "data-key": `tab ${one.label}`,
    onclick: () => { chosen.set(group, one.label); panels(page); },
  }, one.label)));
  const body = el("div", { class: "rows" });
  const card = el("section", { class: "card panel", "aria-label": group }, el("header", {}, el("h2", {}, group), tabs), body);
  try {
    const where = page.where(list.view);
    const said = await view(list.view, { ...page.at, by: [list.by], where, order: `-${list.measure}`, limit: MOST });
    fill(page, list, body, said);
    const save = press("CSV", () => download(`${list.label}.csv`, csv(said.rows)), { "aria-label": `${list.label} as CSV` });
    card.append(el("footer", {}, el("span", {}, more(page, list, said), note(page, list)), save));
  } catch (error) {
    problem(body, error);
  }
  return card;
}

// The rows after the first, for who asks.
function more(page, list, said) {
  if (said.rows.length <= SHOWN) return null;
  const open = unfolded.has(list.label);
  const all = said.rows.length < MOST ? `all ${number(said.rows.length)}` : `the first ${MOST}`;
  return press(open ? `Show ${SHOWN}` : `Show ${all}`, () => {
    if (open) unfolded.delete(list.label); else unfolded.add(list.label);
    panels(page);
  }, { "aria-label": `${open ? `Show ${SHOWN}` : `Show ${all}`} of ${list.label}`, "data-key": `more ${list.label}` });
}

function note(page, list) {
  const missed = page.state.filters.filter((one) => !where(page, list).includes(one.key)).map((one) => one.key);
  return missed.length ? el("span", { class: "aside" }, ` not filtered by ${missed.join(", ")}`) : null;
}

function where(page, list) { return page.where(list.view).map((one) => one.key); }

function fill(page, list, body, said) {
  const rows = said.rows.filter((row) => row[list.by] !== null && row[list.measure] !== null).slice(0, unfolded.has(list.label) ? MOST : SHOWN);
  if (!rows.length) {
    const filtered = page.state.filters.length ? " The filters leave none." : "";
    replace(body, el("p", { class: "nothing" }, `No ${list.label.toLowerCase()} in this range.${filtered}`, el("span", { class: "aside" }, page.views.get(list.view)?.doc)));
    return;
  }
  const largest = Math.max(...rows.map((row) => Number(row[list.measure])));
  const doc = page.doc(list.view, list.measure);
  replace(body,
    el("p", { class: "columns" }, el("span", {}, list.label), el("span", {}, capital(list.unit || list.measure))),
    el("ol", {}, rows.map((row) => bar(page, list, row, largest, () => lines(said.certificate, doc)))));
}

function bar(page, list, row, largest, certificate) {
  const name = String(row[list.by]);
  const value = Number(row[list.measure]);
  const known = page.views.get(list.view).keys.includes(list.by);
  const button = el("button", {
    type: "button", class: "row", "data-key": `${list.label} ${name}`, disabled: !known,
    onclick: () => page.filter(list.by, name),
  },
    el("span", { class: "fill", width: `${largest > 0 ? Math.max(1, (value / largest) * 100) : 0}%` }),
    el("span", { class: "name" }, list.by === "country" ? country(name) : name),
    el("span", { class: "count" }, number(value, list.style)));
  return el("li", {}, tipped(button, () => [`${name}: ${number(value, list.style, true)}`, ...certificate()]));
}

function country(code) {
  if (!/^[A-Za-z]{2}$/.test(code)) return code;
  try { return new Intl.DisplayNames(undefined, { type: "region" }).of(code.toUpperCase()) || code; } catch { return code; }
}
