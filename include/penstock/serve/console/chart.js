// The main chart: the domain's Vega-Lite specification, our colours, no code made from text (strict CSP).

import { dayFirst, moment, number, twelve } from "./format.js";
import { colour } from "./theme.js";

let library = null;

// The library is loaded once, after the numbers are on the screen and while the chart's rows are asked for.
export function vega() {
  library ||= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.type = "module";
    script.src = "/vendor/vega.js";
    script.onload = () => resolve(window.vegaEmbed);
    script.onerror = () => { library = null; reject(new Error("the chart library did not load")); };
    document.head.append(script);
  });
  return library;
}

const AXIS = "indexof(['percent'], style) >= 0 ? format(datum.value, '.0%') : datum.value >= 10000 ? format(datum.value, '.2~s') : format(datum.value, ',~r')";

// Dates as the reader says them, and the clock only within a day.
const DAY = `timeFormat(datum.value, '${dayFirst ? "%-d %b" : "%b %-d"}')`;
const TIMES = {
  "1 minute": `timeFormat(datum.value, '${twelve ? "%-I:%M %p" : "%H:%M"}')`,
  "1 hour": `hours(datum.value) ? timeFormat(datum.value, '${twelve ? "%-I %p" : "%H:%M"}') : ${DAY}`,
  "1 day": DAY,
  "1 month": "timeFormat(datum.value, '%b %Y')",
};

export async function chart(element, specification, rows, { style, every }, bubble) {
  const embed = await vega();
  const spec = structuredClone(specification);
  spec.data = { name: "rows", values: rows.filter((row) => row.value !== null) };
  spec.datasets = undefined;
  spec.params = [{ name: "style", value: style }];
  labelled(spec, every, rows);
  return embed(element, spec, {
    actions: false, ast: true, defaultStyle: false, renderer: "svg", config: theme(),
    tooltip: (_, event, item, value) => bubble(event, value),
  });
}

// Some days are marked evenly; more of them by week or month, as the library does.
const FEW = 28;
const MARKS = 7;

function marks(rows, every) {
  const at = rows.filter((row) => row.series === "now").map((row) => new Date(row.bucket));
  if (every !== "1 day" || at.length > FEW) return undefined;
  return at.filter((_, number) => number % Math.ceil(at.length / MARKS) === 0).map(declared);
}

// A moment as a specification says it.
function declared(at) {
  return { year: at.getFullYear(), month: at.getMonth() + 1, date: at.getDate(), hours: at.getHours(), minutes: at.getMinutes(), seconds: at.getSeconds() };
}

function labelled(spec, every, rows) {
  const times = rows.map((row) => new Date(row.bucket).getTime());
  const ends = [Math.min(...times), Math.max(...times)].map((time) => declared(new Date(time)));
  // Nothing but noughts would be a line through the middle: it lies on the ground.
  const flat = rows.every((row) => !row.value);
  for (const { encoding } of spec.layer || [spec]) {
    if (encoding?.y?.axis) Object.assign(encoding.y.axis, { labelExpr: AXIS, values: flat ? [0] : undefined });
    if (encoding?.y && flat) encoding.y.scale = { domain: [0, 1] };
    if (encoding?.x) encoding.x.scale = { domain: ends };
    if (encoding?.x?.axis) Object.assign(encoding.x.axis, { labelExpr: TIMES[every], values: marks(rows, every) });
  }
}

// Where nothing was counted a count is nought; of a share or a mean there is none, and the line goes on to the next.
export function point(row, series, measure, style, every) {
  const nothing = style === "count" ? 0 : null;
  const value = row[measure] === null || row[measure] === undefined ? nothing : Number(row[measure]);
  return { bucket: row.bucket, value, series, said: said(row.bucket, every), shown: number(value, style, true) };
}

function said(bucket, every) {
  const at = new Date(bucket);
  if (every === "1 month") return at.toLocaleString(undefined, { month: "long", year: "numeric" });
  if (every === "1 day") return at.toLocaleString(undefined, { weekday: "long", day: "numeric", month: "short" });
  return moment(at, false);
}

function theme() {
  const [ink, line, accent] = [colour("ink-soft"), colour("line"), colour("accent")];
  const label = { labelColor: ink, labelFont: "system-ui, sans-serif", labelFontSize: 12, labelPadding: 6, tickColor: line };
  return {
    background: colour("card"),
    font: "system-ui, sans-serif",
    view: { stroke: null },
    axis: { ...label, domain: false, ticks: false, gridColor: line },
    axisX: { domain: true, domainColor: line },
    area: { color: accent },
    line: { color: accent },
    rule: { color: ink },
    point: { color: accent, filled: true },
  };
}
