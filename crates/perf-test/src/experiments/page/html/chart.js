// A chart as SVG: { lines, x, y, guides, height } or { rows, x }. A line is { name, look, points, isJoined }, and a
// point { x, y, low, high, group, text }: a mark if it has a group, else a corner of the line.

const RADIUS = 4.5;
const NARROW = 640;

// Draws a chart in place of an earlier one, as wide as its element. The arrow keys visit the marks in their order.
function drawChart(place, chart) {
  const width = Math.max(280, Math.floor(place.clientWidth));
  const size = width < NARROW ? 11 : 12.5;
  const picture = chart.rows ? rowsPicture(chart, width, size) : linesPicture(chart, width, size);
  const parts = [picture.element];
  if (chart.lines?.length > 1) parts.push(legend(chart.lines, picture.strokes));
  parts.push(Object.assign(document.createElement("div"), { className: "tip", hidden: true }));
  place.replaceChildren(...parts);
  place.marks = picture.marks;
  nameMarks(place);
}

function frame(width, height, size) {
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "font-size": size, role: "presentation" });
}

function linesPicture(chart, width, size) {
  const { x, y, height } = chart;
  const labels = Math.max(0, ...y.ticks.map(([, text]) => textWidth(text, size)));
  const area = { left: labels + 14, right: width - 14, top: size * 2 + 6, bottom: height - size * 3.4 };
  const [toX, toY] = [placer(x, area.left, area.right), placer(y, area.bottom, area.top)];
  const element = frame(width, height, size);
  element.append(text(y.title, 2, size + 1, "axis-title"));
  for (const [value, label] of y.ticks) {
    const at = toY(value);
    element.append(svg("path", { d: `M${area.left} ${at}H${area.right}`, class: "grid" }));
    element.append(text(label, area.left - 8, at + size * 0.35, "tick", "end"));
  }
  drawHorizontal(element, x, toX, area, size, height);
  for (const guide of chart.guides ?? []) {
    element.append(svg("path", { d: `M${toX(guide.x)} ${area.top}V${area.bottom}`, class: "guide" }));
    element.append(text(guide.name, toX(guide.x) + 4, area.bottom - 5, "tick"));
  }
  const marks = [];
  const strokes = chart.lines.map((line) => drawLine(element, line, toX, toY, marks));
  return { element, marks, strokes };
}

// The title and the ticks of the horizontal axis. A tick is left out if its label would touch another label.
function drawHorizontal(element, axis, toX, area, size, height) {
  let free = -Infinity;
  for (const [value, label] of axis.ticks) {
    const [at, half] = [toX(value), textWidth(label, size) / 2];
    const middle = Math.min(Math.max(at, half), element.viewBox.baseVal.width - half);
    if (middle - half < free) continue;
    free = middle + half + 8;
    element.append(svg("path", { d: `M${at} ${area.top}V${area.bottom + 4}`, class: "grid" }));
    element.append(text(label, middle, area.bottom + size + 7, "tick", "middle"));
  }
  element.append(svg("path", { d: `M${area.left} ${area.bottom}H${area.right}`, class: "axis" }));
  const title = shortened(axis.title, size, area.right - 4);
  element.append(text(title, Math.max((area.left + area.right) / 2, textWidth(title, size) / 2), height - 4, "axis-title", "middle"));
}

function text(content, x, y, name, anchor = "start") {
  const element = svg("text", { x, y, class: name, "text-anchor": anchor });
  element.textContent = content;
  return element;
}

function drawLine(element, line, toX, toY, marks) {
  const group = svg("g", { class: line.look.isGantry ? "line gantry" : "line" });
  group.style.color = line.look.colour;
  const places = line.points.map((point) => [toX(point.x), toY(point.y)]);
  if (line.isJoined && places.length > 1) {
    const d = `M${places.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`;
    group.append(svg("path", { d, class: "stroke", "stroke-dasharray": line.look.dash }));
  }
  line.points.forEach((point, i) => {
    const [x, y] = places[i];
    if (point.high > point.low) {
      const [top, bottom] = [toY(point.high), toY(point.low)];
      group.append(svg("path", { d: `M${x - 4} ${top}h8M${x} ${top}V${bottom}M${x - 4} ${bottom}h8`, class: "whisker" }));
    }
    if (point.group !== undefined && point.group !== null) group.append(mark(line, point, x, y, marks));
  });
  element.append(group);
  return group;
}

function mark({ look }, point, x, y, marks) {
  const element = symbol(look.shape, x, y, RADIUS, { class: look.isOpen ? "symbol open mark" : "symbol mark" });
  marks.push({ element, x, y, group: point.group, text: point.text });
  return element;
}

// Rows, each with a mark: { label, look, x, low, high, group, text, shown }. In a narrow chart the labels are above the
// marks, so that no label is cut.
function rowsPicture({ rows, x }, width, size) {
  const isNarrow = width < NARROW;
  const longest = Math.max(0, ...rows.map((row) => textWidth(row.label, size)));
  const names = isNarrow ? width - 8 : Math.min(longest, width * 0.42) + 4;
  const values = Math.max(0, ...rows.map((row) => textWidth(row.shown, size))) + 14;
  const area = { left: isNarrow ? 10 : names + 16, right: width - values - 8, top: 6 };
  const labels = rows.map((row) => wrapped(row.label, size, names));
  const line = size * 1.25;
  const heights = labels.map((lines) => (isNarrow ? lines.length * line + 26 : Math.max(24, lines.length * line + 8)));
  area.bottom = area.top + heights.reduce((sum, height) => sum + height, 0);
  const height = area.bottom + size * 3.4;
  const element = frame(width, height, size);
  const [toX, marks] = [placer(x, area.left, area.right), []];
  drawHorizontal(element, x, toX, area, size, height);
  let top = area.top;
  rows.forEach((row, i) => {
    const block = labels[i].length * line;
    const y = isNarrow ? top + block + 9 : top + heights[i] / 2;
    const first = isNarrow ? top + size : y - block / 2 + size;
    labels[i].forEach((label, n) => element.append(text(label, 2, first + n * line, row.look.isGantry ? "label strong" : "label")));
    drawRow(element, row, toX, y, marks, [area.right + 10, size]);
    top += heights[i];
  });
  return { element, marks, strokes: [] };
}

function drawRow(element, row, toX, y, marks, [end, size]) {
  const group = svg("g", { class: row.look.isGantry ? "line gantry" : "line" });
  group.style.color = row.look.colour;
  if (row.high > row.low) {
    const [low, high] = [toX(row.low), toX(row.high)];
    group.append(svg("path", { d: `M${low} ${y - 4}v8M${low} ${y}H${high}M${high} ${y - 4}v8`, class: "whisker" }));
  }
  group.append(mark(row, row, toX(row.x), y, marks));
  element.append(group, text(row.shown, end, y + size * 0.35, "label"));
}

// The legend below the plot, in columns. Pointing at a name highlights the name's line.
function legend(lines, strokes) {
  const list = document.createElement("ul");
  list.className = "legend";
  lines.forEach((line, i) => {
    const entry = document.createElement("li");
    entry.append(swatch(line.look, line.isJoined), line.name);
    entry.addEventListener("pointerenter", () => strokes[i].classList.add("strong"));
    entry.addEventListener("pointerleave", () => strokes[i].classList.remove("strong"));
    list.append(entry);
  });
  return list;
}
