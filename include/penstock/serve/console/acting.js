// How people on call do something: a form, a plan, a yes, and how far it is. Airflow runs it and keeps its story.

import { get, later, send } from "./api.js";
import { closing, opened } from "./dialog.js";
import { el, press, replace } from "./dom.js";
import { problem } from "./empty.js";
import { field } from "./operations.js";
import { table } from "./table.js";

const AGAIN = 2000;
const WHY = { name: "why", label: "Why, for the audit", required: true, minlength: 3 };

export const mayAct = (me) => !me.share && (me.role === "oncall" || me.role === "admin");

// The operations that are not over, whoever began them, in `part`; and where Airflow is.
export async function underWay(part, again) {
  const { runs, airflow } = await get("/api/operations");
  replace(part, runs?.length ? el("section", { class: "card", "aria-label": "Under way" }, el("h2", {}, "Under way"),
    ...runs.map((run) => el("p", {}, `${run.dag.replaceAll("_", " ")}: ${run.state} `, press("Look", () => watch(run, airflow, again))))) : null);
  return airflow;
}

// `done` is called when the run is over, and when the dialog closes. `filled`: what the form says at first.
export function begin(operation, airflow, done, filled = {}) {
  const said = el("p", { class: "bad", role: "alert" });
  const start = async (event) => {
    event.preventDefault();
    const pressed = event.target.querySelector("button.strong");
    pressed.disabled = true;
    try {
      const form = Object.fromEntries(new FormData(event.target));
      const again = () => { dialog.close(); begin(operation, airflow, done, form); };
      follow(await send(`/api/operations/${operation.dag}`, { ...operation.form, ...form }), airflow, done, dialog, again);
    } catch (refused) {
      replace(said, refused.message);
      pressed.disabled = false;
    }
  };
  const dialog = opened(operation.title,
    el("p", { class: "aside" }, operation.told),
    el("form", { onsubmit: start }, ...[...operation.fields, WHY].map((one) => field({ ...one, value: filled[one.name] ?? one.value })), said,
      el("p", { class: "row-of-buttons" }, el("button", { class: "strong" }, operation.title), closing())));
}

// Of a run that somebody started, here or elsewhere.
function watch(run, airflow, done) {
  follow(run, airflow, done, opened(`${run.dag.replaceAll("_", " ")}`));
}

// `again`: what was asked can be asked otherwise, once the run has failed.
function follow(run, airflow, done, dialog, again) {
  const address = `/api/operations/${run.dag}/${encodeURIComponent(run.run)}`;
  const body = el("div", { "aria-live": "polite" }, el("p", { class: "aside" }, "Airflow has it…"));
  const link = el("a", { href: `${airflow}/dags/${run.dag}/runs/${encodeURIComponent(run.run)}`, rel: "noreferrer" }, "in Airflow");
  replace(dialog, dialog.querySelector("h2"), body, el("p", { class: "row-of-buttons" }, link, closing()));
  let shown = "";
  const look = async () => {
    if (!dialog.open) return;
    let told;
    try {
      told = await get(address);
    } catch (lost) {
      problem(body, lost);
      shown = "";
      later(look, AGAIN);
      return;
    }
    // Drawn only when it changed: a button that is drawn anew under a finger is not pressed.
    const now = JSON.stringify(told);
    if (now !== shown) replace(body, ...state(told, address, look, again));
    shown = now;
    if (told.over) done(); else later(look, AGAIN);
  };
  dialog.addEventListener("close", done);
  look();
}

function state(told, address, look, again) {
  return [
    el("ul", { class: "tasks" }, Object.entries(told.tasks).map(([task, name]) => el("li", { "data-state": name || "waits" },
      el("span", {}, task.replaceAll("_", " ")), el("span", { class: "aside" }, (name || "waits").replaceAll("_", " "))))),
    told.plan ? el("div", { class: "plan" }, plan(told.plan)) : null,
    told.asks ? question(told.asks, address, look) : null,
    told.why ? el("p", { class: "bad", role: "alert" }, told.why) : null,
    told.why && again ? press("Change what was asked", again) : null,
    told.over && !told.why ? el("p", { class: "good", role: "status" }, "Done. It is in the audit.") : null,
  ];
}

function question(asks, address, look) {
  const said = el("p", { class: "bad", role: "alert" });
  const answer = (word) => async () => {
    try {
      await send(address, { answer: word });
      look();
    } catch (refused) {
      replace(said, refused.message);
    }
  };
  // A question is open some seconds after it is asked: until then Airflow does not know that it is.
  return el("div", { role: "group", "aria-label": asks.subject }, el("p", {}, el("b", {}, asks.subject)),
    el("p", { class: "row-of-buttons" },
      el("button", { type: "button", class: "strong", disabled: !asks.open, onclick: answer("approve") }, "Approve"),
      press("Reject", answer("reject"), { disabled: !asks.open })), said);
}

// A plan is Markdown, of which it has headings, paragraphs and tables. What data say is in it: text nodes, as everywhere.
function plan(text) {
  return text.trim().split(/\n{2,}/).map((part) => {
    if (part.startsWith("|")) return el("div", { class: "scroll" }, planned(part));
    return part.startsWith("#") ? el("h3", {}, part.replace(/^#+ /, "")) : el("p", {}, part);
  });
}

function planned(part) {
  const [names, , ...rows] = part.split("\n").map((line) => line.slice(1, -1).split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|")));
  return table(names, rows);
}
