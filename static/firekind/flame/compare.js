// The page of a comparison: one graph of both sides, coloured by what changed.
import { Explorer } from "./explorer.js";
import { Graph } from "./graph.js";
import { legend } from "./legend.js";
import { Paint } from "./paint.js";
import { Panel } from "./panel.js";
import * as place from "./place.js";
import { Search } from "./search.js";
import { Source } from "./source.js";
import { amount, count, percent, points } from "./words.js";

const viewer = document.getElementById("viewer");
const palette = JSON.parse(document.getElementById("palette").textContent);
const { boxes, search: searched, unit } = viewer.dataset;
const part = (name) => viewer.querySelector(`[data-${name}]`);
const act = (name) => viewer.querySelector(`[data-act="${name}"]`);
const WIDTHS = ["both", "before", "after"];
viewer.hidden = false;

let width = "both", absolute = false;
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
  const [before, after] = answer.shares;
  const functions = `${count(answer.functions)} ${answer.functions === 1 ? "function" : "functions"}`;
  return `Matched ${percent(before)} before, ${percent(after)} after (${points(after - before)}) in ${functions}.`;
};

function address(door, asked) {
  const query = new URLSearchParams(Object.entries({ width, absolute: absolute ? 1 : "", ...asked }).filter(([, value]) => value));
  return `${door}&${query}`;
}

// By how much a frame changed: of each side's own total, or of the larger total.
function changed(drawing, [before, after]) {
  const [one, other] = drawing.totals;
  return drawing.absolute ? (after - before) / (Math.max(one, other) || 1) : after / (other || 1) - before / (one || 1);
}

function facts({ drawing }, box) {
  const [before, after] = box.more, [one, other] = drawing.totals;
  const told = [
    ["Before", `${amount(before, unit)} · ${percent(before / (one || 1))}`],
    ["After", `${amount(after, unit)} · ${percent(after / (other || 1))}`],
    ["Change", `${drawing.absolute ? signed(after - before) : points(changed(drawing, box.more))}${word(before, after)}`],
  ];
  return told;
}

function word(before, after) {
  if (before && !after) return ", gone";
  return after && !before ? ", new" : "";
}

function signed(value) {
  return `${value > 0 ? "+" : value < 0 ? "−" : "±"}${amount(Math.abs(value), unit)}`;
}

function redraw() {
  graph.later();
  legend(part("legend"), graph, paint);
  const sides = { both: "both sides together", before: "the side before", after: "the side after" }[width];
  part("scale").textContent = `Widths follow ${sides}; colours and numbers are ${absolute ? "absolute, as counted." : "normalised: shares of each side's own total."}`;
}

function look() {
  const view = place.read();
  width = WIDTHS.includes(view.get("width")) ? view.get("width") : "both";
  absolute = view.get("absolute") === "1";
  for (const button of viewer.querySelectorAll("[data-width]")) button.setAttribute("aria-pressed", String(button.dataset.width === width));
  for (const button of viewer.querySelectorAll("[data-absolute]")) button.setAttribute("aria-pressed", String((button.dataset.absolute === "1") === absolute));
  act("flip").setAttribute("aria-pressed", String(graph.upright));
}

async function begin() {
  look();
  const at = Number(place.read().get("at")) || 0;
  try {
    await explorer.open(at);
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

explorer.addEventListener("step", (event) => place.write({ at: event.detail || "" }, { step: true }));
explorer.addEventListener("went", () => {
  act("home").disabled = !explorer.aim;
  panel.trail();
  legend(part("legend"), graph, paint);
});
explorer.addEventListener("busy", (event) => viewer.classList.toggle("busy", event.detail));
explorer.addEventListener("trouble", (event) => { part("trouble").textContent = event.detail; });
viewer.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.dataset.act) ACTS[button.dataset.act]?.();
  if (button?.dataset.width) place.write({ width: button.dataset.width === "both" ? "" : button.dataset.width });
  if (button?.dataset.absolute) place.write({ absolute: button.dataset.absolute === "1" ? "1" : "" });
  if (button?.dataset.width || button?.dataset.absolute) begin();
});
addEventListener("popstate", () => begin());
paint.onScheme(redraw);
await begin();
search.field.value = place.read().get("q") ?? "";
if (search.words) await search.run();
viewer.dataset.ready = "true";
viewer.flame = { graph, explorer, source };
