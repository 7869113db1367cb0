// Starts the console: which page, which theme, is the server there.

import { get, onHealth } from "./api.js";
import { el, replace } from "./dom.js";
import { domainPage } from "./domain.js";
import { pipelinePage } from "./pipeline.js";
import { rejectedPage } from "./rejected.js";
import { releasesPage } from "./releases.js";
import { link, read } from "./state.js";
import { startTheme } from "./theme.js";

const main = document.getElementById("main");
const nav = document.getElementById("nav");
const connection = document.getElementById("connection");
let close = () => {};
let declared = null;

async function start() {
  startTheme();
  onHealth(said);
  addEventListener("popstate", show);
  document.addEventListener("click", follow);
  await show();
}

function said(healthy) {
  connection.hidden = healthy;
  connection.textContent = healthy ? "" : "The connection is lost: these are the last numbers. Trying again…";
  if (healthy && declared === null) show();
}

// Links within the console change the address and the page, without a load.
function follow(event) {
  const anchor = event.target.closest?.("a[href^='/']");
  if (!anchor || anchor.hasAttribute("download") || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  const address = new URL(anchor.href);
  if (address.pathname !== "/") return;
  event.preventDefault();
  go(address.pathname + address.search);
}

export function go(address) {
  history.pushState(null, "", address);
  show();
}

async function show() {
  close();
  close = () => {};
  const state = read();
  try {
    if (!declared) declared = await get("/api/domains");
  } catch (problem) {
    replace(main, el("section", { class: "empty" }, el("h1", {}, "The server cannot be reached"), el("p", {}, "This page comes back by itself.")));
    setTimeout(show, 3000);
    return;
  }
  const pages = routes();
  const page = pages[state.page] || Object.values(pages)[0];
  navigate(pages, page, state);
  document.title = `${page.label} · Penstock`;
  main.setAttribute("aria-busy", "true");
  close = await page.open(main, state, go);
  main.removeAttribute("aria-busy");
}

function routes() {
  const domains = declared.domains.map((domain) => [domain.name, {
    name: domain.name, label: domain.title, open: (main, state, go) => domainPage(main, state, domain, go),
  }]);
  return {
    ...Object.fromEntries(domains),
    pipeline: { name: "pipeline", label: "Pipeline", open: pipelinePage },
    rejected: { name: "rejected", label: "Rejected", open: (main) => rejectedPage(main, declared.domains.map((domain) => domain.source)) },
    releases: { name: "releases", label: "Releases", open: releasesPage },
  };
}

function navigate(pages, current, state) {
  replace(nav, Object.values(pages).map((page) => el("a", {
    href: link({ ...state, page: page.name, measure: "", filters: [] }), "aria-current": page === current && "page",
  }, page.label)));
}

start();
