// Elements are made here and only here. Text becomes text nodes: event data never become markup.

export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) set(element, name, value);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

function set(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
  else if (name === "width") element.style.width = value;
  else element.setAttribute(name, value === true ? "" : String(value));
}

export function replace(parent, ...children) {
  parent.replaceChildren(...children.flat().filter(Boolean));
}

const tip = document.getElementById("tip");

// A tip for the mouse and for the keyboard; `lines` is asked for when it is shown, so that it is never stale.
export function tipped(element, lines) {
  const show = () => {
    replace(tip, lines().map((line) => el("span", {}, line)));
    tip.hidden = false;
    const place = element.getBoundingClientRect();
    const left = Math.min(Math.max(8, place.left), innerWidth - tip.offsetWidth - 8);
    const below = place.bottom + 8 + tip.offsetHeight < innerHeight;
    tip.style.left = `${left}px`;
    tip.style.top = `${below ? place.bottom + 8 : place.top - tip.offsetHeight - 8}px`;
  };
  const hide = () => { tip.hidden = true; };
  element.setAttribute("aria-describedby", "tip");
  if (element.tabIndex < 0) element.tabIndex = 0;
  for (const name of ["mouseenter", "focus"]) element.addEventListener(name, show);
  for (const name of ["mouseleave", "blur"]) element.addEventListener(name, hide);
  element.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  return element;
}
