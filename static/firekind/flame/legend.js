// Which colours mean what: the layers that are drawn, or the scale.
import { CHANGE } from "./paint.js";

const points = (share) => `${Number((100 * share).toPrecision(2))}`;
const HEAT = ["low self time", "high self time"];
// A colour for each step, the same in every comparison: less, as before, more.
const STEPS = [
  ...CHANGE.map((least) => `−${points(least)} pp or more`).reverse(),
  "as before",
  ...CHANGE.map((least) => `+${points(least)} pp or more`),
];

export function legend(list, graph, paint) {
  list.replaceChildren(...entries(graph, paint).map(([colour, words]) => {
    const item = document.createElement("li");
    const patch = document.createElement("canvas");
    patch.width = patch.height = 16;
    const context = patch.getContext("2d");
    context.fillStyle = colour;
    context.fillRect(0, 0, 16, 16);
    item.append(patch, words);
    return item;
  }));
}

function entries(graph, paint) {
  const { palette, scheme, mode } = paint;
  if (mode === "change") return palette.change[scheme].map((colour, at) => [colour, STEPS[at]]);
  if (mode === "heat") {
    const colours = palette.heat[scheme], words = HEAT;
    return words.map((word, at) => [colours[Math.round((at * (colours.length - 1)) / (words.length - 1))], word]);
  }
  const { drawing } = graph;
  if (!drawing) return [];
  if (mode === "package") return largest(drawing).map((at) => [drawing.package_colours[scheme][at], drawing.packages[at] || "other"]);
  const seen = [...new Set(drawing.layers)].sort((one, other) => one - other);
  return seen.map((at) => [palette.layers[at][scheme][2], palette.layers[at].label]);
}

// The packages with the most of their own among what is drawn.
function largest(drawing) {
  const own = new Map();
  for (const level of drawing.levels) {
    level.name.forEach((name, i) => {
      if (name >= 0) own.set(drawing.package[name], (own.get(drawing.package[name]) ?? 0) + level.own[i]);
    });
  }
  return [...own].sort((one, other) => other[1] - one[1]).slice(0, 10).map(([at]) => at);
}
