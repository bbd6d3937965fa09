// Drawings from the server: each is requested once, and cached while the page is open.
import { Drawing } from "./drawing.js";

export class Source {
  // `address(root)` is the URL of a drawing; `prepare` may add to it.
  constructor(address, prepare = (drawing) => drawing) {
    this.address = address;
    this.prepare = prepare;
    this.kept = new Map();
  }

  get(root) {
    const address = this.address(root);
    let entry = this.kept.get(address);
    if (!entry) {
      entry = { drawing: null };
      entry.asked = this.drawn(address).then((drawing) => (entry.drawing = drawing));
      entry.asked.catch(() => this.kept.delete(address));
      this.kept.set(address, entry);
    }
    return entry.finer ?? entry.asked;
  }

  // The same with more boxes: requested once the first ones are on the screen.
  more(root, most) {
    const address = this.address(root);
    const entry = this.kept.get(address);
    if (!entry?.drawing?.pruned) return null;
    entry.finer ??= this.drawn(`${address}&most=${most}`).then((drawing) => (entry.drawing = drawing), () => entry.drawing);
    return entry.finer;
  }

  async drawn(address) {
    return this.prepare(new Drawing(await ask(address)));
  }

  // A loaded drawing that has `node` among its boxes, finest first; `above` are its callers, root first.
  holding(node, above) {
    for (const root of [node, ...above.toReversed()]) {
      const drawing = this.kept.get(this.address(root))?.drawing;
      const box = drawing?.find(node);
      if (box && !box.lead) return [drawing, box];
    }
    return null;
  }
}

export async function ask(address, { signal } = {}) {
  const response = await fetch(address, { headers: { Accept: "application/json" }, signal, credentials: "same-origin" });
  const kind = response.headers.get("Content-Type") ?? "";
  if (!kind.startsWith("application/json")) {
    throw new Error(response.redirected ? "You're signed out. Reload the page." : "Couldn't load this. Reload the page.");
  }
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.says ?? "Couldn't load this.");
  return answer;
}
