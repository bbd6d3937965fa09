// One flame graph in its scrolling window: its zoom, scroll position, focus and hovered box.
import { Canvas, ROW } from "./canvas.js";
import { keyboard } from "./keyboard.js";
import { pointer } from "./pointer.js";

const ZOOM_MS = 220;
const FEWEST_ROWS = 8;
const still = matchMedia("(prefers-reduced-motion: reduce)");

// Dispatches events: "ask" (zoom to a box), "focused", "hovered", "ranged", "drawn".
export class Graph extends EventTarget {
  constructor(scroller, paint, { upright = false, share = 0.62 } = {}) {
    super();
    this.scroller = scroller;
    this.canvas = new Canvas(scroller.querySelector("canvas"));
    this.room = scroller.querySelector("[data-room]");
    this.paint = paint;
    this.upright = upright;
    this.share = share;
    this.drawing = null;
    this.focus = this.hover = this.zoomed = null;
    this.frames = [];
    scroller.addEventListener("scroll", () => this.later(), { passive: true });
    new ResizeObserver(() => this.measure()).observe(scroller);
    paint.onScheme(() => this.later());
    pointer(this);
    keyboard(this);
  }

  tell(kind, detail) {
    this.dispatchEvent(new CustomEvent(kind, { detail }));
  }

  // Show all or part of a drawing; `box` is what it is zoomed to.
  show(drawing, { from = 0, to = drawing.width, box = drawing.box(drawing.path.length, 0) } = {}) {
    this.cancel();
    this.drawing = drawing;
    [this.from, this.to] = to > from ? [from, to] : [0, Math.max(1, drawing.width)];
    this.zoomed = box;
    this.focus = this.focus && drawing.find(this.focus.node);
    this.hover = null;
    this.settle();
  }

  // Take a finer drawing of what is already shown.
  refine(drawing) {
    const kept = this.scroller.scrollTop;
    const rows = this.rows;
    const before = this.focus;
    this.show(drawing);
    this.scroller.scrollTop = this.upright ? kept + (this.rows - rows) * ROW : kept;
    this.focus ??= before && drawing.find(before.node);
    this.later();
  }

  // Go to a box of this drawing, smoothly unless reduced motion is preferred.
  glide(box) {
    this.cancel();
    this.zoomed = box;
    const aim = box.lead ? [0, this.drawing.width] : [box.x, box.x + box.span];
    const begin = [this.from, this.to], top = this.scroller.scrollTop, began = performance.now();
    const rows = this.drawing.rowsIn(...aim);
    if (this.upright && rows > this.rows) this.grow(rows);
    const aimTop = this.placeOf(box, this.rows);
    const step = (now) => {
      const done = still.matches ? 1 : Math.min(1, Math.max(0, now - began) / ZOOM_MS);
      const eased = 1 - (1 - done) ** 3;
      this.from = begin[0] + (aim[0] - begin[0]) * eased;
      this.to = begin[1] + (aim[1] - begin[1]) * eased;
      if (aimTop !== null) this.scroller.scrollTop = top + (aimTop - top) * eased;
      this.draw();
      this.moving = done < 1 ? requestAnimationFrame(step) : 0;
      if (done === 1) this.settle();
    };
    if (still.matches) step(began);
    else this.moving = requestAnimationFrame(step);
  }

