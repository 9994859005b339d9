"use strict";
// The filters: native controls, whose state stands in the address of the page.

const DATA = JSON.parse(document.getElementById("data").textContent);
const FILTERS = document.getElementById("filters");
const MIDDLEWARES = [...FILTERS.querySelectorAll("input[name=middleware]")];

function selection() {
  return {
    middlewares: new Set(MIDDLEWARES.filter((box) => box.checked).map((box) => box.value)),
    message: FILTERS.elements.message.value,
    metric: Math.max(0, DATA.metrics.findIndex((metric) => metric.key === FILTERS.elements.metric.value)),
  };
}

// Whether an element or a group with these values is selected; a run without figures has no message.
function isSelected(selected, middleware, message) {
  return selected.middlewares.has(middleware) && (!selected.message || !message || message === selected.message);
}

function readAddress() {
  const address = new URLSearchParams(location.hash.slice(1));
  const names = address.getAll("middleware").map((name) => name.toLowerCase());
  for (const box of MIDDLEWARES) box.checked = !names.length || names.includes(box.value);
  choose(FILTERS.elements.message, address.get("message"));
  choose(FILTERS.elements.metric, address.get("metric"));
  return address.get("runs");
}

// Chooses an option, or the first one if there is no such option.
function choose(select, value) {
  select.selectedIndex = Math.max(0, [...select.options].findIndex((option) => option.value === value));
}

function writeAddress(runs) {
  const address = new URLSearchParams();
  const checked = MIDDLEWARES.filter((box) => box.checked);
  if (!checked.length) address.set("middleware", "");
  else if (checked.length < MIDDLEWARES.length) for (const box of checked) address.append("middleware", box.value);
  if (FILTERS.elements.message.selectedIndex > 0) address.set("message", FILTERS.elements.message.value);
  if (FILTERS.elements.metric.selectedIndex > 0) address.set("metric", FILTERS.elements.metric.value);
  if (runs) address.set("runs", runs);
  history.replaceState(null, "", "#" + address);
}
