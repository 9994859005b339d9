// The look of the plots: colours of the page's theme, axes with units, and lines that differ without colour.

// Their number has no factor in common with that of the colours, so 88 middlewares differ.
const SYMBOLS = [
  "circle", "square", "diamond", "triangle-up", "cross", "triangle-down", "x", "pentagon", "star", "hexagram", "bowtie",
];
const COLOURS = 8;
const DASHES = ["solid", "dash", "dot", "dashdot"];
const TIME_UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

// A colour of the theme, as the browser resolves it.
const PROBE = document.body.appendChild(Object.assign(document.createElement("i"), { hidden: true }));
function colour(name) {
  PROBE.style.color = `var(--${name})`;
  return getComputedStyle(PROBE).color;
}

// The middleware is a colour and a symbol; the variant of its settings is a dash, and a filled or an open symbol.
function lineStyle(middleware, variant) {
  const of = colour(`c${middleware % COLOURS}`);
  const symbol = SYMBOLS[middleware % SYMBOLS.length] + (variant % 2 ? "-open" : "");
  return {
    line: { color: of, width: 2, dash: DASHES[variant % DASHES.length] },
    marker: { color: of, size: 9, symbol, line: { width: 2, color: of } },
  };
}

function shortNumber(value) {
  return String(Number(value.toPrecision(3)));
}

function inUnit(value, unit) {
  if (value === null || value === undefined) return "-";
  if (unit === "ns") {
    const [size, name] = TIME_UNITS.find(([size]) => value >= size) ?? [1, "ns"];
    return `${shortNumber(value / size)} ${name}`;
  }
  if (unit === "KiB") return `${shortNumber(value / 1024)} MiB`;
  if (unit === "B/s") return `${shortNumber(value / 1e6)} MB/s`;
  return shortNumber(value);
}

function axis(title) {
  return {
    title: { text: title, standoff: 8 }, gridcolor: colour("grid"), zerolinecolor: colour("line"),
    linecolor: colour("line"), tickcolor: colour("line"), ticks: "outside", ticklen: 4, automargin: true,
    // A finger scrolls the page.
    fixedrange: matchMedia("(pointer: coarse)").matches,
  };
}

// Values that span decades have a logarithmic axis, with labels at 1, 2 and 5 of a decade, or fewer if there are many.
function valueAxis(title, unit, values, isShort = false) {
  const known = values.filter((value) => value > 0);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  if (!known.length || known.length < values.length || unit === "" || high / low < 3) {
    return { ...axis(title), rangemode: "tozero", ...linearTicks(high, unit, isShort ? 3 : 6) };
  }
  const first = Math.floor(Math.log10(low));
  const decades = Math.ceil(Math.log10(high)) - first;
  const labels = isShort ? decades * 2 : decades;
  const steps = labels > 4 ? [1] : labels > 2 ? [1, 3] : [1, 2, 5];
  // 1 KiB is no power of ten: labels in MiB are.
  const base = unit === "KiB" ? 1024 : 1;
  const ticks = [];
  for (let decade = first - 4; decade <= first + decades; decade += 1) {
    for (const step of steps) ticks.push(step * base * 10 ** decade);
  }
  const pad = (high / low) ** 0.06;
  return {
    ...axis(title), type: "log", tickvals: ticks, ticktext: ticks.map((tick) => inUnit(tick, unit)),
    range: [Math.log10(low / pad), Math.log10(high * pad)],
  };
}

function linearTicks(high, unit, most) {
  if (!(high > 0)) return {};
  const scale = unit === "KiB" ? 1024 : 1;
  const power = 10 ** Math.floor(Math.log10(high / scale / 4));
  const step = [1, 2, 5, 10, 20].map((factor) => factor * power).find((step) => high / scale / step <= most) * scale;
  const ticks = Array.from({ length: Math.ceil(high / step) + 1 }, (_, i) => i * step);
  return { tickvals: ticks, ticktext: ticks.map((tick) => (tick ? inUnit(tick, unit) : "0")), range: [0, high * 1.08] };
}

// The legend stands beside a plot that has room for it, and below another.
function layout(height, width) {
  const legend = width > 900
    ? { orientation: "v", xanchor: "left", x: 1.01, yanchor: "top", y: 1 }
    : { orientation: "h", xanchor: "left", x: 0, yanchor: "top", y: -90 / height };
  return {
    height, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", hovermode: "closest",
    font: { family: getComputedStyle(document.body).fontFamily, size: width < 600 ? 11 : 12.5, color: colour("ink") },
    margin: { l: 56, r: 16, t: 16, b: 48 },
    legend: { ...legend, bgcolor: "rgba(0,0,0,0)", itemwidth: 40, tracegroupgap: 0 },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("pale"), activecolor: colour("ink") },
    hoverlabel: { bgcolor: colour("card"), bordercolor: colour("line"), font: { color: colour("ink") }, align: "left" },
  };
}