  range(from, to) {
    const least = this.drawing.width / 1e9, width = this.drawing.width;
    const span = Math.min(width, Math.max(to - from, least));
    this.from = Math.min(Math.max(0, from), width - span);
    this.to = this.from + span;
    this.later();
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.tell("ranged"), 220);
  }

  cancel() {
    cancelAnimationFrame(this.moving ?? 0);
    clearTimeout(this.resting);
  }

  settle() {
    const rows = this.drawing.rowsIn(this.from, this.to);
    this.measure(rows);
    const top = this.placeOf(this.zoomed, rows);
    if (top !== null) this.scroller.scrollTop = top;
    this.later();
  }

  // Where to scroll so that a box and two of its callers are visible; null if all rows are.
  placeOf(box, rows) {
    if (!box || rows * ROW <= this.canvas.height) return 0;
    const most = rows * ROW - this.canvas.height;
    const lines = Math.max(0, box.row - 2);
    return this.upright ? Math.max(0, most - lines * ROW) : Math.min(most, lines * ROW);
  }

  grow(rows) {
    const more = rows - this.rows;
    this.measure(rows);
    this.scroller.scrollTop += more * ROW;
  }

  // The window is as high as the whole profile needs, up to a share of the screen; zooming does not change it.
  measure(rows = this.rows) {
    if (!this.drawing) return;
    this.rows = rows;
    this.most = Math.max(this.most ?? 0, FEWEST_ROWS, this.drawing.rowsIn(0, this.drawing.width));
    const height = Math.max(FEWEST_ROWS * ROW, Math.min(this.most * ROW, Math.round(innerHeight * this.share)));
    if (this.height !== height) this.scroller.style.blockSize = `${(this.height = height)}px`;
    const width = this.scroller.clientWidth;
    if (width !== this.canvas.width || height !== this.canvas.height || devicePixelRatio !== this.ratio) {
      this.ratio = devicePixelRatio;
      this.canvas.node.style.inlineSize = `${width}px`;
      this.canvas.node.style.blockSize = `${height}px`;
      this.canvas.resize(width, height);
    }
    this.room.style.blockSize = `${Math.max(0, rows * ROW - height)}px`;
    this.later();
  }

  later() {
    this.pending ??= requestAnimationFrame(() => { this.pending = undefined; this.draw(); });
  }

  draw() {
    if (!this.drawing || !this.canvas.width) return;
    const began = performance.now();
    const lead = this.upright ? Math.max(0, this.canvas.height - this.rows * ROW) : 0;
    const view = {
      drawing: this.drawing, from: this.from, to: this.to, rows: this.rows, upright: this.upright,
      top: this.scroller.scrollTop - lead, base: this.zoomed?.row ?? 0,
    };
    this.view = view;
    const seen = this.canvas.draw(view, this.paint);
    const style = getComputedStyle(this.canvas.node);
    if (this.hover) this.canvas.outline(view, this.hover, style.color, false);
    if (this.focus) this.canvas.outline(view, this.focus, style.outlineColor, true);
    this.frames.push(performance.now() - began);
    if (this.frames.length > 600) this.frames.shift();
    this.tell("drawn", seen);
  }

  // Return the box under a point of the canvas.
  at(x, y) {
    if (!this.view) return null;
    const line = Math.floor((y + this.view.top) / ROW);
    const row = this.upright ? this.rows - 1 - line : line;
    if (row < 0 || row >= this.rows) return null;
    const depth = row - this.drawing.path.length;
    if (depth < 0) return this.drawing.box(row, 0);
    const place = this.from + (x / this.canvas.width) * (this.to - this.from);
    const level = this.drawing.levels[depth];
    if (!level) return null;
    const i = level.from(place);
    const reach = (this.to - this.from) / this.canvas.width / 2;
    return i < level.length && level.x[i] <= place + reach ? this.drawing.box(row, i) : null;
  }

  point(box, { quiet = false } = {}) {
    if (box?.node === this.hover?.node && box?.row === this.hover?.row) return;
    this.hover = box;
    this.later();
    if (!quiet) this.tell("hovered", box);
  }

  select(box, { into = true } = {}) {
    if (!box) return;
    this.focus = box;
    if (into) this.bringIn(box);
    this.later();
    this.tell("focused", box);
  }

  bringIn(box) {
    const line = this.upright ? this.rows - 1 - box.row : box.row;
    const y = line * ROW, top = this.scroller.scrollTop;
    if (y < top) this.scroller.scrollTop = y;
    else if (y + ROW > top + this.canvas.height) this.scroller.scrollTop = y + ROW - this.canvas.height;
  }

  ask(box) {
    if (box) this.tell("ask", box);
  }

  flip(upright) {
    this.upright = upright;
    this.settle();
  }
}
