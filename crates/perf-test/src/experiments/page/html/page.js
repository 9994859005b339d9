// The page as a whole: it draws the figures, and redraws them when a filter, the theme or the width changes.

DATA.groups.forEach((group, id) => { group.id = id; });

const THEME = document.getElementById("theme");
const OPTIONS = {
  responsive: true, displaylogo: false, toImageButtonOptions: { format: "svg", filename: "perf_test" },
  modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "zoomIn2d", "zoomOut2d"],
};

function draw(id, plot) {
  const figure = document.getElementById(id);
  const [isNew, wasWide] = [!figure.firstElementChild, figure.classList.contains("wide")];
  // A long legend stands beside the plot.
  const isWide = figure.classList.toggle("wide", plot.traces.length > 8 && plot.traces[0].showlegend !== false);
  if (isNew) addParts(figure);
  const [caption, canvas, data] = figure.children;
  const count = new Set(plot.table.rows.map((row) => row.group)).size;
  caption.querySelector("h3").textContent = plot.title;
  caption.querySelector("p").textContent = count ? plot.note : "No row that is shown has this figure.";
  canvas.setAttribute("aria-label", `Plot: ${plot.title}, rows of the table of results: ${count}. Its values follow as a table.`);
  canvas.hidden = !count;
  const drawn = Plotly.react(canvas, plot.traces, { ...layout(plot.height, figure.clientWidth), ...plot.axes }, OPTIONS);
  if (isNew) drawn.then(() => listenTo(canvas));
  else if (isWide !== wasWide) Plotly.Plots.resize(canvas);
  figure.table = plot.table;
  if (data.open) fillTable(figure);
}

function addParts(figure) {
  figure.innerHTML = `<figcaption><h3></h3><p></p></figcaption><div role="group"></div>
    <details><summary>Values of this plot</summary>
    <div class="scroll" tabindex="0" role="region" aria-label="Values of the plot"></div></details>`;
  const data = figure.lastElementChild;
  data.addEventListener("toggle", () => { if (data.open) fillTable(figure); });
}

function listenTo(canvas) {
  nameMarks(canvas);
  canvas.on("plotly_afterplot", () => nameMarks(canvas));
  canvas.on("plotly_click", (event) => {
    const group = event.points[0].customdata;
    if (group !== null && group !== undefined) showRuns(group);
  });
  canvas.addEventListener("keydown", (event) => moveAmongMarks(canvas, event));
}

// Marks are links to their runs: one of a plot is in the order of the Tab key, the arrow keys lead to the others.
function nameMarks(canvas) {
  let isFirst = true;
  for (const point of canvas.querySelectorAll(".scatterlayer .point")) {
    const trace = point.closest(".trace")?.__data__?.[0]?.trace;
    const index = point.__data__?.i;
    const group = trace?.customdata?.[index];
    if (group === null || group === undefined) continue;
    point.classList.add("mark");
    point.dataset.group = group;
    point.setAttribute("role", "link");
    point.setAttribute("aria-label", String(trace.text[index]).replace(/<br>/g, ", ").replace(/<\/?b>/g, ""));
    point.setAttribute("tabindex", isFirst ? "0" : "-1");
    isFirst = false;
  }
}

function moveAmongMarks(canvas, event) {
  const mark = event.target.closest(".mark");
  if (!mark) return;
  if (event.key === "Enter") showRuns(mark.dataset.group);
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const marks = [...canvas.querySelectorAll(".mark")];
  const next = marks[(marks.indexOf(mark) + step + marks.length) % marks.length];
  mark.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
}

function fillTable(figure) {
  const make = (name, values) => Object.assign(document.createElement(name), values);
  const className = (column) => (column > 1 ? "number" : "");
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  const headCell = (textContent, i) => make("th", { textContent, scope: "col", className: className(i) });
  head.append(...figure.table.head.map(headCell));
  const body = table.createTBody();
  for (const { group, cells } of figure.table.rows) {
    const row = body.insertRow();
    row.append(...cells.map((text, i) => make("td", { textContent: i ? text : "", className: className(i) })));
    row.cells[0].append(make("a", { textContent: cells[0], href: `#runs-${group}` }));
  }
  figure.querySelector(".scroll").replaceChildren(table);
}

function update() {
  const selected = selection();
  filterRows(selected);
  const groups = DATA.groups.filter((group) => isSelected(selected, group.middleware, group.key));
  const named = (key) => DATA.metrics.findIndex((metric) => metric.key === key);
  draw("plot-metric", metricPlot(selected.metric, groups));
  draw("plot-percentile", percentilePlot(groups));
  draw("plot-time", timePlot(selected.metric, groups));
  draw("plot-cpu", metricPlot(named("cpu_per_message"), groups));
  draw("plot-memory", metricPlot(named("rss"), groups));
}

function applyTheme() {
  document.documentElement.dataset.theme = THEME.value;
}

// A page that is opened from a file may have no storage.
function stored(action) {
  try { return action(localStorage); } catch { return null; }
}

// A link within the page keeps the filters in its address.
document.addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#"]');
  if (!link) return;
  event.preventDefault();
  const id = link.getAttribute("href").slice(1);
  if (id.startsWith("runs-")) return showRuns(id.slice("runs-".length));
  const target = document.getElementById(id);
  target.scrollIntoView();
  target.focus({ preventScroll: true });
});
FILTERS.addEventListener("change", () => { writeAddress(); update(); });
FILTERS.addEventListener("reset", () => setTimeout(() => { writeAddress(); update(); }));
FILTERS.addEventListener("submit", (event) => event.preventDefault());
document.getElementById("none").addEventListener("click", () => {
  for (const box of MIDDLEWARES) box.checked = false;
  writeAddress();
  update();
});
THEME.addEventListener("change", () => {
  stored((storage) => storage.setItem("perf_test-theme", THEME.value));
  applyTheme();
  update();
});
// Paper is light.
window.addEventListener("beforeprint", () => { document.documentElement.dataset.theme = "light"; update(); });
window.addEventListener("afterprint", () => { applyTheme(); update(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", update);
window.addEventListener("hashchange", () => { readAddress(); update(); });

choose(THEME, stored((storage) => storage.getItem("perf_test-theme")));
applyTheme();
const opened = readAddress();
update();
if (opened !== null) showRuns(opened);
