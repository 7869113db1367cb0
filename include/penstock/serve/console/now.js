// Who is here now: different visitors of the last five minutes.

import { view } from "./api.js";
import { lines } from "./certificate.js";
import { el, replace, tipped } from "./dom.js";
import { number } from "./format.js";

const MINUTES = 5;

export async function nowHere(page) {
  const to = new Date(Date.now() + 60e3);
  const from = new Date(Math.floor(Date.now() / 60e3) * 60e3 - (MINUTES - 1) * 60e3);
  const said = await view(page.domain.live, { from, to, where: page.where(page.domain.live) });
  const visitors = said.rows[0]?.visitors || 0;
  const badge = el("span", { class: `here ${visitors ? "beating" : ""}` },
    el("span", { class: "dot", "aria-hidden": "true" }), el("b", {}, number(visitors)), ` visitor${visitors === 1 ? "" : "s"} now`);
  replace(page.parts.now, tipped(badge, () => lines(said.certificate, `Different visitors of the last ${MINUTES} minutes.`)));
}
