// The releases of each domain, two of them compared, and what was done to them, by whom and why.

import { begin, mayAct, underWay } from "./acting.js";
import { get, later } from "./api.js";
import { el, press, replace } from "./dom.js";
import { problem } from "./empty.js";
import { day, moment, number } from "./format.js";
import { whenDone } from "./notes.js";
import { operations } from "./operations.js";
import { folded, table } from "./table.js";

const SHOWN = 12;
const POINTS = 6;
const AUDITED = 25;
// How far a replay is changes with each of its epochs, which take seconds.
const AGAIN = 5000;

export async function releasesPage(main, me) {
  const doing = el("div");
  const list = el("section", { class: "card", "aria-label": "Releases" });
  const compared = el("section", { class: "card", "aria-label": "Comparison", hidden: true });
  const restored = el("section", { class: "card", "aria-label": "Restore points" });
  const audit = el("section", { class: "card", "aria-label": "Audit" });
  replace(main, el("h1", {}, "Releases"),
    el("p", { class: "aside" }, "A release is one version of a domain's silver and gold: code and tables. One pointer says which is current; the others keep up for a set time, so that going there and back is one step."),
    doing, list, compared, restored, audit);
  let calm = () => {};
  const show = async () => {
    calm();
    const [said, points, airflow] = await Promise.all([get("/api/releases"), get("/api/restore_points"), underWay(doing, again)]);
    const acts = mayAct(me) ? (operation) => begin(operation, airflow, again) : null;
    replace(list, said.releases.map((domain) => domainPart(domain, airflow, acts, (release) => compare(compared, domain, release))));
    replace(restored, pointsPart(points, acts));
    const building = said.releases.some((domain) => domain.all?.some((one) => one.progress));
    if (building && list.isConnected) calm = later(() => show().catch((error) => problem(list, error)), AGAIN);
  };
  const done = async () => {
    const told = await get("/api/audit").catch(() => ({ entries: [] }));
    replace(audit, el("h2", {}, "What was done"), history(told.entries));
  };
  const again = () => Promise.all([done(), show()]).catch((error) => problem(list, error));
  await again();
  const unheard = whenDone(again);
  return () => { calm(); unheard(); };
}

function domainPart(domain, airflow, acts, chosen) {
  const all = domain.all || [];
  const rows = all.map((one) => [
    one.release, one.release === domain.release ? "current" : state(one), `${one.code || "what is deployed"}${one.view ? `, of ${one.view} alone` : ""}`, one.who, prose(one.why),
    one.release === domain.release ? "" : el("div", { class: "row-of-buttons" },
      one.state === "ready" ? press(`Compare with ${domain.release}`, () => chosen(one.release)) : null,
      acts && one.state === "ready" ? press("Switch to it", () => acts(operations.switch(domain.domain, one.release))) : null,
      acts && one.state !== "dropped" ? press("Drop", () => acts(operations.drop(domain.domain, one.release))) : null),
  ]);
  const published = Object.entries(domain.published).map(([view, built]) => [
    view, built ? moment(built.built_at) : "not yet: every number of it is provisional",
  ]);
  return el("div", {},
    el("h2", {}, domain.domain),
    el("div", { class: "scroll" }, table(["Release", "State", "Code", "By", "Why", ""], rows)),
    acts ? el("p", { class: "row-of-buttons" },
      el("button", { type: "button", class: "strong", onclick: () => acts(operations.replay(domain.domain)) }, "Replay…"),
      all.length > 1 ? press("Go back to the release before", () => acts(operations.switch(domain.domain, "previous"))) : null)
      : el("p", { class: "aside" }, "Who is on call and logs in can replay, switch, drop and rewind here."),
    airflow ? el("p", { class: "aside" }, "The same in Airflow: ", ...["replay", "switch", "drop_release"].flatMap((dag) => [
      el("a", { href: `${airflow}/dags/${dag}`, rel: "noreferrer" }, dag.replaceAll("_", " ")), " · ",
    ]).slice(0, -1)) : null,
    el("details", {}, el("summary", {}, `When the views of ${domain.release} were built`), el("div", { class: "scroll" }, table(["View", "Built"], published))),
  );
}

function pointsPart({ points, domains }, acts) {
  const row = (point) => [
    moment(point.at), point.by, day(point.until), prose(point.why),
    acts ? press("Rewind to it", () => acts(operations.rewind(point, domains)), { "aria-label": `Rewind to ${point.id}` }) : "",
  ];
  return [
    el("h2", {}, "Restore points"),
    el("p", { class: "aside" }, "Moments that the lake can go back to: one is taken at each publish, each night, and before something risky."),
    points.length ? folded("points", ["Taken", "By", "Kept until", "Why", ""], points.map(row), POINTS, (more) => `and ${more} earlier ones`)
      : el("p", { class: "nothing" }, "There is none yet."),
    acts ? el("p", { class: "row-of-buttons" }, press("Take a restore point", () => acts(operations.point()))) : null,
  ];
}

// Of a release that is being built: how far it is (nobody can say how long its views take). Of one that keeps up: until when.
function state(one) {
  const told = one.progress;
  if (!told) return one.until ? `${one.state}, kept up until ${day(one.until)}` : one.state;
  const shown = told.share === null ? {} : { value: told.share, max: 1 };
  return el("div", {}, `${one.state}: ${told.text}`, el("progress", { ...shown, "aria-label": `${one.release}: ${told.text}` }));
}

async function compare(card, domain, release) {
  card.hidden = false;
  replace(card, el("h2", {}, `${domain.domain}: ${domain.release} and ${release}`), el("p", { class: "aside", role: "status" }, "Comparing all rows of both; that takes seconds, of a large lake minutes…"));
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

function prose(text) { return text ? el("span", { class: "prose" }, text) : ""; }

export function history(entries) {
  if (!entries.length) return el("p", { class: "nothing" }, "Nothing yet: what people do to releases, facts and restore points is written here for ever.");
  const rows = entries.map((one) => [
    moment(one.at), `${one.what.replaceAll("_", " ")} ${one.about}`, one.who, prose(one.why), one.approved_by, changes(one),
  ]);
  return folded("audit", ["When", "What", "By", "Why", "Approved by", "Before and after"], rows, AUDITED, (more) => `and ${more} earlier ones`);
}

function changes(one) {
  const said = (part) => Object.entries(part).filter(([, value]) => typeof value !== "object").map(([name, value]) => `${name} ${typeof value === "number" ? number(value, "count", true) : value}`).join(", ");
  return [said(one.before), said(one.after)].filter(Boolean).join(" → ");
}
