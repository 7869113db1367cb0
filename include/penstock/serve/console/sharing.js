// Links by which anybody may read one page, until they are revoked.

import { get, send } from "./api.js";
import { closing, opened } from "./dialog.js";
import { el, press, replace } from "./dom.js";
import { problem } from "./empty.js";
import { moment } from "./format.js";
import { table } from "./table.js";

export async function sharing(domain, scope) {
  const list = el("div", { class: "scroll" });
  const made = el("div", { role: "status" });
  const draw = () => drawn(list).catch((error) => problem(list, error));
  const make = async () => {
    try {
      const { path } = await send("/api/shares", { domain, scope });
      replace(made, "Anybody with this link may read; it is shown only now: ", el("code", {}, new URL(path, location.href).href));
    } catch (refused) {
      problem(made, refused);
    }
    await draw();
  };
  opened(`Share ${scope}`,
    el("p", { class: "aside" }, "A link shows the numbers of this page and nothing else: no visitor, no record, no other site."),
    made, list, el("p", { class: "row-of-buttons" }, el("button", { type: "button", class: "strong", onclick: make }, "Make a link"), closing()));
  await draw();
}

async function drawn(list) {
  const { shares } = await get("/api/shares");
  const revoke = async (id) => {
    try {
      await send(`/api/shares/${id}`, {}, "DELETE");
      await drawn(list);
    } catch (refused) {
      problem(list, refused);
    }
  };
  replace(list, shares.length ? table(["Link", "Shows", "Made by", "At", ""], shares.map((one) => [
    one.id, `${one.domain}: ${one.scope}`, one.by, moment(one.made_at, false), press("Revoke", () => revoke(one.id), { "aria-label": `Revoke ${one.id}` }),
  ])) : el("p", { class: "aside" }, "There is no link yet."));
}
