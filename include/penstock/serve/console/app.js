// Starts the console: which page, which theme, is the server there.

import { get, later, onHealth, onUnknown, send } from "./api.js";
import { auditPage } from "./audit.js";
import { el, keyed, press, replace } from "./dom.js";
import { domainPage } from "./domain.js";
import { loginPage } from "./login.js";
import { pipelinePage } from "./pipeline.js";
import { rejectedPage } from "./rejected.js";
import { releasesPage } from "./releases.js";
import { rulesPage } from "./rules.js";
import { link, read, zone } from "./state.js";
import { startTheme } from "./theme.js";

const main = document.getElementById("main");
const nav = document.getElementById("nav");
const connection = document.getElementById("connection");
let close = () => {};
const user = document.getElementById("user");
let declared = null;
let me = null;
let shown = 0;

async function start() {
  startTheme();
  document.getElementById("zone").textContent = `Times are in your zone, ${zone}.`;
  onHealth(said);
  onUnknown(toTheDoor);
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
  shown += 1;
  const mine = shown;
  const state = read();
  try {
    if (!declared) [me, declared] = await Promise.all([get("/api/me"), get("/api/domains")]);
  } catch (problem) {
    if (problem.status === 401) { loginPage(main, show); return; }
    replace(main, el("section", { class: "empty" }, el("h1", {}, "The server cannot be reached"), el("p", {}, "This page comes back by itself.")));
    close = later(show, 3000);
    return;
  }
  greet();
  const pages = routes();
  const page = pages[state.page] || Object.values(pages)[0];
  navigate(pages, page, state);
  document.title = `${page.label} · Penstock`;
  main.setAttribute("aria-busy", "true");
  const back = place();
  const closes = await page.open(room(() => mine === shown, back), state, go).catch((problem) => failed(problem, mine));
  if (mine !== shown) { closes(); return; }
  close = closes;
  main.removeAttribute("aria-busy");
  back();
}

// Who chose something with the keyboard goes on from there, once it is drawn anew.
function place() {
  const held = main.contains(document.activeElement) && document.activeElement;
  return () => {
    if (!held || held.isConnected || ![document.body, main].includes(document.activeElement)) return;
    (keyed(main, held.dataset.key || "") || main).focus({ preventScroll: true });
  };
}

function toTheDoor() { declared = null; show(); }

// A page that cannot even begin says why; who is no longer logged in meets the door.
function failed(problem, mine) {
  if (mine === shown && problem.status === 401) toTheDoor();
  else if (mine === shown) {
    main.replaceChildren(el("section", { class: "empty" }, el("h1", {}, "This page cannot be shown"), el("p", { class: "bad", role: "alert" }, problem.message),
      press("Try again", show)));
  }
  return () => {};
}

// Each page draws in a room of its own: one that was left before it was ready must not draw over the next. The room comes in with its
// first content, so that until then what was there stays.
function room(wanted, arrived) {
  const made = el("div");
  made.replaceChildren = (...content) => {
    HTMLElement.prototype.replaceChildren.apply(made, content);
    if (made.isConnected || !wanted()) return;
    main.replaceChildren(made);
    arrived();
  };
  return made;
}

// Who is logged in. On the machine itself nobody has to be, until something is to be done.
function greet() {
  const named = me.way === "session" || me.way === "proxy";
  const out = async () => { await send("/api/logout"); location.assign("/"); };
  const button = me.way === "session" ? press("Log out", out) : me.way === "share" ? press("Leave this link", out)
    : me.way === "proxy" ? null : press("Log in", () => { close(); shown += 1; loginPage(main, () => location.reload()); });
  replace(user, named ? el("span", { class: "aside" }, me.name === me.role ? me.name : `${me.name}, ${me.role}`) : null, button);
}

function routes() {
  const domains = declared.domains.filter((domain) => !me.share || domain.name === me.share.domain).map((domain) => [domain.name, {
    name: domain.name, label: domain.title, open: (main, state, go) => domainPage(main, state, domain, go, me),
  }]);
  // A link shows one page.
  if (me.share) return Object.fromEntries(domains);
  return {
    ...Object.fromEntries(domains),
    pipeline: { name: "pipeline", label: "Pipeline", open: pipelinePage },
    rejected: { name: "rejected", label: "Rejected", open: (main) => rejectedPage(main, declared.domains.flatMap((domain) => domain.sources), me) },
    rules: { name: "rules", label: "Rules", open: (main) => rulesPage(main, declared.domains) },
    releases: { name: "releases", label: "Releases", open: (main) => releasesPage(main, me) },
    audit: { name: "audit", label: "Audit", open: auditPage },
  };
}

function navigate(pages, current, state) {
  replace(nav, Object.values(pages).map((page) => el("a", {
    href: link({ ...state, page: page.name, measure: "", filters: [] }), "aria-current": page === current && "page",
  }, page.label)));
  // On a phone the pages stand in a row that is wider than the screen.
  nav.querySelector("[aria-current]")?.scrollIntoView({ inline: "nearest", block: "nearest" });
}

start();
