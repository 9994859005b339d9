// The main table: filtering and sorting of its rows, and the way from a row to its runs.

const TABLE = document.getElementById("table");
const BODY = TABLE.tBodies[0];

function filterRows(selected) {
  let shown = 0;
  for (const row of BODY.rows) {
    row.hidden = !isSelected(selected, row.dataset.middleware, row.dataset.message);
    if (!row.hidden) shown += 1;
  }
  for (const runs of document.querySelectorAll("details.runs")) {
    runs.hidden = !isSelected(selected, runs.dataset.middleware, runs.dataset.message);
  }
  document.getElementById("count").textContent = `${shown} of ${BODY.rows.length} rows`;
  separateConditions();
}

// A line between messages, as long as the table is in its first order.
function separateConditions() {
  const isSorted = TABLE.querySelector("th[aria-sort$=scending]");
  let before = null;
  for (const row of BODY.rows) {
    if (row.hidden) continue;
    row.classList.toggle("condition", !isSorted && before !== null && before !== row.dataset.message);
    before = row.dataset.message;
  }
}

// Numbers before texts; rows without a value are last in both directions.
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
  separateConditions();
}

TABLE.tHead.addEventListener("click", (event) => {
  const head = event.target.closest("th");
  if (head && event.target.closest("button")) sortBy(head);
});

BODY.addEventListener("click", (event) => {
  const row = event.target.closest("tr[data-group]");
  // A click that ends the selection of text is none.
  if (row && !event.target.closest("a") && !String(getSelection())) showRuns(row.dataset.group);
});

// Opens the runs of a group and goes there.
function showRuns(group) {
  const runs = document.getElementById(`runs-${group}`);
  if (!runs) return;
  runs.open = true;
  runs.scrollIntoView();
  runs.querySelector("summary").focus({ preventScroll: true });
  writeAddress(group);
}
