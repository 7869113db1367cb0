// What is chosen: the scope, the range, comparison, and the filters that are on.

import { el } from "./dom.js";
import { RANGES, days, link, withFilter } from "./state.js";

export function controls(state, scopes, scope, go) {
  const own = !RANGES[state.range];
  return el("form", { class: "controls", onsubmit: (event) => event.preventDefault() },
    choice(scope, scopes.map((name) => [name, name]), state.scope, (value) => go(link({ ...state, scope: value }))),
    choice("Range", [...Object.entries(RANGES).map(([name, range]) => [name, range.label]), [own ? state.range : OWN, "Days of your choice"]], state.range,
      (value) => go(link({ ...state, range: value === OWN ? lastMonth() : value }))),
    own && chosenDays(state, go),
    el("label", { class: "tick" },
      el("input", { type: "checkbox", checked: state.compare, "data-key": "Compare", onchange: (event) => go(link({ ...state, compare: event.target.checked })) }),
      "Compare"),
  );
}

const OWN = "own";

function chosenDays(state, go) {
  const [from, to] = state.range.split("..");
  const input = (label, value, range) => el("input", { type: "date", "aria-label": label, "data-key": label, value, onchange: ({ target }) => target.value && go(link({ ...state, range: range(target.value) })) });
  return el("span", { class: "days" }, input("First day", from, (value) => days(value, to)), " to ", input("Last day", to, (value) => days(from, value)));
}

function lastMonth() {
  const text = (at) => `${at.getFullYear()}-${String(at.getMonth() + 1).padStart(2, "0")}-${String(at.getDate()).padStart(2, "0")}`;
  const now = new Date();
  return days(text(new Date(now.getFullYear(), now.getMonth() - 1, 1)), text(new Date(now.getFullYear(), now.getMonth(), 0)));
}

function choice(label, options, chosen, changed) {
  return el("label", { class: "choice" }, el("span", { class: "unseen" }, label),
    el("select", { "data-key": label, onchange: (event) => changed(event.target.value) },
      options.map(([value, text]) => el("option", { value, selected: value === chosen }, text))));
}

export function filters(state, go) {
  if (!state.filters.length) return null;
  return el("ul", { class: "filters", "aria-label": "Filters" }, state.filters.map((filter) =>
    el("li", {}, el("button", {
      type: "button", "aria-label": `Remove the filter ${filter.key} is ${filter.value}`,
      onclick: () => go(link(withFilter(state, filter.key, null))),
    }, el("span", {}, `${filter.key} is `), el("b", {}, filter.value), el("span", { "aria-hidden": "true" }, " ×")))));
}
