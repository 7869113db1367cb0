// Tables of a page: columns of figures stand to the right, so that they can be compared. On a phone the rows of wide ones, and of those with
// sentences, become blocks whose cells say what they are.

import { el } from "./dom.js";

const WIDE = 4;

export function table(columns, rows, { stacks = columns.length > WIDE } = {}) {
  const kind = columns.map((_, at) => (rows.some((cells) => shown(cells[at])) && rows.every((cells) => figure(cells[at])) ? "figure" : null));
  return el("table", { class: stacks && (columns.length > WIDE ? "stacks" : "stacks few") }, el("thead", {}, el("tr", {}, columns.map((name, at) => el("th", { scope: "col", class: kind[at] }, name)))),
    el("tbody", {}, rows.map((cells) => el("tr", {}, cells.map((cell, at) => el("td", { class: kind[at], "data-label": columns[at] }, cell))))));
}

function shown(cell) { return cell?.textContent ?? String(cell ?? ""); }

function figure(cell) { return /^([▲▼] )?([–\d][\d.,\s%]*( s| ms| min| h| [kMGT]?B)?)?$/.test(shown(cell)); }
