// Light and dark: as the system says, until the reader says otherwise. The chart's colours are the style sheet's.

const button = document.getElementById("theme");
const dark = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set();

export function startTheme() {
  apply(localStorage.getItem("theme") || "");
  button.addEventListener("click", () => apply(isDark() ? "light" : "dark"));
  dark.addEventListener("change", () => apply(localStorage.getItem("theme") || ""));
}

export function onTheme(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : dark.matches;
}

function apply(name) {
  if (name) {
    document.documentElement.dataset.theme = name;
    localStorage.setItem("theme", name);
  }
  button.textContent = isDark() ? "☀" : "☾";
  for (const listener of listeners) listener();
}

export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
