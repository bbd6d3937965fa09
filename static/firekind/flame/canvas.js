// Draw the visible rows, and of their boxes the visible ones: never more than fits the canvas.
import { fitted } from "./words.js";

export const ROW = 19;
const LABEL = 26;

export class Canvas {
  constructor(node) {
    this.node = node;
    this.context = node.getContext("2d", { alpha: true });
    this.width = this.height = 0;
  }

  resize(width, height) {
    const ratio = Math.min(window.devicePixelRatio || 1, 3);
    this.ratio = ratio;
    this.width = width;
    this.height = height;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.node.width !== w) this.node.width = w;
    if (this.node.height !== h) this.node.height = h;
    const style = getComputedStyle(this.node);
    this.font = `${style.fontSize} ${style.fontFamily}`;
    this.context.font = this.font;
    this.character = this.context.measureText("0000000000").width / 10;
  }

  // `view`: drawing, from, to (range), top (scrolled by), rows, upright (root at the bottom), marks. Returns what was
  // left out.
  draw(view, paint) {
    const context = this.context;
    const seen = paint.of(view.drawing);
    const buckets = seen.colours.map(() => []);
    const labels = [];
    const scale = this.width / (view.to - view.from);
    let narrow = 0, drawn = 0;
    for (const [row, y] of this.visible(view)) {
      const lead = row < view.drawing.path.length;
      if (lead) {
        buckets[seen.lead[row]].push(0, y, this.width);
        labels.push([view.drawing.path[row][1], 0, y, this.width, seen.lead[row]]);
        drawn += 1;
        continue;
      }
      const depth = row - view.drawing.path.length;
      const level = view.drawing.levels[depth], places = seen.levels[depth];
      let last = -1;
      for (let i = level.from(view.from); i < level.length && level.x[i] < view.to; i += 1) {
        const left = Math.max(0, (level.x[i] - view.from) * scale);
        const right = Math.min(this.width, (level.x[i] + level.width[i] - view.from) * scale);
        const wide = right - left;
        if (wide < 1) {
          const pixel = Math.floor(left);
          if (pixel === last || wide < 0.4) { narrow += 1; if (pixel === last) continue; }
          last = pixel;
          buckets[places[i]].push(pixel, y, 1);
          drawn += 1;
          continue;
        }
        buckets[places[i]].push(left, y, wide > 3 ? wide - 1 : wide);
        drawn += 1;
        if (wide > LABEL) labels.push([level.name[i], left, y, wide, places[i]]);
      }
    }
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    buckets.forEach((rects, place) => {
      if (!rects.length) return;
      context.globalAlpha = seen.dimmed && place > 0 ? 0.32 : 1;
      context.fillStyle = seen.colours[place];
      for (let at = 0; at < rects.length; at += 3) context.fillRect(rects[at], rects[at + 1], rects[at + 2], ROW - 1);
    });
    context.globalAlpha = 1;
    this.label(view, labels, paint);
    return { drawn, narrow };
  }

  label(view, labels, paint) {
    const context = this.context;
    context.font = this.font;
    context.textBaseline = "middle";
    context.fillStyle = paint.ink;
    for (const [name, left, y, wide] of labels) {
      const text = fitted(view.drawing.nameOf(name), Math.floor((wide - 8) / this.character));
      if (text) context.fillText(text, left + 4, y + ROW / 2);
    }
  }

  *visible(view) {
    const first = Math.max(0, Math.floor(view.top / ROW));
    const last = Math.min(view.rows - 1, Math.floor((view.top + this.height) / ROW));
    for (let line = first; line <= last; line += 1) {
      yield [view.upright ? view.rows - 1 - line : line, line * ROW - view.top];
    }
  }

  // Outline a box: `strong` for the one that is selected.
  outline(view, box, colour, strong) {
    const context = this.context;
    const scale = this.width / (view.to - view.from);
    const left = box.lead ? 0 : Math.max(0, (box.x - view.from) * scale);
    const right = box.lead ? this.width : Math.min(this.width, (box.x + box.span - view.from) * scale);
    if (right < 0 || left > this.width) return;
    const line = view.upright ? view.rows - 1 - box.row : box.row;
    const wide = strong ? 2.5 : 1.5;
    context.strokeStyle = colour;
    context.lineWidth = wide;
    context.strokeRect(left + wide / 2, line * ROW - view.top + wide / 2, Math.max(2, right - left - wide), ROW - 1 - wide);
  }
}
