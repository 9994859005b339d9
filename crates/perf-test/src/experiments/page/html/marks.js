// Marks are links to their runs. The Tab key reaches one mark of each chart, and the arrow keys reach the others. The
// nearest mark of the pointer, or the one with the focus, has its text in a box.

const NEAR = 24;

function nameMarks(place) {
  place.marks.forEach(({ element, group, text }, i) => {
    element.dataset.group = group;
    element.setAttribute("role", "link");
    element.setAttribute("aria-label", text.join(", "));
    element.setAttribute("tabindex", i ? "-1" : "0");
  });
}

function listenTo(place) {
  place.addEventListener("pointermove", (event) => showTip(place, nearest(place, event)));
  place.addEventListener("pointerleave", () => showTip(place, null));
  place.addEventListener("click", (event) => follow(nearest(place, event)));
  place.addEventListener("focusin", (event) => showTip(place, place.marks.find((mark) => mark.element === event.target)));
  place.addEventListener("focusout", () => showTip(place, null));
  place.addEventListener("keydown", (event) => moveAmongMarks(place, event));
}

function nearest(place, event) {
  const picture = place.querySelector("svg");
  const box = picture.getBoundingClientRect();
  const scale = picture.viewBox.baseVal.width / box.width;
  const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
  let best = null;
  let least = NEAR;
  for (const mark of place.marks) {
    const distance = Math.hypot(mark.x - x, mark.y - y);
    if (distance < least) [best, least] = [mark, distance];
  }
  return best;
}

// The marks in a chart of topologies have no runs to link to.
function follow(mark) {
  if (mark && mark.group !== "") showRuns(mark.group);
}

function showTip(place, mark) {
  const tip = place.querySelector(".tip");
  place.querySelector("svg").style.cursor = mark ? "pointer" : "";
  tip.hidden = !mark;
  if (!mark) return;
  const line = (text, i) => Object.assign(document.createElement(i ? "div" : "strong"), { textContent: text });
  tip.replaceChildren(...mark.text.map(line));
  // Places the box beside the mark, within the chart.
  const room = place.clientWidth - tip.offsetWidth;
  tip.style.left = `${Math.max(0, Math.min(mark.x + 12, room))}px`;
  tip.style.top = `${Math.max(0, mark.y - tip.offsetHeight - 10)}px`;
}

function moveAmongMarks(place, event) {
  const index = place.marks.findIndex((mark) => mark.element === event.target);
  if (index < 0) return;
  if (event.key === "Enter") follow(place.marks[index]);
  if (event.key === "Escape") showTip(place, null);
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const next = place.marks[(index + step + place.marks.length) % place.marks.length];
  event.target.setAttribute("tabindex", "-1");
  next.element.setAttribute("tabindex", "0");
  next.element.focus();
}
