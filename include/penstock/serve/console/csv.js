// Rows as CSV. A spreadsheet must never run what a visitor sent, so a leading = + - @ | (wide ones too), tab or line break is
// quoted away; penstock query does the same.

export function csv(rows) {
  if (!rows.length) return "";
  const names = Object.keys(rows[0]);
  return [names, ...rows.map((row) => names.map((name) => row[name]))].map((cells) => cells.map(cell).join(",")).join("\r\n");
}

export function cell(value) {
  if (typeof value === "number") return String(value);
  const text = value === null || value === undefined ? "" : String(value);
  const guarded = /^\s*[=+\-@|\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/.test(text) ? `'${text}` : text;
  return `"${guarded.replaceAll('"', '""')}"`;
}

export function download(name, text) {
  const address = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" }));
  saved(name, address);
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

export function saved(name, address) {
  const anchor = document.createElement("a");
  anchor.href = address;
  anchor.download = name;
  anchor.click();
}
