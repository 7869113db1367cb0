// A domain's page, made of its declaration: headlines, the chart, top lists, all of one range and one set of filters.

import { get, live, view } from "./api.js";
import { lines, state } from "./certificate.js";
import { chart, point, vega } from "./chart.js";
import { controls, filters } from "./controls.js";
import { csv, download, saved } from "./csv.js";
import { el, press, replace, tipped } from "./dom.js";
import { emptyLake, problem } from "./empty.js";
import { headlines } from "./headlines.js";
import { moment } from "./format.js";
import { panels } from "./lists.js";
import { marks, notes } from "./notes.js";
import { nowHere } from "./now.js";
import { reports } from "./reports.js";
import { sharing } from "./sharing.js";
import { before, buckets, fitting, link, open, range, span, withFilter, zone } from "./state.js";
import { onTheme } from "./theme.js";

// Epochs come a second or more apart. What comes closer is drawn together, and still within half a second.
const CALM = 300;
// A report takes several questions of the lake, some of them over weeks.
const REPORTS_CALM = 15_000;

export async function domainPage(main, state, domain, go, me) {
  const [said, scopes] = await Promise.all([get("/api/views"), me.share ? [me.share.scope] : scopesOf(domain, state.scope)]);
  const views = new Map(said.views.map((one) => [one.name, one]));
  if (!scopes.length) return emptyLake(main, domain, () => domainPage(main, state, domain, go, me));
  const scope = scopes.includes(state.scope) ? state.scope : scopes[0];
  const page = new Page(main, { ...state, scope, range: state.range || await opening(domain, scope) }, domain, views, scopes, go, me);
  await page.refresh();
  return page.follow();
}

// The scope's values (for the web: its sites), most seen first, over all of the lake's time; and the one that the address names, however
// seldom it is seen.
async function scopesOf(domain, named) {
  const always = { from: new Date(Date.now() - 400 * 86400e3), to: new Date(Date.now() + 86400e3), by: [domain.scope] };
  const values = ({ rows }) => rows.map((row) => row[domain.scope]);
  const most = values(await view(domain.live, { ...always, order: "-views", limit: 50 }));
  if (!named || most.includes(named)) return most;
  return [...most, ...values(await view(domain.live, { ...always, where: [{ key: domain.scope, value: named }] }))];
}

async function opening(domain, value) {
  const [from, to] = [new Date(Date.now() - 7 * 86400e3), new Date(Date.now() + 86400e3)];
  const said = await view(domain.live, { from, to, every: "1 hour", where: [{ key: domain.scope, value }], order: "bucket", limit: 1 });
  return fitting(said.rows.length ? new Date(said.rows[0].bucket) : from);
}

class Page {
  constructor(main, state, domain, views, scopes, go, me) {
    Object.assign(this, { main, state, domain, views, go, me, drawn: { finalize: () => {} }, running: false, again: false });
    this.measure = domain.headlines.find((one) => one.measure === state.measure) || domain.headlines[0];
    this.parts = Object.fromEntries(["now", "numbers", "chart", "lists", "reports"].map((name) => [name, el("div", { class: name })]));
    this.parts.chart.setAttribute("role", "img");
    this.bubble = el("div", { class: "bubble", hidden: true });
    document.title = `${this.state.scope} · ${domain.title} · Penstock`;
    this.ledger = el("div", { class: "chart-note" });
    replace(
      main,
      el("h1", { class: "unseen" }, `${domain.title}: ${this.state.scope}`),
      el("div", { class: "bar" }, controls(this.state, scopes, domain.scope, go), this.parts.now,
        me.role === "admin" && press("Share", () => sharing(domain.name, this.state.scope))),
      filters(this.state, go),
      el("section", { class: "card main-card", "aria-label": "Numbers and chart" }, this.parts.numbers, el("div", { class: "plot" }, this.parts.chart, this.bubble),
        el("footer", {}, this.ledger, el("span", { class: "exports" }, press("PNG", () => this.picture()), press("CSV", () => this.export())))),
      el("div", { class: "grid" }, this.parts.lists, this.parts.reports),
    );
  }

  where(name) {
    const keys = this.views.get(name)?.keys || [];
    return [{ key: this.domain.scope, value: this.state.scope }, ...this.state.filters].filter((one) => keys.includes(one.key));
  }

  // The first of the views that can be asked by most of the keys that are filtered on, and the keys that it has not.
  chosen(headline) {
    const missed = (name) => this.state.filters.map((one) => one.key).filter((key) => !this.views.get(name)?.keys.includes(key));
    const asked = headline.views.filter((name) => this.has(name, headline.measure)).sort((a, b) => missed(a).length - missed(b).length);
    const name = asked[0] || headline.views[0];
    return { name, missed: missed(name), doc: this.doc(name, headline.measure) };
  }

  has(name, measure) { return this.views.get(name)?.measures.some((one) => one.name === measure); }

  doc(name, measure) { return this.views.get(name)?.measures.find((one) => one.name === measure)?.doc; }

