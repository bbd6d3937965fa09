// Which colours mean what: the layers that are drawn, or the scale.
import { CHANGE } from "./paint.js";

const points = (share) => `${Number((100 * share).toPrecision(2))} pp`;
const HEAT = ["low self time", "high self time"];

// `said` formats a step of a comparison, given as a share of the whole: percentage points, unless amounts are compared.
export function legend(list, graph, paint, { said = points } = {}) {
  list.replaceChildren(...entries(graph, paint, said).map(([colour, words]) => {
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

function entries(graph, paint, said) {
  const { palette, scheme, mode } = paint;
  if (mode === "change") return steps(palette.change[scheme], said);
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

// A colour for each step: less, unchanged, more. With few samples, steps that read the same become one: the strongest.
function steps(colours, said) {
  const middle = CHANGE.length;
  const words = CHANGE.map(said);
  const told = [...words.keys()].filter((at) => words[at] !== words[at + 1]);
  return [
    ...told.map((at) => [colours[middle - 1 - at], `−${words[at]} or more`]).reverse(),
    [colours[middle], "about the same"],
    ...told.map((at) => [colours[middle + 1 + at], `+${words[at]} or more`]),
  ];
}

// The packages with the most self value among what is drawn.
function largest(drawing) {
  const own = new Map();
  for (const level of drawing.levels) {
    level.name.forEach((name, i) => {
      if (name >= 0) own.set(drawing.package[name], (own.get(drawing.package[name]) ?? 0) + level.own[i]);
    });
  }
  return [...own].sort((one, other) => other[1] - one[1]).slice(0, 10).map(([at]) => at);
}
