// The releases of each domain, two of them compared, and what was done to them, by whom and why.

import { get } from "./api.js";
import { el, replace } from "./dom.js";
import { problem } from "./empty.js";
import { moment, number } from "./format.js";
import { table } from "./table.js";

const SHOWN = 12;
// How far a replay is changes with each of its epochs, which take seconds.
const AGAIN = 5000;

export async function releasesPage(main) {
  const list = el("section", { class: "card", "aria-label": "Releases" });
  const compared = el("section", { class: "card", "aria-label": "Comparison", hidden: true });
  const audit = el("section", { class: "card", "aria-label": "Audit" });
  replace(main, el("h1", {}, "Releases"),
    el("p", { class: "aside" }, "A release is one version of a domain's silver and gold: code and tables. One pointer says which is current; the others keep up, so that going there and back is one step."),
    list, compared, audit);
  let timer = 0;
  const show = async () => {
    const said = await get("/api/releases");
    replace(list, said.releases.map((domain) => domainPart(domain, said.airflow, (release) => compare(compared, domain, release))));
    const building = said.releases.some((domain) => domain.all?.some((one) => one.progress));
    if (building && main.contains(list)) timer = setTimeout(() => show().catch((error) => problem(list, error)), AGAIN);
  };
  try {
    const [told] = await Promise.all([get("/api/audit").catch(() => ({ entries: [] })), show()]);
    replace(audit, el("h2", {}, "What was done"), history(told.entries));
  } catch (error) {
    problem(list, error);
  }
  return () => clearTimeout(timer);
}

function domainPart(domain, airflow, chosen) {
  const all = domain.all || [];
  const rows = all.map((one) => [
    one.release, one.release === domain.release ? "current" : state(one), one.code || "what is deployed", one.who, one.why,
    one.release === domain.release || one.state !== "ready" ? "" : el("button", { type: "button", class: "quiet", onclick: () => chosen(one.release) }, `Compare with ${domain.release}`),
  ]);
  const published = Object.entries(domain.published).map(([view, built]) => [
    view, built ? moment(built.built_at) : "not yet: every number of it is provisional",
  ]);
  return el("div", {},
    el("h2", {}, domain.domain),
    el("div", { class: "scroll" }, table(["Release", "State", "Code", "By", "Why", ""], rows)),
    airflow ? el("p", { class: "aside" }, "Start it in Airflow: ", ...["replay", "switch", "drop_release"].flatMap((dag) => [
      el("a", { href: `${airflow}/dags/${dag}`, rel: "noreferrer" }, dag.replaceAll("_", " ")), " · ",
    ]).slice(0, -1)) : null,
    el("details", {}, el("summary", {}, `When the views of ${domain.release} were built`), el("div", { class: "scroll" }, table(["View", "Built"], published))),
  );
}

// Of a release that is being built: how far it is. Nobody can say how long its views take.
function state(one) {
  const told = one.progress;
  if (!told) return one.state;
  const shown = told.share === null ? {} : { value: told.share, max: 1 };
  return el("div", {}, `${one.state}: ${told.text}`, el("progress", { ...shown, "aria-label": `${one.release}: ${told.text}` }));
}

async function compare(card, domain, release) {
  card.hidden = false;
  replace(card, el("h2", {}, `${domain.domain}: ${domain.release} and ${release}`), el("p", { class: "aside", role: "status" }, "Comparing…"));
  try {
    const said = await get(`/api/releases/${encodeURIComponent(domain.domain)}/compared`, [["before", domain.release], ["after", release]]);
    replace(card, el("h2", {}, `${domain.domain}: ${said.before} and ${said.after}`), ...comparison(said));
  } catch (error) {
    problem(card, error);
  }
}

function comparison(said) {
  const views = said.views.map((view) => [
    view.view, number(view.rows), number(view.added), number(view.lost), number(view.changed), largest(view),
    view.note || view.causes.slice(0, 2).map((cause) => `${cause.name} (${Math.round(cause.share * 100)} %)`).join(", ") || "the same",
  ]);
  const causes = said.sources.flatMap((source) => source.causes.slice(0, SHOWN).map((cause) => [
    source.source, cause.name, number(cause.records), `${Math.round(cause.share * 100)} %`, sample(cause),
  ]));
  return [
    el("p", {}, said.same ? "Both answer the same." : `The largest change of any measure is ${said.change_percent} %.`),
    said.moving_days.length ? el("p", { class: "aside" }, `Left out, for they are still coming in: ${said.moving_days.join(", ")}.`) : null,
    el("div", { class: "scroll" }, table(["View", "Rows", "Added", "Lost", "Changed", "Largest change", "Mostly because of"], views)),
    causes.length ? el("h3", {}, "Records that are judged otherwise") : null,
    causes.length ? el("div", { class: "scroll" }, table(["Source", "Cause", "Records", "Share", "For example"], causes)) : null,
  ].filter(Boolean);
}

function largest(view) {
  const [name, size] = Object.entries(view.measures).sort(([, a], [, b]) => b.share - a.share)[0] || [];
  return size && size.share ? `${name} ${(size.share * 100).toFixed(3)} %: ${number(size.before)} → ${number(size.after)}` : "";
}

function sample(cause) {
  return cause.samples.map((one) => `${one.partition}/${one.offset}`).join(", ");
}

export function history(entries) {
  if (!entries.length) return el("p", { class: "aside" }, "Nothing yet: what people do to releases, facts and restore points is written here for ever.");
  const rows = entries.map((one) => [
    moment(one.at), `${one.what} ${one.about}`, one.who, one.why, one.approved_by, changes(one),
  ]);
  return el("div", { class: "scroll" }, table(["When", "What", "By", "Why", "Approved by", "Before and after"], rows));
}

function changes(one) {
  const said = (part) => Object.entries(part).filter(([, value]) => typeof value !== "object").map(([name, value]) => `${name} ${value}`).join(", ");
  return [said(one.before), said(one.after)].filter(Boolean).join(" → ");
}
