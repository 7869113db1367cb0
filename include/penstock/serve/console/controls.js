// What is chosen: the scope, the range, comparison, and the filters that are on.

import { el } from "./dom.js";
import { RANGES, link, withFilter } from "./state.js";

export function controls(state, scopes, scope, go) {
  return el("form", { class: "controls", onsubmit: (event) => event.preventDefault() },
    choice(scope, scopes.map((name) => [name, name]), state.scope, (value) => go(link({ ...state, scope: value }))),
    choice("Range", Object.entries(RANGES).map(([name, range]) => [name, range.label]), state.range, (value) => go(link({ ...state, range: value }))),
    el("label", { class: "tick" },
      el("input", { type: "checkbox", checked: state.compare, onchange: (event) => go(link({ ...state, compare: event.target.checked })) }),
      "Compare"),
  );
}

function choice(label, options, chosen, changed) {
  return el("label", { class: "choice" }, el("span", { class: "unseen" }, label),
    el("select", { onchange: (event) => changed(event.target.value) },
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
