// Colours of boxes: by layer, by package, by heat, or by how much changed. All of them come from the server.
const HEAT = [0, 0.0005, 0.002, 0.005, 0.01, 0.03, 0.08, 0.2];
// In shares of the whole, the same for every comparison: 1.2 points never look like 40.
export const CHANGE = [0.002, 0.01, 0.05, 0.2];
export const MODES = ["layer", "package", "heat"];
const dark = matchMedia("(prefers-color-scheme: dark)");

export class Paint {
  constructor(palette, mode = "layer") {
    this.palette = palette;
    this.mode = mode;
    this.found = null;
    this.known = new WeakMap();
  }

  get scheme() {
    return dark.matches ? "dark" : "light";
  }

  get ink() {
    return this.palette.ink[this.scheme];
  }

  onScheme(then) {
    dark.addEventListener("change", () => { this.known = new WeakMap(); then(); });
  }

  use(mode) {
    this.mode = mode;
    this.known = new WeakMap();
  }

  // Which names are highlighted, as codes of the whole profile; null for none.
  highlight(codes) {
    this.found = codes && new Set(codes);
    this.known = new WeakMap();
  }

  // For one drawing: the list of colours, and per level each box's place in it. Place 0 is for found names.
  of(drawing) {
    let made = this.known.get(drawing);
    if (!made) this.known.set(drawing, made = this.make(drawing));
    return made;
  }

  make(drawing) {
    const colours = [this.palette.found[this.scheme]];
    const places = new Map();
    const place = (colour) => {
      if (!places.has(colour)) places.set(colour, colours.push(colour) - 1);
      return places.get(colour);
    };
    const hit = drawing.codeAt.map((code) => this.found?.has(code));
    const named = drawing.names.map((_, local) => place(this.colourOfName(drawing, local)));
    const root = place(this.palette.layers[0][this.scheme][2]);
    const byBox = this.mode === "heat" || this.mode === "change";
    const pick = (name, boxed) => (name < 0 && !byBox ? root : hit[name] ? 0 : byBox ? place(boxed()) : named[name]);
    const levels = drawing.levels.map((level) =>
      Uint16Array.from(level.name, (name, i) => pick(name, () => this.colourOfBox(drawing, drawing.box(drawing.path.length + level.depth, i)))));
    return {
      colours, levels, dimmed: this.found !== null,
      lead: drawing.path.map((step, row) => pick(step[1], () => this.colourOfBox(drawing, drawing.box(row, 0)))),
    };
  }

  colourOfName(drawing, local) {
    if (this.mode === "package") return drawing.package_colours[this.scheme][drawing.package[local]];
    return this.palette.layers[drawing.layers[local]][this.scheme][drawing.shades[local]];
  }

  colourOfBox(drawing, box) {
    if (this.mode === "change") return this.palette.change[this.scheme][this.changeStep(drawing.change(box))];
    const share = box.own / (drawing.total || 1);
    return this.palette.heat[this.scheme][Math.max(0, HEAT.findLastIndex((least) => share >= least))];
  }

  changeStep(difference) {
    const middle = CHANGE.length;
    return middle + Math.sign(difference) * (CHANGE.findLastIndex((least) => Math.abs(difference) >= least) + 1);
  }
}
