// How numbers and times are said.

const whole = new Intl.NumberFormat();
const short = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
const one = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const fixed = new Intl.NumberFormat(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 });

export function number(value, style = "count", exact = false) {
  if (value === null || value === undefined || Number.isNaN(Number(value))) return "–";
  const given = Number(value);
  if (style === "percent") return `${one.format(given * 100)} %`;
  // In a column of shares the points stand below each other.
  if (style === "share") return Number.isInteger(given) ? `${given * 100} %` : `${fixed.format(given * 100)} %`;
  if (style === "seconds") return duration(given);
  if (style === "milliseconds") return given >= 1000 ? `${one.format(given / 1000)} s` : `${whole.format(Math.round(given))} ms`;
  if (style === "decimal") return fixed.format(given);
  return exact || given < 10000 ? whole.format(Math.round(given)) : short.format(given);
}

function duration(seconds) {
  const given = Math.round(seconds);
  if (given < 60) return `${given} s`;
  if (given < 3600) return `${Math.floor(given / 60)} m ${String(given % 60).padStart(2, "0")} s`;
  return `${Math.floor(given / 3600)} h ${Math.round((given % 3600) / 60)} m`;
}

export function change(now, earlier) {
  if (!earlier || now === null || now === undefined) return null;
  return (now - earlier) / earlier;
}

export function moment(text, seconds = true) {
  if (!text) return "–";
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return "–";
  const today = at.toDateString() === new Date().toDateString();
  const clock = { hour: "numeric", minute: "2-digit", ...(seconds && { second: "2-digit" }) };
  return at.toLocaleString(undefined, today ? clock : { day: "numeric", month: "short", ...clock });
}

// The day alone, of what nobody needs to the minute.
export function day(text) { return new Date(text).toLocaleDateString(undefined, { day: "numeric", month: "short" }); }

// Whether the reader's own dates begin with the day, and whether their clocks have twelve hours.
const parts = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" }).formatToParts(new Date(0)).map((part) => part.type);
export const dayFirst = parts.indexOf("day") < parts.indexOf("month");
export const twelve = new Intl.DateTimeFormat(undefined, { hour: "numeric" }).resolvedOptions().hour12 === true;

export function ago(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 90) return `${one.format(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${one.format(seconds / 3600)} h`;
}

export function capital(text) { return text.charAt(0).toUpperCase() + text.slice(1); }

export function size(bytes) {
  const unit = Math.min(4, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${one.format(bytes / 1000 ** unit)} ${["B", "kB", "MB", "GB", "TB"][unit]}`;
}
