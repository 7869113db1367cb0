// Links by which anybody may read one page, until they are revoked.

import { get, send } from "./api.js";
import { el, replace } from "./dom.js";
import { moment } from "./format.js";
import { table } from "./table.js";

export async function sharing(domain, scope) {
  const list = el("div", { class: "scroll" });
  const made = el("p", { role: "status" });
  const make = async () => {
    const { path } = await send("/api/shares", { domain, scope });
    const link = new URL(path, location.href).href;
    replace(made, "Anybody with this link may read; it is shown only now: ", el("code", {}, link));
    await draw(list);
  };
  const dialog = el("dialog", { class: "card", "aria-label": "Links to share" }, el("h2", {}, `Share ${scope}`),
    el("p", { class: "aside" }, "A link shows the numbers of this page and nothing else: no visitor, no record, no other site."),
    el("button", { type: "button", class: "strong", onclick: make }, "Make a link"), made, list,
    el("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Close"));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  await draw(list);
  dialog.showModal();
}

async function draw(list) {
  const { shares } = await get("/api/shares");
  const revoke = async (id) => { await send(`/api/shares/${id}`, {}, "DELETE"); await draw(list); };
  replace(list, shares.length ? table(["Link", "Shows", "Made by", "At", ""], shares.map((one) => [
    one.id, `${one.domain}: ${one.scope}`, one.by, moment(one.made_at, false), el("button", { type: "button", class: "quiet", onclick: () => revoke(one.id) }, "Revoke"),
  ])) : el("p", { class: "aside" }, "There is no link yet."));
}
