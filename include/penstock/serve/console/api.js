// Asks the read API, and listens to it. A lost connection is said, and tried again until it heals.

const listeners = new Set();
let unknown = () => {};
const asking = [];
// So many the server takes in one request.
const MOST = 20;
let healthy = true;

export function onHealth(listener) { listeners.add(listener); }

// Who may no longer read: a session that ended, a link that was revoked.
export function onUnknown(listener) { unknown = listener; }

function health(now) {
  if (now === healthy) return;
  healthy = now;
  for (const listener of listeners) listener(healthy);
}

export class Problem extends Error {
  constructor(said, status = said.status) {
    super(said.detail || said.title || `the server answered ${status}`);
    this.status = status;
    this.title = said.detail ? said.title : "";
    this.allowed = said.allowed || [];
  }
}

export async function get(path, parameters = []) {
  const query = new URLSearchParams(parameters).toString();
  let answer;
  try {
    answer = await fetch(query ? `${path}?${query}` : path, { headers: { Accept: "application/json" } });
  } catch (error) {
    health(false);
    throw new Problem({ detail: "The server cannot be reached." }, 0);
  }
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Problem(body, answer.status);
  health(true);
  return body;
}

// What changes something. The server looks at where the page is from, and at who is logged in.
export async function send(path, told = {}, method = "POST") {
  const answer = await fetch(path, { method, headers: { "Content-Type": "application/json" }, body: method === "POST" ? JSON.stringify(told) : undefined });
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Problem(body, answer.status);
  return body;
}

export function view(name, { from, to, every, by = [], where = [], order, limit, tz }) {
  const told = [["from", from.toISOString()], ["to", to.toISOString()]];
  if (every) told.push(["every", every]);
  if (tz) told.push(["tz", tz]);
  if (by.length) told.push(["by", by.join(",")]);
  for (const { key, value } of where) told.push(["where", `${key}:eq:${value}`]);
  if (order) told.push(["order", order]);
  if (limit) told.push(["limit", limit]);
  return new Promise((resolve, reject) => {
    if (!asking.length) queueMicrotask(() => { while (asking.length) ask(asking.splice(0, MOST)); });
    asking.push({ name, told, resolve, reject });
  });
}

// What is asked in one turn goes in one request: a request costs the server ten times what an answer that it holds does.
async function ask(asked) {
  try {
    const { answers } = await get("/api/answers", asked.map(({ name, told }) => ["ask", `${name}?${new URLSearchParams(told)}`]));
    asked.forEach(({ resolve, reject }, at) => (answers[at].problem ? reject(new Problem(answers[at].problem)) : resolve(answers[at])));
  } catch (error) {
    for (const { reject } of asked) reject(error);
  }
}

// Looks again in so many milliseconds; a hidden tab once it is seen. Gives what keeps it from looking.
export function later(look, delay) {
  const due = () => {
    stop();
    if (document.hidden) document.addEventListener("visibilitychange", due); else look();
  };
  const timer = setTimeout(due, delay);
  const stop = () => { clearTimeout(timer); document.removeEventListener("visibilitychange", due); };
  return stop;
}

// Calls `changed` with what the one socket of a page tells, and when the tab is seen again, until the returned function is called. A hidden
// tab hears nothing.
export function live(asked, changed) {
  let socket = null;
  let retry = 0;
  let timer = 0;
  let closed = false;

  const again = () => {
    if (closed || document.hidden) return;
    health(false);
    retry = Math.min(retry + 1, 6);
    timer = setTimeout(open, 250 * 2 ** retry * (0.5 + Math.random()));
  };

  let asking = false;
  const open = async () => {
    clearTimeout(timer);
    if (closed || document.hidden || socket || asking) return;
    asking = true;
    // A ticket is for one socket, so that no other page can open one in our name.
    const given = await send("/api/ticket").catch((problem) => problem);
    asking = false;
    if (closed || document.hidden) return;
    if (given.status === 401) { unknown(); return; }
    if (!given.ticket) { again(); return; }
    const address = new URL("/api/live", location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    address.search = new URLSearchParams([...asked, ["ticket", given.ticket]]);
    const opened = new WebSocket(address);
    socket = opened;
    opened.onopen = () => { retry = 0; health(true); };
    opened.onmessage = (event) => changed(JSON.parse(event.data));
    opened.onclose = () => {
      if (socket !== opened) return;
      socket = null;
      again();
    };
  };
  const drop = () => { const open = socket; socket = null; open?.close(); };
  const seen = () => { if (document.hidden) { drop(); return; } open(); changed(); };

  document.addEventListener("visibilitychange", seen);
  open();
  return () => { closed = true; clearTimeout(timer); drop(); document.removeEventListener("visibilitychange", seen); };
}
