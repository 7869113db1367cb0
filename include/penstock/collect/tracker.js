/* <script defer src="https://collector/tracker.js" data-site="a.example" data-key="…"></script>
   No cookie. Do Not Track, Global Privacy Control and data-consent="no" are obeyed.
   penstock("name", {props}) sends an event of your own. */
(function (w, d, n) {
  var s = d.currentScript, o = s.dataset, q = "penstock.queue", v = "penstock.visitor", H = history;
  if (n.doNotTrack == 1 || n.globalPrivacyControl || o.consent == "no") return w.penstock = function () {};
  var to = (o.to || new URL(s.src).origin) + "/v1/" + (o.source || "web.events") + (o.key ? "?key=" + o.key : "");
  var busy, page, since, engaged, deep, wait = 1e3, L = store("localStorage"), S = store("sessionStorage");
  function store(a) { try { return w[a]; } catch (e) { return {}; } }
  function id() { return crypto.randomUUID ? crypto.randomUUID() : Date.now() + "-" + Math.random() + Math.random(); }
  function get() { try { return JSON.parse(L[q] || "[]"); } catch (e) { return []; } }
  function put(a) { try { L[q] = JSON.stringify(a.slice(-200)); } catch (e) {} }
  /* A visitor lasts as long as the tab, unless there is consent to remember. */
  function who() { var t = o.consent == "yes" ? L : S; return t[v] || (t[v] = id()); }
  function make(type, more) {
    return Object.assign({
      event_id: id(), type: type, happened_at: Date.now(), site: o.site || location.hostname, visitor: who(), url: page,
      referrer: d.referrer || undefined, title: d.title, language: n.language, screen: screen.width + "x" + screen.height
    }, more);
  }
  function add(e) { put(get().concat(e)); flush(); }
  /* Sent again with the same ids until answered, so the log counts each once. */
  function flush() {
    var a = get().slice(0, 50);
    if (busy || !a[0] || n.onLine === false) return;
    busy = 1;
    fetch(to, { method: "POST", body: JSON.stringify(a), keepalive: true }).then(function (r) {
      if (r.status > 499 || r.status == 429) throw r;
      var ids = a.map(function (e) { return e.event_id; });
      put(get().filter(function (e) { return ids.indexOf(e.event_id) < 0; }));
      wait = 1e3; busy = 0; flush();
    }).catch(function () { busy = 0; setTimeout(flush, wait = Math.min(wait * 2, 6e4)); });
  }
  function tick() { if (since) engaged += Date.now() - since; since = d.hidden ? 0 : Date.now(); }
  function scrolled() { deep = Math.max(deep, Math.min(100, Math.round((w.scrollY + w.innerHeight) / d.documentElement.scrollHeight * 100))); }
  /* One beacon, which outlives the page; what a beacon cannot take waits in the queue. */
  function leave() {
    tick(); since = 0;
    if (!engaged) return;
    var e = make("engagement", { engaged_ms: engaged, scroll_pct: deep });
    engaged = 0;
    if (n.onLine === false || !n.sendBeacon(to, JSON.stringify(e))) put(get().concat(e));
  }
  function view() {
    if (page == location.href) return;
    if (page) leave();
    page = location.href; engaged = deep = 0; since = d.hidden ? 0 : Date.now(); scrolled();
    var t = performance.timing, l = t.loadEventStart - t.navigationStart;
    add(make("pageview", l > 0 ? { load_ms: l } : {}));
  }
  function on(t, name, f) { t.addEventListener(name, f, true); }
  ["pushState", "replaceState"].forEach(function (f) {
    var was = H[f];
    H[f] = function () { was.apply(H, arguments); setTimeout(view); };
  });
  on(w, "popstate", view); on(w, "hashchange", view); on(w, "online", flush); on(w, "scroll", scrolled); on(w, "pagehide", leave);
  on(w, "pageshow", function (e) { if (e.persisted) { page = 0; view(); } });
  on(d, "visibilitychange", function () { if (d.hidden) leave(); else { tick(); flush(); } });
  on(d, "click", function (e) {
    var a = e.target.closest("a[href]");
    if (a && a.host && a.host != location.host) w.penstock("outbound", { url: a.href });
  });
  w.penstock = function (name, props) { add(make("event", { name: name, props: props })); };
  d.readyState == "complete" ? view() : on(w, "load", function () { setTimeout(view); });
})(window, document, navigator);
