// Dialogs: what is said and done there stands over the page, which waits, until it is closed.

import { el, press } from "./dom.js";

export function opened(title, ...parts) {
  const dialog = el("dialog", { class: "card", "aria-label": title }, el("h2", {}, title), ...parts);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

export function closing() { return press("Close", (event) => event.target.closest("dialog").close()); }
