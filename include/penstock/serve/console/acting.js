// What people on call do to releases: a form, a plan, a yes, and how far it is. Airflow runs it and keeps its story.

import { get, send } from "./api.js";
import { closing, opened } from "./dialog.js";
import { el, press, replace } from "./dom.js";
import { problem } from "./empty.js";

const AGAIN = 2000;
const WHY = { name: "why", label: "Why, for the audit", required: true, minlength: 3 };
const REPLAY = [
  { name: "code", label: "Code: a folder, a wheel or a git revision", placeholder: "what is deployed" },
  { name: "source", label: "Only this source", placeholder: "all of them" },
  { name: "view", label: "Only this view, from the facts that there are", placeholder: "all of them" },
  { name: "from", label: "Only what arrived from", type: "date" },
  { name: "to", label: "to", type: "date" },
];

export const mayAct = (me) => !me.share && (me.role === "oncall" || me.role === "admin");

// What can be done, by its DAG: what the form says, and what it asks for beside the reason.
export const operations = {
  replay: (domain) => ({ dag: "replay", form: { domain }, title: `Replay ${domain}`, fields: REPLAY,
    told: "Makes a new release from bronze, by the code that you name. Readers see nothing of it until a switch." }),
  switch: (domain, release) => ({ dag: "switch", form: { domain, release }, title: `Switch ${domain} to ${release}`, fields: [],
    told: "Compares both releases first and asks for a yes. Then one step moves the pointer; going back is the same step." }),
  drop: (domain, release) => ({ dag: "drop_release", form: { domain, release }, title: `Drop ${domain} ${release}`, fields: [],
    told: "Deletes the tables of a release that nobody reads, for good, once it is approved. Its numbers can be had again by a replay." }),
  point: () => ({ dag: "restore_point", form: {}, title: "Take a restore point", fields: [],
    told: "Pins the whole lake as it is now. It takes a second, copies nothing, and is kept for 30 days." }),
};

// `done` is called when the run is over, and when the dialog closes.
export function begin(operation, airflow, done) {
  const said = el("p", { class: "bad", role: "alert" });
  const start = async (event) => {
    event.preventDefault();
    const pressed = event.target.querySelector("button.strong");
    pressed.disabled = true;
    try {
      const form = { ...operation.form, ...Object.fromEntries(new FormData(event.target)) };
      follow(await send(`/api/operations/${operation.dag}`, form), airflow, done, dialog);
    } catch (refused) {
      replace(said, refused.message);
      pressed.disabled = false;
    }
  };
  const dialog = opened(operation.title,
    el("p", { class: "aside" }, operation.told),
    el("form", { onsubmit: start }, ...[...operation.fields, WHY].map(field), said,
      el("p", { class: "row-of-buttons" }, el("button", { class: "strong" }, operation.title), closing())));
}

// Of a run that somebody started, here or elsewhere.
export function watch(run, airflow, done) {
  follow(run, airflow, done, opened(`${run.dag.replaceAll("_", " ")}`));
}

function follow(run, airflow, done, dialog) {
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
      setTimeout(look, AGAIN);
      return;
    }
    // Drawn only when it changed: a button that is drawn anew under a finger is not pressed.
    const now = JSON.stringify(told);
    if (now !== shown) replace(body, ...state(told, address, look));
    shown = now;
    if (told.over) done(); else setTimeout(look, AGAIN);
  };
  dialog.addEventListener("close", done);
  look();
}

function state(told, address, look) {
  return [
    el("ul", { class: "tasks" }, Object.entries(told.tasks).map(([task, name]) => el("li", { "data-state": name || "waits" },
      el("span", {}, task.replaceAll("_", " ")), el("span", { class: "aside" }, (name || "waits").replaceAll("_", " "))))),
    told.plan ? el("pre", { class: "plan" }, told.plan) : null,
    told.asks ? question(told.asks, address, look) : null,
    told.why ? el("p", { class: "bad", role: "alert" }, told.why) : null,
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

function field({ label, ...attributes }) {
  return el("label", {}, el("span", {}, label), el("input", { autocomplete: "off", ...attributes }));
}
