// Tables of a page: columns of figures stand to the right, so that they can be compared.

import { el } from "./dom.js";

export function table(columns, rows) {
  const kind = columns.map((_, at) => (rows.some((cells) => shown(cells[at])) && rows.every((cells) => figure(cells[at])) ? "figure" : null));
  return el("table", {}, el("thead", {}, el("tr", {}, columns.map((name, at) => el("th", { scope: "col", class: kind[at] }, name)))),
    el("tbody", {}, rows.map((cells) => el("tr", {}, cells.map((cell, at) => el("td", { class: kind[at] }, cell))))));
}

function shown(cell) { return cell?.textContent ?? String(cell ?? ""); }

function figure(cell) { return /^([–\d][\d.,\s%]*( s| ms| min| h| [kMGT]?B)?)?$/.test(shown(cell)); }
