// The look of the lines. Lines differ without colour, too, and Gantry has the same colour everywhere.

const COLOURS = 7;
const DASHES = ["none", "7 4", "2 3", "8 3 2 3"];
const GANTRY = "gantry";
const OTHERS = [...new Set(DATA.series.map((series) => series.middleware))].filter((name) => name !== GANTRY).sort();

// A middleware has a colour and a symbol. A variant of its settings has a dash pattern and a filled or open symbol. The
// numbers of symbols and of colours have no common factor, so 70 middlewares look different.
function look(middleware, variant) {
  const index = OTHERS.indexOf(middleware);
  return {
    colour: middleware === GANTRY ? "var(--gantry)" : `var(--c${Math.max(0, index) % COLOURS})`,
    shape: middleware === GANTRY ? 0 : 1 + (Math.max(0, index) % (SHAPES.length - 1)),
    isOpen: variant % 2 === 1,
    dash: DASHES[variant % DASHES.length],
    isGantry: middleware === GANTRY,
  };
}

// A short piece of a line with its symbol, for the legend.
function swatch({ colour, shape, isOpen, dash }, isJoined) {
  const key = svg("svg", { width: 34, height: 14, viewBox: "0 0 34 14", "aria-hidden": "true" });
  key.style.color = colour;
  if (isJoined) key.append(svg("path", { d: "M1 7H33", class: "stroke", "stroke-dasharray": dash }));
  key.append(symbol(shape, 17, 7, 4.5, { class: isOpen ? "symbol open" : "symbol" }));
  return key;
}
