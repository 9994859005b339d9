// The plots. Each is built from the selected groups as traces, axes and a table; every point knows its group.

const MOST_LINES = 20;
// Each with its place on the axis: 1 / (1 - quantile).
const PERCENTILES = [
  [1, "0"], [2, "50"], [10, "90"], [100, "99"], [1e3, "99.9"], [1e4, "99.99"], [1e5, "99.999"], [1e6, "99.9999"],
];

// A metric over the size of the message; of one size, a mark for each group on a line of its own.
function metricPlot(index, groups) {
  const metric = DATA.metrics[index];
  const known = groups.filter((group) => group.values[index]);
  const table = {
    head: ["Settings", "Message", "Median", "Interval from", "to", "Runs"],
    rows: known.map((group) => ({
      group: group.id, cells: [group.label, group.message, ...group.values[index].shown, group.runs],
    })),
  };
  const sizes = [...new Set(known.map((group) => group.bytes))].sort((a, b) => a - b);
  const build = sizes.length > 1 ? overSize : inRows;
  const over = sizes.length > 1 ? "by message size" : known.length ? `of ${known[0].size} messages` : "";
  return { title: `${metric.name} ${over}`, table, note: "", ...build(metric, index, known, sizes) };
}

function whiskers(values) {
  return {
    type: "data", symmetric: false, thickness: 1.5, width: 4,
    array: values.map((value) => value.high - value.median),
    arrayminus: values.map((value) => value.median - value.low),
  };
}

function hoverText(metric, group, value) {
  const interval = group.runs > 1 ? `<br>interval ${value.shown[1]} to ${value.shown[2]}, ${group.runs} runs` : "";
  return `<b>${escaped(group.label)}</b><br>${escaped(group.message)}<br>${metric.name}: ${value.shown[0]}${interval}`;
}

function overSize(metric, index, groups, sizes) {
  const conditions = new Map();
  for (const group of groups) {
    if (!conditions.has(group.series)) conditions.set(group.series, []);
    conditions.get(group.series).push(group);
  }
  const traces = [...conditions].map(([series, of]) => {
    const { label, middleware, variant } = DATA.series[series];
    const values = of.map((group) => group.values[index]);
    return {
      name: escaped(label), x: of.map((group) => group.bytes), y: values.map((value) => value.median),
      mode: "lines+markers", error_y: whiskers(values), customdata: of.map((group) => group.id),
      text: of.map((group, i) => hoverText(metric, group, values[i])), hovertemplate: "%{text}<extra></extra>",
      ...lineStyle(middleware, variant),
    };
  });
  const all = groups.flatMap((group) => [group.values[index].low, group.values[index].high]);
  const [low, high] = [Math.log10(sizes[0]), Math.log10(sizes[sizes.length - 1])];
  const caches = DATA.caches.filter((cache) => cache.bytes >= sizes[0] && cache.bytes <= sizes[sizes.length - 1]);
  return {
    traces, height: Math.max(460, 110 + 21 * traces.length), note: caches.length ? "Dotted lines: the sizes of the caches." : "",
    axes: {
      xaxis: { ...axis("Message size"), ...sizeTicks(sizes), type: "log", range: [low - 0.08, high + 0.08] },
      yaxis: valueAxis(metric.name, metric.unit, all),
      shapes: caches.map((cache) => ({
        type: "line", x0: cache.bytes, x1: cache.bytes, yref: "paper", y0: 0, y1: 1,
        line: { color: colour("pale"), width: 1, dash: "dot" },
      })),
      annotations: caches.map((cache) => ({
        x: Math.log10(cache.bytes), xanchor: "left", yref: "paper", y: 0, yanchor: "bottom", text: cache.name,
        showarrow: false, font: { size: 11, color: colour("pale") },
      })),
    },
  };
}

// Labels at the sizes that were measured, without those that would touch another.
function sizeTicks(sizes) {
  const apart = Math.log10(sizes[sizes.length - 1] / sizes[0]) / (innerWidth < 600 ? 5 : 14);
  const kept = [];
  for (const size of sizes) {
    if (!kept.length || Math.log10(size / kept[kept.length - 1]) >= apart) kept.push(size);
  }
  const texts = new Map(DATA.groups.map((group) => [group.bytes, group.size]));
  return { tickvals: kept, ticktext: kept.map((size) => texts.get(size)) };
}

function inRows(metric, index, groups) {
  const sorted = [...groups].sort((a, b) => b.values[index].median - a.values[index].median);
  const messages = new Set(sorted.map((group) => group.message)).size;
  const names = sorted.map((group) => escaped(group.label + (messages > 1 ? `, ${group.message}` : "")));
  const traces = sorted.map((group, row) => {
    const { middleware, variant } = DATA.series[group.series];
    const value = group.values[index];
    return {
      x: [value.median], y: [row], mode: "markers", error_x: whiskers([value]), customdata: [group.id],
      text: [hoverText(metric, group, value)], hovertemplate: "%{text}<extra></extra>", showlegend: false,
      ...lineStyle(middleware, variant),
    };
  });
  const all = sorted.flatMap((group) => [group.values[index].low, group.values[index].high]);
  return {
    traces, height: 100 + 30 * sorted.length,
    axes: {
      xaxis: valueAxis(metric.name, metric.unit, all, innerWidth < 600),
      yaxis: {
        ...axis(""), tickvals: names.map((_, row) => row), ticktext: names, range: [-0.7, names.length - 0.3],
        ticks: "",
      },
    },
  };
}

