// The plots. Each is a chart and a table of the selected groups. Every mark has the index of its group.

const MOST_LINES = 14;
const MOST_OF_GANTRY = 5;
const MAX_ROWS = 60;
const HEIGHT = 400;
// The percentiles, each with its value on the axis: 1 / (1 - quantile).
const PERCENTILES = [
  [1, "0"], [2, "50"], [10, "90"], [100, "99"], [1e3, "99.9"], [1e4, "99.99"], [1e5, "99.999"], [1e6, "99.9999"],
];

// The name of a group among others: without words that all of them have, with its message and its experiment if there
// are several.
function namer(groups) {
  const words = groups.map((group) => group.label.split(", "));
  const isCommon = (word) => groups.length > 1 && words.every((of) => of.slice(1).includes(word));
  const short = (label) => label.split(", ").filter((word, i) => i === 0 || !isCommon(word));
  const [messages, experiments] = ["message", "experiment"].map((key) => new Set(groups.map((group) => group[key])).size);
  return (group) => [
    ...short(group.label), messages > 1 ? group.message : "", experiments > 1 ? group.experiment : "",
  ].filter((part) => part).join(", ");
}

// A metric over message size. If there is only one size, each group has its own row with a mark.
function metricPlot(index, groups) {
  const metric = DATA.metrics[index];
  const known = groups.filter((group) => group.values[index]);
  const sizes = [...new Set(known.map((group) => group.bytes))].sort((a, b) => a - b);
  const name = namer(known);
  const table = {
    head: ["Settings", "Message", "Median", "Interval from", "to", "Runs"],
    rows: known.map((group) => ({
      group: group.id, cells: [name(group), group.message, ...group.values[index].shown, group.runs],
    })),
  };
  const over = sizes.length > 1 ? "by message size" : known.length ? `of ${known[0].size} messages` : "";
  const build = sizes.length > 1 ? overSize : inRows;
  return { title: `${metric.name} ${over}`, table, note: "", ...build(metric, index, known, sizes) };
}

function tipText(metric, label, group, value) {
  const interval = group.runs > 1 ? [`interval ${value.shown[1]} to ${value.shown[2]}, ${group.runs} runs`] : [];
  return [label, group.message, `${metric.name}: ${value.shown[0]}`, ...interval];
}

function overSize(metric, index, groups, sizes) {
  const several = new Set(groups.map((group) => group.experiment)).size > 1;
  const conditions = new Map();
  for (const group of groups) {
    if (!conditions.has(group.series)) conditions.set(group.series, []);
    conditions.get(group.series).push(group);
  }
  const lines = [...conditions].map(([series, of]) => {
    const { label, middleware, variant, experiment } = DATA.series[series];
    const name = several && experiment ? `${label}, ${experiment}` : label;
    const point = (group) => {
      const { median, low, high } = group.values[index];
      const text = tipText(metric, name, group, group.values[index]);
      return { x: group.bytes, y: median, low, high, group: group.id, text };
    };
    return { name, isJoined: true, look: look(middleware, variant), points: of.map(point) };
  });
  const all = groups.flatMap((group) => [group.values[index].low, group.values[index].high]);
  const guides = DATA.caches.filter((cache) => cache.bytes >= sizes[0] && cache.bytes <= sizes[sizes.length - 1]);
  return {
    note: guides.length ? "Dotted lines: the sizes of the caches." : "",
    chart: {
      lines: gantryLast(lines), height: HEIGHT, guides: guides.map(({ bytes, name }) => ({ x: bytes, name })),
      x: sizeAxis(sizes), y: valueAxis(metric.name, metric.unit, all),
    },
  };
}

// Ticks at the measured sizes.
function sizeAxis(sizes) {
  const names = new Map(DATA.groups.map((group) => [group.bytes, group.size]));
  const ticks = sizes.map((size) => [size, names.get(size)]);
  return { title: "Message size", isLog: true, low: sizes[0] / 1.2, high: sizes[sizes.length - 1] * 1.2, ticks };
}

// The last line is drawn on top of the others.
function gantryLast(lines) {
  return [...lines].sort((a, b) => a.look.isGantry - b.look.isGantry);
}

function inRows(metric, index, groups) {
  const sorted = [...groups].sort((a, b) => a.values[index].median - b.values[index].median);
  const drawn = sorted.slice(0, MAX_ROWS);
  const name = namer(drawn);
  const rows = drawn.map((group) => {
    const { middleware, variant } = DATA.series[group.series];
    const { median, low, high, shown } = group.values[index];
    const label = name(group);
    const text = tipText(metric, label, group, group.values[index]);
    return { label, look: look(middleware, variant), x: median, low, high, group: group.id, text, shown: shown[0] };
  });
  const all = drawn.flatMap((group) => [group.values[index].low, group.values[index].high]);
  return { note: fewer(drawn, groups), chart: { rows, x: valueAxis(metric.name, metric.unit, all) } };
}

function fewer(drawn, groups) {
  return drawn.length < groups.length
    ? `The fastest ${drawn.length} of ${groups.length} rows are drawn: choose an experiment, a message or fewer middlewares.` : "";
}

// The groups that are drawn as lines: the fastest ones, and always Gantry's fastest ones.
function lines(groups, build) {
  const median = (group) => group.values[0]?.median ?? Infinity;
  const sorted = [...groups].sort((a, b) => median(a) - median(b));
  const own = (group) => group.middleware === GANTRY;
  const ofGantry = sorted.filter(own).slice(0, MOST_OF_GANTRY);
  const drawn = [...ofGantry, ...sorted.filter((group) => !ofGantry.includes(group))].slice(0, MOST_LINES);
  const [name, variants] = [namer(drawn), new Map()];
  const made = drawn.map((group) => {
    const variant = variants.get(group.middleware) ?? 0;
    variants.set(group.middleware, variant + 1);
    const label = name(group);
    return { name: label, isJoined: true, look: look(group.middleware, variant), points: build(group, label) };
  });
  return { drawn, note: fewer(drawn, groups), lines: gantryLast(made) };
}

