"use strict";
// The filters: native controls, whose state is in the URL of the page.

const DATA = JSON.parse(document.getElementById("data").textContent);
const FILTERS = document.getElementById("filters");
const { experiment: EXPERIMENT, message: MESSAGE, metric: METRIC } = FILTERS.elements;
const MIDDLEWARES = DATA.middlewares.map((name) => {
  const [label, box] = ["label", "input"].map((tag) => document.createElement(tag));
  Object.assign(box, { type: "checkbox", name: "middleware", value: name.toLowerCase(), defaultChecked: true });
  label.append(box, ` ${name}`);
  document.getElementById("none").before(label, "\n");
  return box;
});
DATA.groups.forEach((group, id) => { group.id = id; });
EXPERIMENT.append(...DATA.experiments.map((name) => new Option(name)));
// The groups are ordered by message size.
const NAMES = new Map(DATA.groups.map((group) => [group.key, group.message]));
MESSAGE.append(...[...NAMES].map(([key, name]) => new Option(name, key)));
METRIC.append(...DATA.metrics.map((metric) => new Option(metric.name, metric.key)));

function selection() {
  return {
    middlewares: new Set(MIDDLEWARES.filter((box) => box.checked).map((box) => box.value)),
    experiment: EXPERIMENT.value,
    message: MESSAGE.value,
    metric: Math.max(0, DATA.metrics.findIndex((metric) => metric.key === METRIC.value)),
  };
}

// Whether an element or a group with these values is selected; a run without figures has no message.
function isSelected(selected, { middleware, message, experiment }) {
  return selected.middlewares.has(middleware) && (!selected.message || !message || message === selected.message)
    && isOfExperiment(selected, experiment);
}

function isOfExperiment(selected, experiment) {
  return !selected.experiment || !experiment || experiment === selected.experiment;
}

// The messages of an experiment, by their sizes.
function messagesOf(experiment) {
  const of = DATA.groups.filter((group) => isOfExperiment({ experiment }, group.experiment));
  return [...new Set(of.map((group) => group.key))];
}

// Offers only the messages of the experiment. If the chosen message is not among them, chooses the largest.
function offerMessages(chosen) {
  const offered = messagesOf(EXPERIMENT.value);
  for (const option of MESSAGE.options) option.hidden = option.disabled = option.value !== "" && !offered.includes(option.value);
  const isOffered = chosen === "" || offered.includes(chosen);
  choose(MESSAGE, isOffered ? chosen : offered[offered.length - 1]);
}

function readAddress() {
  const address = new URLSearchParams(location.hash.slice(1));
  const names = address.getAll("middleware").map((name) => name.toLowerCase());
  for (const box of MIDDLEWARES) box.checked = !names.length || names.includes(box.value);
  choose(EXPERIMENT, address.get("experiment") ?? (address.has("message") ? "" : DATA.first));
  offerMessages(address.get("message"));
  choose(METRIC, address.get("metric"));
  return address.get("runs");
}

// Chooses an option of a control; if the option does not exist, the first one.
function choose(select, value) {
  select.selectedIndex = Math.max(0, [...select.options].findIndex((option) => option.value === value));
}

function writeAddress(runs) {
  const address = new URLSearchParams();
  const checked = MIDDLEWARES.filter((box) => box.checked);
  if (!checked.length) address.set("middleware", "");
  else if (checked.length < MIDDLEWARES.length) for (const box of checked) address.append("middleware", box.value);
  if (EXPERIMENT.options.length > 1) address.set("experiment", EXPERIMENT.value);
  address.set("message", MESSAGE.value);
  if (METRIC.selectedIndex > 0) address.set("metric", METRIC.value);
  if (runs) address.set("runs", runs);
  history.replaceState(null, "", "#" + address);
}
