// Tables of a page: columns of figures stand to the right, so that they can be compared. On a phone the rows of wide ones, and of those with
// sentences, become blocks whose cells say what they are.

import { el } from "./dom.js";

const WIDE = 4;
const BEGINNING = 90;

export function table(columns, rows, { stacks = columns.length > WIDE } = {}) {
  const kind = columns.map((_, at) => (rows.some((cells) => shown(cells[at])) && rows.every((cells) => figure(cells[at])) ? "figure" : null));
  return el("table", { class: stacks && (columns.length > WIDE ? "stacks" : "stacks few") }, el("thead", {}, el("tr", {}, columns.map((name, at) => el("th", { scope: "col", class: kind[at] }, name)))),
    el("tbody", {}, rows.map((cells) => el("tr", {}, cells.map((cell, at) => el("td", { class: kind[at], "data-label": columns[at] }, cell))))));
}

const unfolded = new Set();

// The first rows; the others for who asks, also when the table is drawn anew. `name` tells it from others that fold.
export function folded(name, columns, rows, first, said = (more) => `and ${more} more`, how = {}) {
  const more = rows.slice(first);
  const ontoggle = (event) => { if (event.target.open) unfolded.add(name); else unfolded.delete(name); };
  return [
    el("div", { class: "scroll" }, table(columns, rows.slice(0, first), how)),
    more.length ? el("details", { open: unfolded.has(name), ontoggle }, el("summary", {}, said(more.length)), el("div", { class: "scroll" }, table(columns, more, how))) : null,
  ];
}

// More of a long text is seen once it is unfolded.
export function code(text) {
  if (text.length <= BEGINNING) return el("code", { class: "prose" }, text);
  return el("details", { class: "prose" }, el("summary", {}, el("code", {}, `${text.slice(0, BEGINNING)}…`)), el("code", {}, text));
}

function shown(cell) { return cell?.textContent ?? String(cell ?? ""); }

function figure(cell) { return /^([▲▼] )?([–\d][\d.,\s%]*( s| ms| min| h| [kMGT]?B)?)?$/.test(shown(cell)); }
