// The main table: filters and sorts its rows, and links each row to its runs.

const TABLE = document.getElementById("table");
const BODY = TABLE.tBodies[0];

// The number of rows that are shown before a reader requests all.
const MOST_SHOWN = 100;
const MORE = document.getElementById("more");

function filterRows(selected) {
  let found = 0;
  for (const row of BODY.rows) {
    row.isOut = !isSelected(selected, row.dataset);
    if (!row.isOut) found += 1;
  }
  for (const runs of document.querySelectorAll("details.runs")) runs.hidden = !isSelected(selected, runs.dataset);
  document.getElementById("count").textContent = `${found} of ${BODY.rows.length} rows`;
  MORE.textContent = `Show all ${found} rows`;
  showRows();
}

// Shows the first rows that match the filters, or all of them.
function showRows() {
  let shown = 0;
  let isCut = false;
  for (const row of BODY.rows) {
    const isBeyond = !TABLE.isWhole && shown >= MOST_SHOWN;
    row.hidden = row.isOut || isBeyond;
    isCut ||= isBeyond && !row.isOut;
    if (!row.hidden) shown += 1;
  }
  MORE.hidden = !isCut;
  separateConditions();
}

MORE.addEventListener("click", () => { TABLE.isWhole = true; showRows(); });

// Draws a line between different messages while the table has its original order.
function separateConditions() {
  const isSorted = TABLE.querySelector("th[aria-sort$=scending]");
  let before = null;
  for (const row of BODY.rows) {
    if (row.hidden) continue;
    row.classList.toggle("condition", !isSorted && before !== null && before !== row.dataset.message);
    before = row.dataset.message;
  }
}

// Numbers come before texts. Rows without a value come last in both directions.
function sortBy(head) {
  const column = head.cellIndex;
  const direction = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  const value = (row) => row.cells[column] && (row.cells[column].dataset.sort ?? row.cells[column].textContent);
  const isMissing = (text) => text === undefined || text === "-";
  const compare = (one, other) => {
    const [a, b] = [value(one), value(other)];
    if (isMissing(a) || isMissing(b)) return isMissing(a) - isMissing(b);
    const difference = a - b;
    return direction * (Number.isNaN(difference) ? a.localeCompare(b) : difference);
  };
  for (const other of TABLE.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
  BODY.append(...[...BODY.rows].sort(compare));
  showRows();
}

TABLE.tHead.addEventListener("click", (event) => {
  const head = event.target.closest("th");
  if (head && event.target.closest("button")) sortBy(head);
});

BODY.addEventListener("click", (event) => {
  const row = event.target.closest("tr[data-group]");
  // A click that only ends a selection of text is ignored.
  if (row && !event.target.closest("a") && !String(getSelection())) showRuns(row.dataset.group);
});

// The runs of a group are in a `noscript` element until a reader opens them, so even a page with many runs loads fast.
function unfold(runs) {
  const folded = runs.querySelector("noscript");
  if (!folded) return;
  const body = document.createElement("div");
  body.innerHTML = folded.textContent;
  folded.replaceWith(body);
  addDownloads(body);
}

for (const runs of document.querySelectorAll("details.runs")) runs.addEventListener("toggle", () => unfold(runs));

// Opens the runs of a group and scrolls to them.
function showRuns(group) {
  const runs = document.getElementById(`runs-${group}`);
  if (!runs) return;
  unfold(runs);
  [runs.open, runs.hidden] = [true, false];
  runs.scrollIntoView();
  runs.querySelector("summary").focus({ preventScroll: true });
  writeAddress(group);
}