// Groups as lines. With several messages, a line of the plot over size is several lines here: each has its own look.
function lines(groups, build) {
  const drawn = groups.slice(0, MOST_LINES);
  const messages = new Set(drawn.map((group) => group.message)).size;
  const note = drawn.length < groups.length
    ? `The first ${drawn.length} of ${groups.length} rows are drawn: choose a message or fewer middlewares.` : "";
  const traces = drawn.map((group, i) => {
    const { middleware, variant } = DATA.series[group.series];
    const style = messages > 1 ? lineStyle(i, Math.floor(i / 8)) : lineStyle(middleware, variant);
    const name = group.label + (messages > 1 ? `, ${group.message}` : "");
    const own = build(group, escaped(name), style);
    return { name: escaped(name), mode: "lines+markers", hovertemplate: "%{text}<extra></extra>", ...style, ...own };
  });
  return { drawn, traces, note, height: Math.max(440, 110 + 21 * drawn.length) };
}

function percentilePlot(groups) {
  const known = groups.filter((group) => group.curve.length);
  const longest = (group) => group.curve[group.curve.length - 1];
  const plot = lines(known, (group, name, style) => {
    const marked = group.curve.map(([, , isMarked], i) => isMarked || i === 0);
    const percentile = (x, i) => (i === 0 ? "min" : i === group.curve.length - 1 ? "max" : `p${percentText(x)}`);
    return {
      x: group.curve.map(([x]) => x), y: group.curve.map(([, ns]) => ns),
      customdata: marked.map((isMarked) => (isMarked ? group.id : null)),
      text: group.curve.map(([x, ns], i) => `<b>${name}</b><br>${percentile(x, i)}: ${inUnit(ns, "ns")}`),
      marker: {
        ...style.marker, opacity: 1, size: marked.map((isMarked) => (isMarked ? 8 : 0)),
        line: { ...style.marker.line, width: marked.map((isMarked) => (isMarked ? 2 : 0)) },
      },
    };
  });
  const at = (group, x) => group.curve.find((point) => Math.abs(point[0] / x - 1) < 1e-6)?.[1];
  const columns = PERCENTILES.slice(1, 6);
  const most = Math.max(2, ...plot.drawn.map((group) => longest(group)[0]));
  const [places, names] = [PERCENTILES.map(([x]) => x), PERCENTILES.map(([, name]) => name)];
  // plotly draws an entry of the legend with the mean size of all marks, which is nearly none.
  const entry = (trace, i) => {
    const marker = { ...trace.marker, size: 9, line: { ...trace.marker.line, width: 2 } };
    return { ...trace, x: [null], y: [null], marker, legendgroup: i };
  };
  const traces = plot.traces.map((trace, i) => ({ ...trace, legendgroup: i, showlegend: false }));
  return {
    ...plot, traces: [...traces, ...plot.traces.map(entry)], title: "Latency by percentile",
    axes: {
      xaxis: {
        ...axis("Percentile of all samples of a group, %"), type: "log", tickvals: places, ticktext: names,
        range: [-0.03, Math.log10(most) + 0.08],
      },
      yaxis: valueAxis("Latency", "ns", plot.drawn.flatMap((group) => group.curve.map(([, ns]) => ns))),
    },
    table: {
      head: ["Settings", "Message", ...columns.map(([, name]) => `p${name}`), "max"],
      rows: known.map((group) => ({
        group: group.id,
        cells: [group.label, group.message, ...[...columns.map(([x]) => at(group, x)), longest(group)[1]].map(inNs)],
      })),
    },
  };
}

function inNs(value) {
  return inUnit(value, "ns");
}

function percentText(x) {
  return String(Number((100 * (1 - 1 / x)).toFixed(Math.ceil(Math.log10(x)))));
}

// The latency in each second: the chosen metric, or the median if that is none of the latency.
function timePlot(chosen, groups) {
  const index = chosen < 4 ? chosen : 0;
  const { name } = DATA.metrics[index];
  const known = groups.filter((group) => group.seconds.some(([, values]) => values[index] !== null));
  const plot = lines(known, (group, label) => ({
    x: group.seconds.map(([second]) => second), y: group.seconds.map(([, values]) => values[index]),
    customdata: group.seconds.map(() => group.id),
    text: group.seconds.map(([at, values]) => `<b>${label}</b><br>second ${shortNumber(at)}: ${inNs(values[index])}`),
  }));
  const all = plot.drawn.flatMap((group) => group.seconds.map(([, values]) => values[index]));
  const row = (group) => ([second, values]) => ({
    group: group.id, cells: [group.label, group.message, shortNumber(second), inNs(values[index])],
  });
  return {
    ...plot, title: `${name} over time`,
    axes: {
      xaxis: { ...axis("Time since the start of the run, s"), rangemode: "tozero" },
      yaxis: valueAxis(`${name} of each second`, "ns", all.filter((value) => value !== null)),
    },
    table: {
      head: ["Settings", "Message", "Second", name], rows: known.flatMap((group) => group.seconds.map(row(group))),
    },
  };
}

// plotly reads a few tags in its texts.
function escaped(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
