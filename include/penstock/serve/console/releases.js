// Which release of each domain is current, and the others that there are.

import { get } from "./api.js";
import { el, replace } from "./dom.js";
import { problem } from "./empty.js";
import { moment } from "./format.js";
import { table } from "./pipeline.js";

export async function releasesPage(main) {
  const body = el("section", { class: "card", "aria-label": "Releases" });
  replace(main, el("h1", {}, "Releases"), el("p", { class: "aside" }, "A release is one version of a domain's silver and gold: code and tables. One pointer says which is current."), body);
  try {
    const said = await get("/api/releases");
    const rows = said.releases || said.rows || said;
    const listed = Array.isArray(rows) ? rows : Object.entries(rows).map(([domain, release]) => ({ domain, release }));
    replace(body, listed.length
      ? el("div", { class: "scroll" }, table(["Domain", "Current release", "Since"], listed.map((row) => [row.domain, row.release || row.current, moment(row.at || row.switched_at)])))
      : el("p", { class: "nothing" }, "Every domain is at its first release."));
  } catch (error) {
    problem(body, error);
  }
  return () => {};
}
