// Frames in words: next to the pointer, below the graph, and for screen readers.
import { amount, count, percent } from "./words.js";

export class Panel {
  constructor(root, graph, { palette, facts = sampled }) {
    this.root = root;
    this.graph = graph;
    this.palette = palette;
    this.facts = facts;
    this.tip = root.querySelector("[data-tip]");
    this.card = root.querySelector("[data-frame]");
    this.live = root.querySelector("[data-live]");
    this.left = root.querySelector("[data-left]");
    this.crumbs = root.querySelector("[data-crumbs]");
    graph.addEventListener("moved", (event) => this.hover(event.detail));
    graph.addEventListener("hovered", (event) => this.hover(event.detail));
    graph.addEventListener("focused", (event) => { this.tell(event.detail); this.say(event.detail); });
    graph.addEventListener("drawn", (event) => this.count(event.detail));
    this.crumbs?.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) graph.tell("ask", { node: Number(button.value) });
    });
  }

  name(box) {
    return this.graph.drawing.nameOf(box.name);
  }

  layer(box) {
    if (box.name < 0) return "";
    const { drawing } = this.graph;
    const layer = this.palette.layers[drawing.layers[box.name]];
    const kept = drawing.packages[drawing.package[box.name]];
    return kept && kept !== layer.key ? `${layer.label} · ${kept}` : layer.label;
  }

  hover(box) {
    if (!box || !this.graph.pointer) { this.tip.hidden = true; return; }
    this.tip.replaceChildren(
      made("strong", this.name(box)),
      ...this.facts(this.graph, box).slice(0, 3).map(([word, value]) => made("span", `${word} ${value}`)),
      made("small", this.layer(box)),
    );
    this.tip.hidden = false;
    const [x, y] = this.graph.pointer;
    const wide = this.tip.offsetWidth, high = this.tip.offsetHeight;
    const left = Math.min(Math.max(8, x + 14), innerWidth - wide - 8);
    const top = y + 20 + high > innerHeight ? y - high - 12 : y + 20;
    this.tip.style.transform = `translate(${left}px, ${Math.max(8, top)}px)`;
  }

  // Show one frame in full.
  tell(box) {
    if (!this.card || !box) return;
    this.card.dataset.code = box.name < 0 ? "" : this.graph.drawing.codeAt[box.name];
    this.card.dataset.node = box.node;
    this.card.querySelector("[data-name]").textContent = this.name(box);
    this.card.querySelector("[data-layer]").textContent = this.layer(box);
    this.card.querySelector("dl").replaceChildren(...this.facts(this.graph, box).map(([word, value]) => {
      const pair = made("div", "");
      pair.append(made("dt", word), made("dd", value));
      return pair;
    }));
    this.card.classList.add("chosen");
    for (const button of this.card.querySelectorAll("button[data-of-function]")) button.disabled = box.name < 0;
    this.card.hidden = false;
  }

  say(box) {
    clearTimeout(this.saying);
    const facts = this.facts(this.graph, box).map(([word, value]) => `${word} ${value}`).join(", ");
    this.saying = setTimeout(() => { this.live.textContent = `${this.name(box)}. ${facts}. ${this.layer(box)}.`; }, 120);
  }

  // Say what is not drawn.
  count({ narrow }) {
    if (!this.left) return;
    const { drawing } = this.graph;
    const hidden = narrow + drawing.pruned;
    const words = hidden
      ? `${count(hidden)} narrower ${hidden === 1 ? "frame" : "frames"} not shown. Zoom in to see them. Totals and search include them.`
      : "All frames shown.";
    if (this.left.textContent !== words) this.left.textContent = words;
  }

  // The callers of the zoomed frame, each a link back.
  trail() {
    if (!this.crumbs) return;
    const { drawing, zoomed } = this.graph;
    const above = [];
    for (let box = zoomed; box; box = drawing.parent(box)) above.unshift(box);
    this.crumbs.replaceChildren(...above.map((box, at) => {
      const last = at === above.length - 1;
      const item = document.createElement("li");
      const step = made(last ? "span" : "button", this.name(box));
      if (!last) { step.type = "button"; step.value = box.node; }
      if (last) step.setAttribute("aria-current", "true");
      item.append(step);
      return item;
    }));
    this.crumbs.hidden = above.length < 2;
    this.crumbs.scrollLeft = this.crumbs.scrollWidth;
  }
}

export function sampled(graph, box) {
  const { drawing, zoomed } = graph;
  const unit = drawing.unit;
  const within = zoomed?.width || drawing.total;
  const facts = [
    ["Total", `${amount(box.width, unit)} · ${percent(box.width / (drawing.total || 1))}`],
    ["Self", `${amount(box.own, unit)} · ${percent(box.own / (drawing.total || 1))}`],
  ];
  if (within !== drawing.total) facts.push(["Of zoomed frame", percent(Math.min(1, box.width / within))]);
  return facts;
}

export function made(tag, words) {
  const node = document.createElement(tag);
  node.textContent = words;
  return node;
}
