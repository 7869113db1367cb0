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
    replace(body, el("div", { class: "scroll" }, table(["Domain", "Current release", "View", "Built"], said.releases.flatMap(listed))));
  } catch (error) {
    problem(body, error);
  }
  return () => {};
}

function listed(release) {
  return Object.entries(release.published).map(([view, built]) => [
    release.domain, release.release, view, built ? moment(built.built_at) : "not yet: every number of it is provisional",
  ]);
}
