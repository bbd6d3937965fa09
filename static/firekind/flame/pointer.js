// The graph by mouse, pen and finger: a click zooms; a tap selects, a second one zooms, two fingers stretch.
const TWICE_MS = 350;

export function pointer(graph) {
  const node = graph.canvas.node;
  const down = new Map();
  let tapped = null, pinch = null, moved = false;

  const box = (event) => {
    const edge = node.getBoundingClientRect();
    return graph.at(event.clientX - edge.left, event.clientY - edge.top);
  };
  node.addEventListener("pointermove", (event) => {
    if (event.pointerType === "mouse") {
      graph.pointer = [event.clientX, event.clientY];
      graph.point(box(event));
      graph.tell("moved", graph.hover);
    }
    if (!down.has(event.pointerId)) return;
    const from = down.get(event.pointerId);
    if (Math.hypot(event.clientX - from.x, event.clientY - from.y) > 8) moved = true;
    if (pinch && down.size === 2) {
      from.now = event.clientX;
      stretch();
    }
  });
  node.addEventListener("pointerleave", () => graph.point(null));
  node.addEventListener("pointerdown", (event) => {
    down.set(event.pointerId, { x: event.clientX, y: event.clientY, now: event.clientX });
    moved = false;
    if (down.size === 2) begin();
  });
  for (const kind of ["pointerup", "pointercancel"]) {
    addEventListener(kind, (event) => {
      down.delete(event.pointerId);
      if (down.size < 2) pinch = null;
    });
  }
  node.addEventListener("click", (event) => {
    const hit = box(event);
    if (!hit || moved) return;
    if (event.pointerType !== "touch") {
      graph.select(hit, { into: false });
      graph.ask(hit);
      return;
    }
    const again = tapped && tapped.node === hit.node && event.timeStamp - tapped.at < TWICE_MS;
    tapped = { node: hit.node, at: event.timeStamp };
    graph.select(hit, { into: false });
    if (again) graph.ask(hit);
  });
  node.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return slide(event);
    event.preventDefault();
    const edge = node.getBoundingClientRect();
    about((event.clientX - edge.left) / edge.width, Math.exp(Math.min(50, Math.max(-50, event.deltaY)) / 100));
  }, { passive: false });

  function slide(event) {
    if (Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
    event.preventDefault();
    const by = (event.deltaX / graph.canvas.width) * (graph.to - graph.from);
    graph.range(graph.from + by, graph.to + by);
  }

  function about(part, factor) {
    const span = graph.to - graph.from, middle = graph.from + span * part;
    graph.range(middle - span * part * factor, middle + span * (1 - part) * factor);
  }

  function begin() {
    const [one, other] = [...down.values()];
    const edge = node.getBoundingClientRect();
    pinch = { span: Math.max(24, Math.abs(one.now - other.now)), from: graph.from, to: graph.to, edge, middle: (one.now + other.now) / 2 };
    graph.cancel();
  }

  function stretch() {
    const [one, other] = [...down.values()];
    const now = Math.max(24, Math.abs(one.now - other.now)), factor = pinch.span / now;
    const part = (pinch.middle - pinch.edge.left) / pinch.edge.width;
    const drift = ((one.now + other.now) / 2 - pinch.middle) / pinch.edge.width;
    const span = pinch.to - pinch.from, middle = pinch.from + span * part, wide = span * factor;
    graph.range(middle - wide * (part + drift), middle + wide * (1 - part - drift));
  }
}
