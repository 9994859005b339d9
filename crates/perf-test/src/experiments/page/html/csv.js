// Each table as CSV: the rows that the filters leave, also those that a long table does not show yet.

function cellText(cell) {
  return [...cell.childNodes].map((node) => node.textContent.trim()).filter((text) => text).join(" ");
}

// A text that a spreadsheet would read as a formula begins with an apostrophe.
function csvField(text) {
  const isFormula = /^[=+@\t]/.test(text) || (text.startsWith("-") && text !== "-" && Number.isNaN(Number(text)));
  const plain = isFormula ? `'${text}` : text;
  return /[",\n\r]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

function csvOf(table) {
  const rows = [...table.rows].filter((row) => !row.isOut);
  const cells = table.id === "table" ? mainRows(rows) : rows.map((row) => [...row.cells].map(cellText));
  return `${cells.map((row) => row.map(csvField).join(",")).join("\r\n")}\r\n`;
}

// The main table has the figures as numbers with their intervals, for programs.
function mainRows(rows) {
  const conditions = ["middleware and settings", "experiment", "message", "message_bytes", "rate_hz", "runs"];
  const figures = DATA.metrics.flatMap(({ name, unit }) => ["median", "low", "high"].map((end) => `${name} ${end}${unit ? `, ${unit}` : ""}`));
  const row = (shown) => {
    const group = DATA.groups[shown.dataset.group];
    if (!group) return [...shown.cells].map(cellText);
    const values = group.values.flatMap((value) => (value ? [value.median, value.low, value.high] : ["", "", ""]));
    return [cellText(shown.cells[0]), group.experiment, group.message, group.bytes, group.rate_hz, group.runs, ...values].map(String);
  };
  return [[...conditions, ...figures], ...rows.slice(1).map(row)];
}

function nameOf(region) {
  const label = document.getElementById(region.getAttribute("aria-labelledby"))?.textContent;
  return (label ?? region.getAttribute("aria-label") ?? "table").replace(/[^\w.-]+/g, "-").toLowerCase();
}

function download(name, content) {
  const address = URL.createObjectURL(new Blob([content], { type: "text/csv" }));
  Object.assign(document.createElement("a"), { href: address, download: `${name}.csv` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

// Adds a button above each table of a part of the page.
function addDownloads(part) {
  for (const region of part.querySelectorAll(".scroll")) {
    const table = region.querySelector(":scope > table");
    if (!table || region.previousElementSibling?.classList.contains("csv")) continue;
    const button = Object.assign(document.createElement("button"), { type: "button", className: "csv", textContent: "CSV" });
    button.setAttribute("aria-label", `Download ${nameOf(region)} as CSV`);
    button.addEventListener("click", () => download(nameOf(region), csvOf(region.querySelector("table"))));
    region.before(button);
  }
}
