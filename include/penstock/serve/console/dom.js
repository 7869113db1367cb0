// Elements are made here and only here. Text becomes text nodes: event data never become markup.

export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) set(element, name, value);
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

function set(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
  else if (name === "width") element.style.width = value;
  else element.setAttribute(name, value === true ? "" : String(value));
}

// What is drawn anew leaves the reader where they were: the focus on what had it, tables scrolled as they were.
export function replace(parent, ...children) {
  const [focus, scroll] = [focused(parent), scrolled(parent)];
  parent.replaceChildren(...children.flat(Infinity).filter(Boolean));
  focus();
  scroll();
  if (pointed && !pointed.isConnected) setTimeout(() => { if (!pointed?.isConnected) untip(); }, REAPPEARS);
}

const FOCUSABLE = "a[href], button, select, input, summary, [tabindex]";

// Puts the focus back: by the key of what had it, else on the same thing in the same place.
function focused(parent) {
  const held = document.activeElement;
  if (held === parent || !parent.contains(held)) return () => {};
  const place = [...parent.querySelectorAll(FOCUSABLE)].indexOf(held);
  const same = (one) => one?.tagName === held.tagName && one.className === held.className;
  return () => {
    const there = parent.querySelectorAll(FOCUSABLE)[place];
    (held.dataset.key ? keyed(parent, held.dataset.key) : same(there) && there)?.focus?.({ preventScroll: true });
  };
}

export function keyed(parent, key) { return parent.querySelector(`[data-key="${CSS.escape(key)}"]`); }

function scrolled(parent) {
  const places = [...parent.querySelectorAll(".scroll")].map((one) => one.scrollLeft);
  return () => { if (places.some(Boolean)) parent.querySelectorAll(".scroll").forEach((one, at) => { one.scrollLeft = places[at] || 0; }); };
}

export function press(label, onclick, attributes = {}) {
  return el("button", { type: "button", class: "quiet", onclick, ...attributes }, label);
}

const tip = document.getElementById("tip");
// What is drawn anew under the mouse is pointed at again within this time.
const REAPPEARS = 300;
let pointed = null;

function untip() { tip.hidden = true; pointed = null; }
function leave(element) { if (pointed === element) untip(); }
addEventListener("scroll", untip, { passive: true, capture: true });

// A tip for the mouse alone, of what the keyboard is told beside it; `lines` is asked for when it is shown, so that it is never stale.
export function hinted(element, lines) {
  const show = () => {
    tip.replaceChildren(...lines().map((line) => el("span", {}, line)));
    tip.hidden = false;
    pointed = element;
    const place = element.getBoundingClientRect();
    const left = Math.min(Math.max(8, place.left), innerWidth - tip.offsetWidth - 8);
    const below = place.bottom + 8 + tip.offsetHeight < innerHeight;
    tip.style.left = `${left}px`;
    tip.style.top = `${below ? place.bottom + 8 : place.top - tip.offsetHeight - 8}px`;
  };
  element.addEventListener("mouseenter", show);
  element.addEventListener("mouseleave", () => leave(element));
  return show;
}

// A tip for the mouse, the finger and the keyboard.
export function tipped(element, lines) {
  const show = hinted(element, lines);
  element.setAttribute("aria-describedby", "tip");
  if (element.tabIndex < 0) element.tabIndex = 0;
  // Of who pressed with the mouse and went on, nothing is pointed at any more.
  element.addEventListener("focus", () => { if (element.matches(":focus-visible")) show(); });
  element.addEventListener("blur", () => leave(element));
  element.addEventListener("keydown", (event) => { if (event.key === "Escape") untip(); });
  return element;
}