  async refresh() {
    if (this.running) { this.again = true; return; }
    this.running = true;
    try {
      this.at = span(this.state.range);
      // First what people came for: the server answers all questions at once, and each later for the others.
      await headlines(this);
      const drawn = await Promise.allSettled([nowHere(this), this.draw(), panels(this)]);
      this.report();
      const failed = drawn.find((one) => one.status === "rejected");
      if (failed) throw failed.reason;
    } catch (error) {
      problem(this.ledger, error);
    } finally {
      this.running = false;
    }
    if (this.again) { this.again = false; await this.refresh(); }
  }

  // Beside what is drawn at each change: it takes longer than a change may wait.
  report() {
    if (Date.now() - (this.reported || 0) < REPORTS_CALM) return;
    this.reported = Date.now();
    reports(this).catch((error) => problem(this.ledger, error));
  }

  async draw() {
    vega().catch(() => null);
    const { name } = this.chosen(this.measure);
    const { every } = range(this.state.range);
    const asked = { every, tz: zone, where: this.where(name), limit: 10000, order: "bucket" };
    const [now, earlier, noted] = await Promise.all([
      view(name, { ...this.at, ...asked }),
      this.state.compare ? view(name, { ...this.at.earlier, ...asked }) : null,
      this.me.share ? [] : notes(this.at),
    ]);
    this.rows = [...this.points(now.rows, earlier?.rows || [], every), ...noted];
    this.certificate = now.certificate;
    const drawn = await chart(this.parts.chart, this.domain.chart, this.rows, { style: this.measure.style, every }, (event, value) => this.point(event, value));
    this.drawn.finalize();
    this.drawn = drawn;
    this.parts.chart.setAttribute("aria-label", `${this.measure.label} over time; the same rows are in the CSV`);
    replace(this.ledger, `${this.measure.label} · ${range(this.state.range).said} · as of ${moment(now.certificate.as_of)}`, this.state.compare ? " · dashed: the period before" : "", " · ",
      tipped(el("span", { class: "about", "data-key": "certificate" }, now.certificate.final ? "final" : "○ still provisional"), () => lines(now.certificate, this.chosen(this.measure).doc)), marks(noted));
  }

  // Buckets without facts have no row. The earlier period is laid under this one, bucket by bucket.
  points(now, earlier, every) {
    const { measure, style } = this.measure;
    const known = new Map(now.map((row) => [new Date(row.bucket).getTime(), row]));
    const shown = buckets(this.state.range).map((at) => point(known.get(at.getTime()) || { bucket: at }, "now", measure, style, every));
    const old = new Map(earlier.map((row) => [new Date(row.bucket).getTime(), row]));
    const past = earlier.length ? buckets(this.state.range).map((at) => ({
      ...point(old.get(before(this.state.range, at).getTime()) || { bucket: at }, "earlier", measure, style, every), bucket: at,
    })) : [];
    // The last bucket is not over: its line is dotted, from the one before it.
    const last = open(this.state.range) ? shown.slice(-2).map((row) => ({ ...row, series: "open" })) : [];
    if (last.length) shown.at(-1).open = true;
    return [...past, ...shown, ...last].map((row) => ({ ...row, bucket: new Date(row.bucket).toISOString() }));
  }

  point(event, value) {
    this.bubble.hidden = !value;
    if (!value) return;
    // What was done to the lake is no number, and has no certificate.
    const sure = value.series === "now" ? `${state(this.certificate)} · as of ${moment(this.certificate.as_of)}` : "";
    replace(this.bubble, el("b", {}, value.shown || ""), el("span", {}, value.said || ""), sure && el("span", {}, sure));
    const box = this.bubble.parentElement.getBoundingClientRect();
    this.bubble.style.left = `${Math.min(event.clientX - box.left + 12, box.width - this.bubble.offsetWidth)}px`;
    this.bubble.style.top = `${event.clientY - box.top - this.bubble.offsetHeight - 6}px`;
  }

  filter(key, value) { this.go(link(withFilter(this.state, key, value))); }

  pick(measure) { this.go(link({ ...this.state, measure })); }

  // On the page's own ground, so that it can be read wherever it is pasted.
  async picture() { saved(`${this.name()}.png`, await this.drawn.view.toImageURL("png", 2)); }

  name() { return `${this.domain.name}-${this.measure.measure}-${this.state.range}`; }

  export() {
    const rows = this.rows.filter((row) => ["now", "earlier"].includes(row.series)).map(({ bucket, series, value }) => ({ bucket, series, [this.measure.measure]: value }));
    download(`${this.name()}.csv`, csv(rows));
  }

  follow() {
    let timer = 0;
    let drawn = 0;
    // At once after a calm moment; else when that is over. What time itself changes is not counted: it would keep news back.
    const wait = () => Math.max(0, CALM - (Date.now() - drawn));
    const soon = () => { timer ||= setTimeout(() => { timer = 0; drawn = Date.now(); this.refresh(); }, wait()); };
    // Whatever is filtered: another list may change where this filter's numbers do not.
    const hear = live([["view", this.domain.live], ["where", `${this.domain.scope}:eq:${this.state.scope}`]], soon);
    const themed = onTheme(() => this.draw());
    // Time goes on without facts too: "now" must fall to nought.
    const minute = setInterval(() => { if (!document.hidden) this.refresh(); }, 30_000);
    return () => { clearTimeout(timer); clearInterval(minute); hear(); themed(); this.drawn.finalize(); };
  }
}
