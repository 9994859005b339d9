// The axes of the plots: { title, isLog, low, high, ticks: [[value, text], …] }.

const TIME_UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

function shortNumber(value) {
  return String(Number(value.toPrecision(3)));
}

function inUnit(value, unit) {
  if (value === null || value === undefined) return "-";
  if (unit === "ns") {
    const [size, name] = TIME_UNITS.find(([size]) => value >= size) ?? [1, "ns"];
    return `${shortNumber(value / size)} ${name}`;
  }
  if (unit === "KiB") return value >= 1 << 20 ? `${shortNumber(value / (1 << 20))} GiB` : `${shortNumber(value / 1024)} MiB`;
  if (unit === "B/s") return `${shortNumber(value / 1e6)} MB/s`;
  return unit && unit !== "ns" ? `${shortNumber(value)} ${unit}` : shortNumber(value);
}

function inNs(value) {
  return inUnit(value, "ns");
}

// The pixel of a value on an axis between two pixels. A value beyond the axis gets the pixel of the axis's end.
function placer(axis, from, to) {
  const on = axis.isLog ? (value) => Math.log10(Math.max(value, axis.low)) : (value) => value;
  const [low, high] = [on(axis.low), on(axis.high)];
  const part = (value) => Math.min(1, Math.max(0, (on(value) - low) / (high - low || 1)));
  return (value) => from + (to - from) * part(value);
}

// The axis is logarithmic if the values span more than a decade.
function valueAxis(title, unit, values) {
  const known = values.filter((value) => value > 0);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  if (!known.length || known.length < values.length || unit === "" || high / low < 3) {
    return { title, isLog: false, low: 0, high: known.length ? high * 1.08 : 1, ticks: linearTicks(high, unit) };
  }
  const pad = (high / low) ** 0.06;
  return { title, isLog: true, low: low / pad, high: high * pad, ticks: logTicks(low / pad, high * pad, unit) };
}

// Ticks at 1, 2 and 5 of each decade, or fewer ticks if there are many decades.
function logTicks(low, high, unit) {
  // Labels in KiB would be no round numbers, so labels are in MiB.
  const base = unit === "KiB" ? 1024 : 1;
  const [first, last] = [Math.floor(Math.log10(low / base)), Math.ceil(Math.log10(high / base))];
  const steps = last - first > 4 ? [1] : last - first > 2 ? [1, 3] : [1, 2, 5];
  const ticks = [];
  for (let decade = first; decade <= last; decade += 1) {
    for (const step of steps) ticks.push(step * base * 10 ** decade);
  }
  return ticks.filter((tick) => tick >= low && tick <= high).map((tick) => [tick, inUnit(tick, unit)]);
}

function linearTicks(high, unit) {
  if (!(high > 0) || !Number.isFinite(high)) return [[0, "0"]];
  const scale = unit === "KiB" ? 1024 : 1;
  const power = 10 ** Math.floor(Math.log10(high / scale / 4));
  const step = [1, 2, 5, 10, 20].map((factor) => factor * power).find((step) => high / scale / step <= 6) * scale;
  const ticks = Array.from({ length: Math.floor((high * 1.08) / step) + 1 }, (_, i) => i * step);
  return ticks.map((tick) => [tick, tick ? inUnit(tick, unit) : "0"]);
}
