// The page as a whole: it draws the figures, and redraws them when a filter or the width changes.

const THEME = document.getElementById("theme");

function draw(figure, plot) {
  if (!figure.firstElementChild) addParts(figure);
  const [caption, place, data] = figure.children;
  const count = new Set(plot.table.rows.map((row) => row.group ?? row)).size;
  caption.querySelector("h3").textContent = plot.title;
  caption.querySelector("p").textContent = count ? plot.note : "No row that is shown has this figure.";
  place.setAttribute("aria-label", `Plot: ${plot.title}, rows: ${count}. Its values follow as a table.`);
  place.hidden = !count;
  if (count) drawChart(place, plot.chart);
  Object.assign(figure, { table: plot.table, chart: plot.chart });
  if (data.open) fillTable(figure);
}

function addParts(figure) {
  figure.innerHTML = `<figcaption><h3></h3><p></p></figcaption><div role="group" class="place"></div>
    <details><summary>Values of this plot</summary>
    <div class="scroll" tabindex="0" role="region" aria-label="Values of the plot"></div></details>`;
  const data = figure.lastElementChild;
  data.addEventListener("toggle", () => { if (data.open) fillTable(figure); });
  listenTo(figure.children[1]);
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
    row.append(...cells.map((text, i) => make("td", { textContent: text, className: className(i) })));
    if (group !== null) row.cells[0].replaceChildren(make("a", { textContent: cells[0], href: `#runs-${group}` }));
  }
  figure.querySelector(".scroll").replaceChildren(table);
  addDownloads(figure);
}

function drawAll(selected) {
  const groups = DATA.groups.filter(({ middleware, key, experiment }) => (
    isSelected(selected, { middleware, message: key, experiment })));
  const named = (key) => DATA.metrics.findIndex((metric) => metric.key === key);
  const plots = {
    metric: metricPlot(selected.metric, groups), percentile: percentilePlot(groups), distribution: distributionPlot(groups),
    time: timePlot(selected.metric, groups), cpu: metricPlot(named("cpu_per_message"), groups),
    memory: metricPlot(named("rss"), groups),
  };
  for (const [name, plot] of Object.entries(plots)) draw(document.getElementById(`plot-${name}`), plot);
}

// Emphasises the first sentence that is shown, and shows only the tables of the selected experiment.
function showExperiment(selected) {
  let first = true;
  for (const part of document.querySelectorAll("[data-experiment]:not(tr, .runs)")) {
    part.hidden = !isOfExperiment(selected, part.dataset.experiment);
    if (part.matches(".headlines li")) part.classList.toggle("first", first && !part.hidden);
    if (part.matches(".headlines li") && !part.hidden) first = false;
  }
}

function update() {
  const selected = selection();
  filterRows(selected);
  showExperiment(selected);
  if (DATA.groups.length) drawAll(selected);
}

function drawRobots() {
  for (const place of document.querySelectorAll(".robot")) {
    for (const [i, figure] of DATA.robots[place.dataset.robot].entries()) {
      if (!place.children[i]) place.append(document.createElement("figure"));
      draw(place.children[i], robotPlot(figure));
    }
  }
}

// Draws all charts again for the current width.
function redraw() {
  for (const figure of document.querySelectorAll("figure")) {
    if (figure.chart && !figure.children[1].hidden) drawChart(figure.children[1], figure.chart);
  }
  keepHeadings();
}

// A link to a heading scrolls it to the place below the filters, whose height varies.
function keepHeadings() {
  document.documentElement.style.scrollPaddingTop = `${isSticky() ? FILTERS.offsetHeight + 12 : 12}px`;
}

function isSticky() {
  return getComputedStyle(FILTERS).position === "sticky";
}

function applyTheme() {
  document.documentElement.dataset.theme = THEME.value;
}

// A page that is opened from a file may have no local storage.
function stored(action) {
  try { return action(localStorage); } catch { return null; }
}

function changed() {
  TABLE.isWhole = false;
  writeAddress();
  update();
}

// A link within the page keeps the filters in the URL.
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
FILTERS.addEventListener("change", (event) => {
  if (event.target === EXPERIMENT) offerMessages(MESSAGE.value);
  changed();
});
FILTERS.addEventListener("reset", () => setTimeout(() => { offerMessages(""); changed(); }));
FILTERS.addEventListener("submit", (event) => event.preventDefault());
document.getElementById("none").addEventListener("click", () => {
  for (const box of MIDDLEWARES) box.checked = false;
  changed();
});
THEME.addEventListener("change", () => {
  stored((storage) => storage.setItem("perf_test-theme", THEME.value));
  applyTheme();
});
// Printing uses the light colours.
window.addEventListener("beforeprint", () => { document.documentElement.dataset.theme = "light"; });
window.addEventListener("afterprint", applyTheme);
window.addEventListener("hashchange", () => { readAddress(); update(); });

choose(THEME, stored((storage) => storage.getItem("perf_test-theme")));
applyTheme();
const opened = readAddress();
update();
drawRobots();
addDownloads(document.body);
let width = innerWidth;
window.addEventListener("resize", () => {
  if (innerWidth !== width) requestAnimationFrame(redraw);
  width = innerWidth;
});
keepHeadings();
if (opened !== null) showRuns(opened);
