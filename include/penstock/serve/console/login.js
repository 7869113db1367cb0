// The door: a name and a password, which the home keeps.

import { send } from "./api.js";
import { el, replace } from "./dom.js";

export function loginPage(main, opened) {
  const said = el("p", { class: "bad", role: "alert" });
  const name = field("Name", { name: "user", autocomplete: "username" });
  const password = field("Password", { name: "password", type: "password", autocomplete: "current-password" });
  const enter = async (event) => {
    event.preventDefault();
    try {
      await send("/api/login", Object.fromEntries(new FormData(event.target)));
      opened();
    } catch (problem) {
      replace(said, problem.message);
    }
  };
  document.title = "Log in · Penstock";
  replace(main, el("section", { class: "card door", "aria-label": "Log in" }, el("h1", {}, "Log in"),
    el("form", { onsubmit: enter }, name, password, said, el("button", { class: "strong" }, "Log in")),
    el("p", { class: "aside" }, "Users are analyst (reads), oncall (acts) and admin (settles); their passwords are in passwords.json of Penstock’s home.")));
  name.querySelector("input").focus();
}

function field(label, attributes) {
  return el("label", {}, el("span", {}, label), el("input", { required: true, ...attributes }));
}
