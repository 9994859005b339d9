// Faults of the layout of the page: texts over each other or cut, a page wider than its window, headings below the
// filters, and colours with too little contrast.

const FAULTS = [];
const box = (element) => element.getBoundingClientRect();
const name = (element) => `${element.tagName}#${element.closest("[id]")?.id} "${element.textContent.trim().slice(0, 40)}"`;
const isShown = (element) => element.checkVisibility() && box(element).width > 0;

function meet(one, other) {
  const slack = 1;
  return one.left + slack < other.right && other.left + slack < one.right
    && one.top + slack < other.bottom && other.top + slack < one.bottom;
}

// No two of these may lie on each other.
function checkApart(elements, where) {
  const boxes = elements.filter(isShown).map((element) => [element, box(element)]);
  boxes.forEach(([one, of], i) => {
    for (const [other, place] of boxes.slice(i + 1)) {
      if (meet(of, place)) FAULTS.push(`${where}: ${name(one)} lies on ${name(other)}`);
    }
  });
}

function checkWithin(element, around) {
  const [inner, outer] = [box(element), box(around)];
  if (inner.left < outer.left - 1 || inner.right > outer.right + 1) FAULTS.push(`${name(element)} leaves ${name(around)}`);
}

// The box of a text is its line's box, with room above and below: its letters are less high.
function lettersApart(picture) {
  const texts = [...picture.querySelectorAll("text")].map((text) => {
    const { left, right, top, bottom, height } = box(text);
    return [text, { left, right, top: top + height * 0.2, bottom: bottom - height * 0.2 }];
  });
  texts.forEach(([one, of], i) => {
    checkWithin(one, picture);
    for (const [other, place] of texts.slice(i + 1)) {
      if (meet(of, place)) FAULTS.push(`${name(one)} lies on ${name(other)}`);
    }
  });
}

function luminance(colour) {
  const parts = colour.match(/[\d.]+/g).slice(0, 3).map((part) => part / 255);
  const linear = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return linear[0] * 0.2126 + linear[1] * 0.7152 + linear[2] * 0.0722;
}

function checkContrast(element, property, ground, least) {
  const [one, other] = [getComputedStyle(element)[property], getComputedStyle(ground).backgroundColor].map(luminance);
  const found = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  if (found < least) FAULTS.push(`${name(element)} has a contrast of ${found.toFixed(1)}, less than ${least}`);
}

function checkPage() {
  const wide = document.documentElement.scrollWidth;
  if (wide > innerWidth) FAULTS.push(`the page is ${wide} wide in a window of ${innerWidth}`);
  checkApart([...document.querySelectorAll("header > *, #filters > *, main > section")], "page");
  for (const section of document.querySelectorAll("main > section")) checkApart([...section.children], "section");
  for (const figure of document.querySelectorAll(".plots > figure")) {
    if (!figure.querySelector("svg")) FAULTS.push(`${figure.id} is not drawn`);
    checkApart([...figure.querySelectorAll("figcaption, .place > svg, .legend, details")], figure.id);
    checkApart([...figure.querySelectorAll(".legend li")], figure.id);
    for (const entry of figure.querySelectorAll(".legend li, .place > svg")) checkWithin(entry, figure);
    for (const picture of figure.querySelectorAll(".place > svg")) lettersApart(picture);
    for (const line of figure.querySelectorAll(".line")) checkContrast(line, "color", figure, 3);
    for (const text of figure.querySelectorAll(".place text")) checkContrast(text, "fill", figure, 4.5);
  }
  for (const text of document.querySelectorAll("h1, h2, .note, .headlines li")) checkContrast(text, "color", document.body, 4.5);
  const heads = [...document.querySelectorAll("#table thead th")].slice(0, 5);
  if (heads.map((head) => head.textContent).join(" ") !== "Middleware, settings Message p50 p99 lost") FAULTS.push("other columns");
  for (const head of heads) checkWithin(head, document.querySelector("#results .scroll"));
}

// A heading that a link leads to is not under the filters.
function checkJump() {
  document.querySelector('a[href="#results"]').click();
  const [heading, filters] = [box(document.getElementById("results-title")), box(document.getElementById("filters"))];
  const isUnder = heading.top < filters.bottom && getComputedStyle(document.getElementById("filters")).position === "sticky";
  if (isUnder) FAULTS.push(`the heading at ${heading.top} is under the filters, which end at ${filters.bottom}`);
}

setTimeout(() => {
  const theme = document.getElementById("theme");
  theme.value = THEME_OF_TEST;
  theme.dispatchEvent(new Event("change", { bubbles: true }));
  checkPage();
  document.documentElement.style.scrollBehavior = "auto";
  checkJump();
  parent.postMessage(FAULTS, "*");
}, 2000);
