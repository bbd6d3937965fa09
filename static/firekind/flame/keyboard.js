// The graph by keyboard: arrows walk along parents, children and neighbours; Enter zooms in, Backspace out.
export function keyboard(graph) {
  graph.scroller.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !graph.drawing) return;
    const done = MOVES[event.key]?.(graph);
    if (done === undefined) return;
    event.preventDefault();
    event.stopPropagation();
  });
  graph.scroller.addEventListener("focus", () => {
    if (!graph.focus && graph.scroller.matches(":focus-visible")) graph.select(graph.zoomed, { into: false });
  });
}

const here = (graph) => graph.focus ?? graph.zoomed;
const inward = (graph) => graph.select(graph.drawing.child(here(graph))) ?? true;
const outward = (graph) => graph.select(graph.drawing.parent(here(graph))) ?? true;
const beside = (graph, by) => {
  const box = graph.drawing.beside(here(graph), by);
  if (box && box.x < graph.to && box.x + box.span > graph.from) graph.select(box);
  return true;
};
const stretch = (graph, factor) => {
  const middle = (graph.from + graph.to) / 2, half = ((graph.to - graph.from) / 2) * factor;
  graph.range(middle - half, middle + half);
  return true;
};
const slide = (graph, by) => graph.range(graph.from + (graph.to - graph.from) * by, graph.to + (graph.to - graph.from) * by) ?? true;

const MOVES = {
  ArrowDown: (graph) => (graph.upright ? outward(graph) : inward(graph)),
  ArrowUp: (graph) => (graph.upright ? inward(graph) : outward(graph)),
  ArrowLeft: (graph) => beside(graph, -1),
  ArrowRight: (graph) => beside(graph, 1),
  Enter: (graph) => graph.ask(here(graph)) ?? true,
  Backspace: (graph) => graph.ask(graph.drawing.parent(graph.zoomed)) ?? true,
  Escape: (graph) => graph.tell("home") ?? true,
  Home: (graph) => graph.tell("home") ?? true,
  "+": (graph) => stretch(graph, 0.6),
  "-": (graph) => stretch(graph, 1 / 0.6),
  "<": (graph) => slide(graph, -0.25),
  ">": (graph) => slide(graph, 0.25),
};