const longest = (group) => group.curve[group.curve.length - 1];

function percentText(x) {
  return String(Number((100 * (1 - 1 / x)).toFixed(Math.max(0, Math.ceil(Math.log10(x))))));
}

// The name of a point of the curve.
function percentile(group, i) {
  return i === 0 ? "min" : i === group.curve.length - 1 ? "max" : `p${percentText(group.curve[i][0])}`;
}

function percentilePlot(groups) {
  const known = groups.filter((group) => group.curve.length);
  const found = lines(known, (group, label) => group.curve.map(([x, ns, isMarked], i) => ({
    x, y: ns, group: isMarked || i === 0 ? group.id : null, text: [label, `${percentile(group, i)}: ${inNs(ns)}`],
  })));
  const at = (group, x) => group.curve.find((point) => Math.abs(point[0] / x - 1) < 1e-6)?.[1];
  const columns = PERCENTILES.slice(1, 6);
  const most = Math.max(2, ...found.drawn.map((group) => longest(group)[0]));
  const name = namer(known);
  const cells = (group) => [...columns.map(([x]) => at(group, x)), longest(group)[1]].map(inNs);
  return {
    title: "Latency by percentile", note: found.note,
    chart: {
      lines: found.lines, height: HEIGHT, y: latencyAxis("Latency", found.drawn),
      x: {
        title: "Percentile of all samples of a group, %", isLog: true, low: 0.95, high: most * 1.1,
        ticks: PERCENTILES.filter(([x]) => x <= most * 1.1),
      },
    },
    table: {
      head: ["Settings", "Message", ...columns.map(([, name]) => `p${name}`), "max"],
      rows: known.map((group) => ({ group: group.id, cells: [name(group), group.message, ...cells(group)] })),
    },
  };
}

function latencyAxis(title, groups) {
  return valueAxis(title, "ns", groups.flatMap((group) => group.curve.map(([, ns]) => ns)));
}

// The cumulative distribution: for each latency, the fraction of samples that do not exceed it.
function distributionPlot(groups) {
  const known = groups.filter((group) => group.curve.length > 2);
  const found = lines(known, (group, label) => group.curve.map(([x, ns, isMarked], i) => ({
    x: ns, y: i === group.curve.length - 1 ? 100 : 100 * (1 - 1 / x), group: isMarked || i === 0 ? group.id : null,
    text: [label, `${percentile(group, i)}: ${inNs(ns)}`],
  })));
  const row = (name, group) => ([x, ns], i) => ({
    group: group.id, cells: [name, group.message, i === group.curve.length - 1 ? "100" : percentText(x), inNs(ns)],
  });
  const name = namer(known);
  return {
    title: "Distribution of the latencies", note: found.note,
    chart: {
      lines: found.lines, height: HEIGHT, x: latencyAxis("Latency", found.drawn),
      y: {
        title: "Samples that are no longer, %", isLog: false, low: 0, high: 100,
        ticks: [0, 25, 50, 75, 100].map((percent) => [percent, String(percent)]),
      },
    },
    table: {
      head: ["Settings", "Message", "Samples, %", "No longer than"],
      rows: known.flatMap((group) => group.curve.map(row(name(group), group))),
    },
  };
}

// The latency in each second: the chosen metric, or the median if the chosen metric is no latency.
function timePlot(chosen, groups) {
  const index = chosen < 4 ? chosen : 0;
  const metric = DATA.metrics[index];
  const known = groups.filter((group) => group.seconds.some(([, values]) => values[index] !== null));
  const points = (group) => group.seconds.filter(([, values]) => values[index] !== null);
  const found = lines(known, (group, label) => points(group).map(([at, values]) => ({
    x: at, y: values[index], group: group.id, text: [label, `second ${shortNumber(at)}: ${inNs(values[index])}`],
  })));
  const all = found.drawn.flatMap((group) => points(group).map(([, values]) => values[index]));
  const last = Math.max(0, ...found.drawn.flatMap((group) => points(group).map(([at]) => at)));
  const name = namer(known);
  const row = (group) => ([second, values]) => ({
    group: group.id, cells: [name(group), group.message, shortNumber(second), inNs(values[index])],
  });
  return {
    title: `${metric.name} over time`, note: found.note,
    chart: {
      lines: found.lines, height: HEIGHT, y: valueAxis(`${metric.name} of each second`, "ns", all),
      x: { title: "Time since the start of the run, s", isLog: false, low: 0, high: last * 1.05, ticks: linearTicks(last, "") },
    },
    table: { head: ["Settings", "Message", "Second", metric.name], rows: known.flatMap((group) => points(group).map(row(group))) },
  };
}

// A figure of a topology: a mark for each group of runs.
function robotPlot(figure) {
  const rows = figure.rows.map(({ label, middleware, variant, median, low, high, shown }) => ({
    label, look: look(middleware, variant), x: median, low, high, group: "", shown: shown[0],
    text: [label, `${figure.name}: ${shown[0]}`, `interval ${shown[1]} to ${shown[2]}`],
  }));
  const values = figure.rows.flatMap(({ low, high }) => [low, high]);
  return {
    title: figure.name, note: "", chart: { rows, x: valueAxis(figure.name, figure.unit, values) },
    table: { head: ["Settings", "", "Median", "Interval from", "to"], rows: figure.rows.map(({ label, shown }) => ({ group: null, cells: [label, "", ...shown] })) },
  };
}
