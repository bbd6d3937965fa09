// The page of a comparison: one graph of both sides, coloured by what changed.
import { Explorer } from "./explorer.js";
import { Graph } from "./graph.js";
import { legend } from "./legend.js";
import { Paint } from "./paint.js";
import { Panel } from "./panel.js";
import * as place from "./place.js";
import { Search } from "./search.js";
import { Source } from "./source.js";
import { amount, count, difference, percent, points } from "./words.js";

const viewer = document.getElementById("viewer");
const palette = JSON.parse(document.getElementById("palette").textContent);
const { boxes, search: searched, unit } = viewer.dataset;
const part = (name) => viewer.querySelector(`[data-${name}]`);
const act = (name) => viewer.querySelector(`[data-act="${name}"]`);
const WIDTHS = ["both", "before", "after"];
viewer.hidden = false;

let width = "both";
const absolute = viewer.dataset.absolute !== undefined;
const paint = new Paint(palette, "change");
const graph = new Graph(part("graph"), paint, { upright: place.read().get("root") === "bottom" });
const source = new Source((root) => address(boxes, { root }), (drawing) => {
  drawing.change = (box) => changed(drawing, box.more);
  return drawing;
});
const explorer = new Explorer(graph, source);
const panel = new Panel(viewer, graph, { palette, facts });
const search = new Search(document.getElementById("q"), part("matched"), {
  unit,
  address: (words) => address(searched, { q: words }),
  found: (codes, words) => {
    paint.highlight(codes);
    place.write({ q: words });
    redraw();
  },
});
search.sentence = (answer) => {
  if (!answer.functions) return "No function matches.";
  const [before, after] = absolute ? answer.totals.map((one) => amount(one, unit)) : answer.shares.map(percent);
  const change = absolute ? difference(answer.totals[1] - answer.totals[0], unit) : points(answer.shares[1] - answer.shares[0]);
  const functions = `${count(answer.functions)} ${answer.functions === 1 ? "function" : "functions"}`;
  return `Matched ${before} before, ${after} after (${change}) in ${functions}.`;
};

function address(door, asked) {
  const query = new URLSearchParams(Object.entries({ width, ...asked }).filter(([, value]) => value));
  return `${door}&${query}`;
}

// How much a frame changed: as a share of each side's own total, or of the larger total.
function changed(drawing, [before, after]) {
  const [one, other] = drawing.totals;
  return drawing.absolute ? (after - before) / (Math.max(one, other) || 1) : after / (other || 1) - before / (one || 1);
}

function facts({ drawing }, box) {
  const [before, after] = box.more, [one, other] = drawing.totals;
  const told = [
    ["Before", `${amount(before, unit)} · ${percent(before / (one || 1))}`],
    ["After", `${amount(after, unit)} · ${percent(after / (other || 1))}`],
    ["Change", `${drawing.absolute ? difference(after - before, unit) : points(changed(drawing, box.more))}${word(before, after)}`],
  ];
  return told;
}

function word(before, after) {
  if (before && !after) return ", gone";
  return after && !before ? ", new" : "";
}

// A step of the legend: of the larger total if amounts are compared. Half a sample does not exist, so counts round up.
function step(share) {
  return amount(Math.ceil(share * Math.max(...graph.drawing.totals)), unit);
}

function colours() {
  if (!graph.drawing) return;
  legend(part("legend"), graph, paint, absolute ? { said: step } : {});
}

function redraw() {
  graph.later();
  colours();
  const sides = { both: "before and after added up", before: "before", after: "after" }[width];
  part("shown").textContent = `Width: ${sides}. Colour: ${absolute ? "change in amount" : "change in share of each side's total"}.`;
}

function look() {
  const view = place.read();
  width = WIDTHS.includes(view.get("width")) ? view.get("width") : "both";
  for (const button of viewer.querySelectorAll("[data-width]")) button.setAttribute("aria-pressed", String(button.dataset.width === width));
  act("flip").setAttribute("aria-pressed", String(graph.upright));
}

async function begin() {
  look();
  const view = place.read();
  try {
    if (!(await explorer.linked(view))) part("trouble").textContent = place.lost(view.get("frame"));
  } catch (error) {
    part("trouble").textContent = error.message;
  }
  redraw();
}

const ACTS = {
  flip: () => {
    graph.flip(!graph.upright);
    place.write({ root: graph.upright ? "bottom" : "" });
    look();
  },
  home: () => explorer.go(0),
  link: async () => {
    await navigator.clipboard?.writeText(location.href);
    document.dispatchEvent(new CustomEvent("firekind:did", { detail: { said: "Link copied." } }));
  },
  find: () => {
    search.field.value = part("name").textContent;
    search.run();
  },
};

explorer.addEventListener("step", (event) => place.write(explorer.linking(event.detail), { step: true }));
explorer.addEventListener("went", () => {
  act("home").disabled = !explorer.aim;
  panel.trail();
  colours();
});
explorer.addEventListener("busy", (event) => viewer.classList.toggle("busy", event.detail));
explorer.addEventListener("trouble", (event) => { part("trouble").textContent = event.detail; });
viewer.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.dataset.act) ACTS[button.dataset.act]?.();
  if (button?.dataset.width) place.write({ width: button.dataset.width === "both" ? "" : button.dataset.width });
  if (button?.dataset.width) begin();
});
// Another scale is another page, which shows the same view: same zoom, search and orientation.
document.querySelector(".scales").addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (!link) return;
  const view = place.read();
  view.delete("page");
  view.delete("absolute");
  if (link.dataset.scale === "absolute") view.set("absolute", "1");
  link.href = `?${view.toString().replaceAll("%2C", ",")}`;
});
addEventListener("popstate", () => begin());
paint.onScheme(redraw);
await begin();
search.field.value = place.read().get("q") ?? "";
if (search.words) await search.run();
viewer.dataset.ready = "true";
viewer.flame = { graph, explorer, source };
