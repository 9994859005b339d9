// SVG elements, the widths of texts, and the symbols of the marks.

const SVG = "http://www.w3.org/2000/svg";
const PEN = document.createElement("canvas").getContext("2d");

function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function textWidth(text, size) {
  PEN.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  return PEN.measureText(text).width;
}

// Breaks a text into lines of at most `most` pixels. A single longer word is its own line.
function wrapped(text, size, most) {
  const lines = [];
  for (const word of text.split(" ")) {
    const longer = lines.length ? `${lines[lines.length - 1]} ${word}` : word;
    if (lines.length && textWidth(longer, size) <= most) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.map((line) => shortened(line, size, most));
}

function shortened(text, size, most) {
  let shown = text;
  while (shown.length > 1 && textWidth(shown, size) > most) shown = `${shown.slice(0, -2)}…`;
  return shown;
}

function polygon(corners) {
  return `M${corners.map(([x, y]) => `${x.toFixed(2)} ${y.toFixed(2)}`).join("L")}Z`;
}

// Corners on a circle of radius 1, the first one at the top. In a star, every second corner is on a smaller circle.
function regular(count, turn = 0, inner = 1) {
  return Array.from({ length: count }, (_, i) => {
    const [angle, radius] = [turn + (i / count) * 2 * Math.PI, i % 2 ? inner : 1];
    return [radius * Math.sin(angle), -radius * Math.cos(angle)];
  });
}

const CROSS = [[-0.35, -1], [0.35, -1], [0.35, -0.35], [1, -0.35], [1, 0.35], [0.35, 0.35], [0.35, 1], [-0.35, 1],
  [-0.35, 0.35], [-1, 0.35], [-1, -0.35], [-0.35, -0.35]];
const SHAPES = [
  regular(24), regular(4, Math.PI / 4), regular(4), regular(3), CROSS, regular(3, Math.PI),
  CROSS.map(([x, y]) => [(x - y) * 0.75, (x + y) * 0.75]), regular(5), regular(10, 0, 0.45), regular(12, 0, 0.6),
  [[-1, -0.9], [0, 0], [1, -0.9], [1, 0.9], [0, 0], [-1, 0.9]],
];

// A symbol that is centred at a point.
function symbol(shape, x, y, radius, attributes = {}) {
  const corners = SHAPES[shape % SHAPES.length].map(([dx, dy]) => [x + dx * radius, y + dy * radius]);
  return svg("path", { d: polygon(corners), ...attributes });
}
