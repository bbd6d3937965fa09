// The page of one profile: connects the graph, the search, the sandwich and the tools, and keeps the view in the URL.
import { Explorer } from "./explorer.js";
import { Graph } from "./graph.js";
import { legend } from "./legend.js";
import { MODES, Paint } from "./paint.js";
import { Panel } from "./panel.js";
import * as place from "./place.js";
import { Sandwich } from "./sandwich.js";
import { Search } from "./search.js";
import { Source } from "./source.js";

const viewer = document.getElementById("viewer");
const palette = JSON.parse(document.getElementById("palette").textContent);
const { boxes, search: searched, function: sides, type, unit } = viewer.dataset;
const part = (name) => viewer.querySelector(`[data-${name}]`);
const act = (name) => viewer.querySelector(`[data-act="${name}"]`);
const now = place.read();
viewer.hidden = false;

let idle = now.get("idle") !== "0";
const paint = new Paint(palette, MODES.includes(now.get("colour")) ? now.get("colour") : "layer");
const graph = new Graph(viewer.querySelector("[data-whole] [data-graph]"), paint, { upright: upright() });
const source = new Source((root) => address(boxes, { root }));
const explorer = new Explorer(graph, source);
const panel = new Panel(viewer, graph, { palette });
const search = new Search(document.getElementById("q"), part("matched"), {
  unit,
  address: (words) => address(searched, { q: words, root: explorer.aim }),
  found: (codes, words) => {
    paint.highlight(codes);
    place.write({ q: words });
    redraw();
  },
});
const graphs = [graph];
const panels = [panel];
const sandwich = new Sandwich(part("sandwich"), paint, {
  unit,
  address: (asked) => address(sides, asked),
  picked: (half) => {
    graphs.push(half);
    panels.push(new Panel(viewer, half, { palette }));
  },
});
let chosen = graph;

function address(door, asked) {
  const query = new URLSearchParams({ type, ...asked });
  if (!idle) query.set("idle", "0");
  if (!asked.root) query.delete("root");
  return `${door}?${query}`;
}

function upright() {
  const asked = now.get("root");
  return asked ? asked === "bottom" : localStorage.getItem("flame-root") === "bottom";
}

function redraw() {
  for (const one of graphs) one.later();
  legend(part("legend"), chosen, paint);
}

function press(button, on) {
  button?.setAttribute("aria-pressed", String(on));
}

function colour(mode) {
  paint.use(mode);
  for (const button of viewer.querySelectorAll("[data-colour]")) press(button, button.dataset.colour === mode);
  place.write({ colour: mode === "layer" ? "" : mode });
  redraw();
}

function trouble(words) {
  part("trouble").textContent = words;
}

explorer.addEventListener("step", (event) => place.write({ ...explorer.linking(event.detail), range: "" }, { step: true }));
explorer.addEventListener("went", () => {
  trouble("");
  act("home").disabled = !explorer.aim;
  panel.trail();
  panel.tell(graph.focus);
  legend(part("legend"), graph, paint);
  if (search.words) search.run();
});
explorer.addEventListener("loose", (event) => {
  act("home").disabled = false;
  place.write({ ...explorer.linking(graph.drawing.root), range: event.detail.map((one) => one.toFixed(6)).join(",") });
});
explorer.addEventListener("busy", (event) => viewer.classList.toggle("busy", event.detail));
explorer.addEventListener("trouble", (event) => trouble(event.detail));

async function layered(code, { step = true, of = "" } = {}) {
  try {
    part("whole").hidden = true;
    const name = (await sandwich.show(code)).function;
    if (!name.startsWith(of)) {
      flat({ step: false });
      trouble(place.lost(of));
      return;
    }
    chosen = sandwich.halves[1].graph;
    place.write({ sandwich: code, of: name.slice(0, 100) }, { step });
    redraw();
  } catch (error) {
    flat({ step: false });
    trouble(error.message);
  }
}

function flat({ step = true } = {}) {
  sandwich.hide();
  part("whole").hidden = false;
  chosen = graph;
  if (step) place.write({ sandwich: "", of: "" }, { step });
  redraw();
}

async function begin() {
  const view = place.read();
  idle = view.get("idle") !== "0";
  press(act("idle"), !idle);
  press(act("flip"), graph.upright);
  try {
    const found = await explorer.linked(view);
    if (!found) trouble(place.lost(view.get("frame")));
    const range = (view.get("range") ?? "").split(",").map(Number);
    if (found && range.length === 2 && range[0] < range[1]) {
      graph.show(graph.drawing, { from: range[0] * graph.drawing.width, to: range[1] * graph.drawing.width });
      explorer.loose = true;
    }
  } catch (error) {
    trouble(error.message);
    if (view.get("at")) await explorer.open(0);
  }
  const code = view.get("sandwich");
  if (code) await layered(Number(code), { step: false, of: view.get("of") ?? "" });
  else if (!sandwich.root.hidden) flat({ step: false });
}

const ACTS = {
  flip: () => {
    graph.flip(!graph.upright);
    press(act("flip"), graph.upright);
    localStorage.setItem("flame-root", graph.upright ? "bottom" : "top");
    place.write({ root: graph.upright ? "bottom" : "top" });
  },
  idle: () => {
    place.write({ idle: idle ? "0" : "", at: "", range: "", frame: "" });
    begin().then(() => search.words && search.run());
  },
  home: () => explorer.go(0),
  link: () => copy(location.href, "Link copied."),
  copy: () => copy(part("name").textContent, "Name copied."),
  find: () => {
    search.field.value = part("name").textContent;
    search.run();
  },
  sandwich: () => part("frame").dataset.code && layered(Number(part("frame").dataset.code)),
  unsandwich: () => flat(),
};

async function copy(text, said) {
  try {
    await navigator.clipboard.writeText(text);
    document.dispatchEvent(new CustomEvent("firekind:did", { detail: { said } }));
  } catch {
    trouble(`Your browser blocked copying. Copy it from here: ${text}`);
  }
}

viewer.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.dataset.act) ACTS[button.dataset.act]?.();
  if (button?.dataset.colour) colour(button.dataset.colour);
});
viewer.addEventListener("keydown", (event) => {
  if (event.key !== "c" || event.ctrlKey || event.metaKey || event.altKey || !event.target.closest("[data-graph]")) return;
  event.preventDefault();
  event.stopPropagation();
  colour(MODES[(MODES.indexOf(paint.mode) + 1) % MODES.length]);
});
document.addEventListener("click", (event) => {
  const link = event.target.closest("a.function");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  layered(Number(link.dataset.code));
  viewer.scrollIntoView({ block: "start" });
});
document.getElementById("type")?.addEventListener("change", (event) => {
  const query = place.read();
  query.set("type", event.target.value);
  location.assign(`?${query}`);
});
addEventListener("popstate", () => begin());
paint.onScheme(redraw);

colour(paint.mode);
await begin();
search.field.value = place.read().get("q") ?? now.get("fn") ?? "";
if (search.words) await search.run();
viewer.dataset.ready = "true";
viewer.flame = { graph, explorer, source };
