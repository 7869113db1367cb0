// What stands where there is nothing yet, or where something went wrong: why, and what to do.

import { get, later, view } from "./api.js";
import { el, press, replace } from "./dom.js";

const AGAIN = 1500;

function invitation(collector, domain) {
  // Under its own name curl is a bot, and bots are not among the visitors of this page.
  const command = [`curl -X POST ${collector}/v1/${domain.source}`, "-A 'Mozilla/5.0 Firefox/140.0'", "-H 'Content-Type: application/json'",
    `-d '${JSON.stringify(domain.first_event)}'`].join(" \\\n  ");
  return [
    el("p", {}, "The lake is there and empty. Send the first event; this page fills by itself:"),
    copied(command),
    el("p", {}, "Or put the tracker into a page:"),
    copied(`<script defer src="${collector}/tracker.js" data-site="a.example"></script>`),
    el("p", { class: "aside" }, "A believable site, live: ", el("code", {}, "make demo")),
  ];
}

// Browsers let a page copy only where it came safely: from this machine, or by https.
function copied(text) {
  const button = navigator.clipboard && press("Copy", async () => { await navigator.clipboard.writeText(text); button.textContent = "Copied"; });
  return el("div", { class: "copied" }, el("pre", { tabindex: "0" }, text), button);
}

export async function emptyLake(main, domain, again) {
  // Who came by a share link may not ask for it, and has nothing to send.
  const status = await get("/api/status").catch(() => null);
  replace(main,
    el("section", { class: "empty" },
      el("h1", {}, "No events yet"),
      ...(status ? invitation(`${location.protocol}//${location.hostname}:${status.collector_port}`, domain) : [])));
  let left = false;
  let close = () => {};
  const look = async () => {
    const range = { from: new Date(Date.now() - 400 * 86400e3), to: new Date(Date.now() + 86400e3) };
    const said = await view(domain.live, { ...range, by: [domain.scope], limit: 1 }).catch(() => ({ rows: [] }));
    if (left) return;
    close = said.rows.length ? await again() : later(look, AGAIN);
  };
  close = later(look, AGAIN);
  return () => { left = true; close(); };
}

export function problem(element, error) {
  const allowed = error.allowed?.length ? ` Allowed: ${error.allowed.join(", ")}.` : "";
  replace(element, el("p", { class: "bad", role: "alert" }, error.title ? el("b", {}, `✗ ${error.title}: `) : "✗ ", `${error.message}${allowed}`));
}
