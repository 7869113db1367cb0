// What is looked at is in the address, so that a link shows the same to whom it is sent.

export const RANGES = {
  live: { label: "Last 30 minutes", every: "1 minute" },
  today: { label: "Today", every: "1 hour" },
  "24h": { label: "Last 24 hours", every: "1 hour" },
  "7d": { label: "Last 7 days", every: "1 hour" },
  "30d": { label: "Last 30 days", every: "1 day" },
  "90d": { label: "Last 90 days", every: "1 day" },
  "12mo": { label: "Last 12 months", every: "1 month" },
};

export const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

export function read() {
  const told = new URLSearchParams(location.search);
  return {
    page: told.get("page") || "",
    scope: told.get("scope") || "",
    range: isRange(told.get("range")) ? told.get("range") : "",
    measure: told.get("measure") || "",
    compare: told.get("compare") !== "no",
    filters: told.getAll("f").map((text) => {
      const at = text.indexOf(":");
      return { key: text.slice(0, at), value: text.slice(at + 1) };
    }),
  };
}

export function link(state) {
  const told = new URLSearchParams();
  for (const name of ["page", "scope", "measure", "range"]) if (state[name]) told.set(name, state[name]);
  if (!state.compare) told.set("compare", "no");
  for (const filter of state.filters) told.append("f", `${filter.key}:${filter.value}`);
  const text = told.toString();
  return text ? `/?${text}` : "/";
}

export function withFilter(state, key, value) {
  const others = state.filters.filter((filter) => filter.key !== key);
  return { ...state, filters: value === null ? others : [...others, { key, value }] };
}

const LONGEST = 800 * 86400e3;
const CHOSEN = /^(\d{4})-(\d\d)-(\d\d)\.\.(\d{4})-(\d\d)-(\d\d)$/;

// A range by its name, or any days as 2026-03-01..2026-03-31, both included; `said` is for the middle of a sentence.
export function range(name) {
  const own = chosen(name);
  if (!own) return { ...RANGES[name], said: RANGES[name].label.toLowerCase() };
  const label = `${day(own.from)} to ${day(own.last)}`;
  return { label, said: label, every: own.to - own.from > 8 * 86400e3 ? "1 day" : "1 hour" };
}

// What to open on when nobody chose: a week, or less where the first fact is younger than that.
export function fitting(first, now = new Date()) {
  return now - first < 3600e3 ? "live" : now - first < 86400e3 ? "24h" : "7d";
}

export function isRange(name) { return Object.hasOwn(RANGES, name ?? "") || chosen(name) !== null; }

export function days(from, to) { return from && to ? `${from < to ? from : to}..${from < to ? to : from}` : ""; }

function chosen(name) {
  const [, ...said] = CHOSEN.exec(name) || [];
  if (!said.length) return null;
  const [year, month, date, toYear, toMonth, toDate] = said.map(Number);
  const from = new Date(year, month - 1, date);
  const to = new Date(toYear, toMonth - 1, toDate + 1);
  const possible = to > from && from < Date.now() && to - from < LONGEST;
  return possible ? { from, to, last: new Date(toYear, toMonth - 1, toDate) } : null;
}

function day(at) { return at.toLocaleDateString(undefined, { day: "numeric", month: "short", year: "numeric" }); }

// The range's buckets as instants, first to last, in the reader's own days and months. Hours are those of UTC, as the server's are: where
// clocks are half an hour apart from it, the first one began before the range.
export function buckets(name, now = new Date()) {
  const { from, to } = span(name, now);
  const { every } = range(name);
  const step = { "1 minute": 60e3, "1 hour": 3600e3 }[every];
  const found = [];
  for (let at = step ? new Date(Math.floor(from / step) * step) : from; at < to; at = next(at, step, every)) found.push(at);
  return found;
}

// The same instant one period earlier, in the reader's own days: a bucket of this period lies over one of that.
export function before(name, at) {
  const own = chosen(name);
  const long = own && Math.round((own.to - own.from) / 86400e3);
  const [months, days, minutes] = { live: [0, 0, 30], today: [0, 1, 0], "24h": [0, 1, 0], "7d": [0, 7, 0], "30d": [0, 30, 0], "90d": [0, 90, 0], "12mo": [12, 0, 0] }[name] || [0, long, 0];
  return new Date(at.getFullYear(), at.getMonth() - months, at.getDate() - days, at.getHours(), at.getMinutes() - minutes, at.getSeconds());
}

// From the first bucket to this minute's end, or to the end of the days that were chosen; the earlier period is as long.
export function span(name, now = new Date()) {
  const own = chosen(name);
  const minute = new Date(Math.ceil((now.getTime() + 1) / 60e3) * 60e3);
  const from = own ? own.from : first(name, now);
  const to = own && own.to < minute ? own.to : minute;
  return { from, to, earlier: { from: before(name, from), to: before(name, to) } };
}

// Whether the last bucket of the range is still going on.
export function open(name, now = new Date()) { return span(name, now).to > now; }

function first(name, now) {
  const day = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  if (name === "live") return new Date(Math.floor(now / 60e3) * 60e3 - 29 * 60e3);
  if (name === "24h") return new Date(Math.floor(now / 3600e3) * 3600e3 - 23 * 3600e3);
  if (name === "12mo") return new Date(now.getFullYear(), now.getMonth() - 11, 1);
  const days = { today: 0, "7d": 6, "30d": 29, "90d": 89 }[name];
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() - days);
}

function next(at, step, every) {
  if (step) return new Date(at.getTime() + step);
  if (every === "1 month") return new Date(at.getFullYear(), at.getMonth() + 1, 1);
  return new Date(at.getFullYear(), at.getMonth(), at.getDate() + 1);
}
