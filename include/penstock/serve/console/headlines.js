// The big numbers, each with its change against the earlier period and its certificate.

import { view } from "./api.js";
import { lines, state } from "./certificate.js";
import { el, replace, tipped } from "./dom.js";
import { change, number } from "./format.js";

export async function headlines(page) {
  const answers = await asked(page);
  replace(page.parts.numbers, page.domain.headlines.map((headline) => one(page, headline, answers)));
}

// One question for each view, however many of its measures are shown.
async function asked(page) {
  const names = [...new Set(page.domain.headlines.map((headline) => page.chosen(headline).name))];
  const found = await Promise.all(names.map(async (name) => {
    const where = page.where(name);
    const [now, earlier] = await Promise.all([
      view(name, { ...page.at, where }),
      page.state.compare ? view(name, { ...page.at.earlier, where }) : null,
    ]);
    return { now: now.rows[0] || {}, earlier: earlier?.rows[0] || {}, certificate: now.certificate };
  }).map((asking) => asking.catch(unreadable)));
  return new Map(names.map((name, at) => [name, found[at]]));
}

// One view that cannot be read must not take the others' numbers away; a server that is gone leaves them all as they were.
function unreadable(error) {
  if (!(error.status >= 422)) throw error;
  return { now: {}, earlier: {}, error };
}

function one(page, headline, answers) {
  const { name, missed, doc } = page.chosen(headline);
  const { now, earlier, certificate, error } = answers.get(name);
  if (error) return broken(headline, error);
  const chosen = headline === page.measure;
  const value = now[headline.measure];
  const button = el("button", {
    type: "button", class: `number ${state(certificate)} ${missed.length ? "unfiltered" : ""}`, "aria-pressed": chosen ? "true" : "false", "data-key": headline.label,
    onclick: () => page.pick(headline.measure),
  },
    el("span", { class: "label" }, headline.label),
    el("span", { class: "value" }, number(value ?? (headline.style === "count" ? 0 : null), headline.style)),
    page.state.compare ? changed(value, earlier[headline.measure], headline.better) : null,
    missed.length ? el("span", { class: "aside" }, `not by ${missed.join(", ")}`) : null);
  return tipped(button, () => [`${headline.label}: ${number(value, headline.style, true)}`, ...lines(certificate, doc)]);
}

function broken(headline, error) {
  return tipped(el("div", { class: "number" }, el("span", { class: "label" }, headline.label), el("span", { class: "value" }, "–"),
    el("span", { class: "change bad" }, "cannot be read")), () => [error.message]);
}

function changed(now, earlier, better) {
  const share = change(now, earlier);
  if (share === null) return el("span", { class: "change" }, "no earlier period");
  const up = share >= 0;
  const good = up === (better === "up");
  const text = Math.abs(share) < 0.0005 ? "no change" : `${up ? "▲" : "▼"} ${share > 9.99 ? `${number(share + 1, "decimal")} times` : number(Math.abs(share), "percent")}`;
  return el("span", { class: Math.abs(share) < 0.0005 ? "change" : `change ${good ? "good" : "bad"}` }, text);
}
