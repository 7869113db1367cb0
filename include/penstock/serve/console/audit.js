// Who changed what, when and why, and who approved it: written once, for ever.

import { get } from "./api.js";
import { el, replace } from "./dom.js";
import { problem } from "./empty.js";
import { whenDone } from "./notes.js";
import { history } from "./releases.js";

export async function auditPage(main) {
  const card = el("section", { class: "card", "aria-label": "Audit" });
  replace(main, el("h1", {}, "Audit"), el("p", { class: "aside" }, "Everything that people did to releases, facts and restore points: by form, by command, by rewind. What is here also marks the charts."), card);
  const show = async () => {
    try {
      replace(card, history((await get("/api/audit")).entries));
    } catch (error) {
      problem(card, error);
    }
  };
  await show();
  return whenDone(show);
}
