// Callers and callees of one function, each a graph of its own; callers grow upwards from it, callees down.
import { Explorer } from "./explorer.js";
import { Graph } from "./graph.js";
import { Source } from "./source.js";
import { amount, percent } from "./words.js";

export class Sandwich {
  constructor(root, paint, { address, unit, picked }) {
    Object.assign(this, { root, paint, address, unit, picked });
    this.halves = null;
  }

  // Show one function by its code.
  async show(code) {
    this.root.hidden = false;
    this.halves ??= ["callers", "callees"].map((side) => this.half(side));
    const [callers] = await Promise.all(this.halves.map((half) => half.open(code)));
    this.root.querySelector("[data-of]").textContent = callers.function;
    this.root.querySelector("[data-of-says]").textContent =
      `Everywhere it is called: total ${amount(callers.function_total, this.unit)}, ${percent(callers.function_total / (callers.total || 1))} of all; ` +
      `self ${amount(callers.function_self, this.unit)}, ${percent(callers.function_self / (callers.total || 1))}. Recursion counts once.`;
    return callers;
  }

  half(side) {
    const graph = new Graph(this.root.querySelector(`[data-half="${side}"] [data-graph]`), this.paint, { upright: side === "callers", share: 0.36 });
    let code = 0;
    // The server's root is the whole; here the function itself is shown as the root.
    const source = new Source((node) => this.address({ side, code, root: node || 1 }));
    const explorer = new Explorer(graph, source);
    this.picked(graph);
    return {
      graph,
      open: async (next) => {
        code = next;
        await explorer.open(0);
        return graph.drawing;
      },
    };
  }

  hide() {
    this.root.hidden = true;
  }
}
