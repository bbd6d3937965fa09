// Navigation in one profile: a request is shown at once from what is loaded, and drawn finer when the rest arrives.
const MOST = 10000; // boxes, on screens that are wide enough for them
const WIDE = 900;
const LONGEST = 100; // characters of a name in a link

export class Explorer extends EventTarget {
  constructor(graph, source) {
    super();
    this.graph = graph;
    this.source = source;
    this.aim = 0;
    graph.addEventListener("ask", (event) => this.go(event.detail.node));
    graph.addEventListener("home", () => this.go(0));
    graph.addEventListener("ranged", () => this.ranged());
  }

  async open(node) {
    this.aim = node;
    const drawing = await this.source.get(node);
    if (this.aim === node) this.graph.show(drawing);
    this.tell("went", node);
    this.more(node);
  }

  // What a link says about a frame: its number, which may change when the profile is processed again, and its name.
  linking(node) {
    const box = node ? this.graph.drawing?.find(node) : null;
    return { at: node || "", frame: box ? this.graph.drawing.nameOf(box.name).slice(0, LONGEST) : "" };
  }

  // Open what a link says; if its frame no longer exists, open the whole profile and return false.
  async linked(view) {
    const at = Number(view.get("at")) || 0, frame = view.get("frame") ?? "";
    const drawing = await this.source.get(at).catch((error) => {
      if (!frame) throw error;
    });
    const box = drawing?.find(at);
    const is = !at || !frame || (box && drawing.nameOf(box.name).startsWith(frame));
    await this.open(is ? at : 0);
    return is;
  }

  // Zoom to a node; `step` says whether the browser's *back* should undo it.
  async go(node, { step = true } = {}) {
    if (this.aim === node && !this.loose) return;
    this.aim = node;
    this.loose = false;
    const shown = this.glide(node);
    if (step) this.tell("step", node);
    this.tell("went", node);
    const drawing = this.graph.drawing;
    if (!shown || (drawing.root !== node && drawing.pruned)) await this.finer(node, shown);
    this.more(node);
  }

  // With the first boxes on the screen, request more of them if there is room.
  async more(node) {
    if (this.graph.canvas.width < WIDE || navigator.connection?.saveData) return;
    const asked = this.source.more(node, MOST);
    if (!asked) return;
    const drawing = await asked;
    await this.rested();
    if (this.aim === node && !this.loose && this.graph.drawing !== drawing) this.graph.refine(drawing);
    this.tell("refined", node);
  }

  glide(node) {
    const { graph } = this;
    const drawing = graph.drawing;
    const box = drawing.find(node);
    if (box && (!box.lead || box.node === drawing.root)) {
      graph.glide(box);
      return true;
    }
    const held = this.source.holding(node, drawing.path.map((step) => step[0]));
    if (!held) return false;
    const [coarser, target] = held;
    const here = coarser.find(drawing.root);
    graph.show(coarser, here ? this.carried(here) : {});
    graph.glide(target);
    return true;
  }

  // The visible range, as positions in a coarser drawing in which the current root is the box `here`.
  carried(here) {
    const { from, to, drawing } = this.graph;
    const scale = here.span / drawing.width;
    return { from: here.x + from * scale, to: here.x + to * scale, box: here };
  }

  async finer(node, shown) {
    this.tell("busy", true);
    try {
      const drawing = await this.source.get(node);
      await this.rested();
      if (this.aim === node && !this.loose) this.graph[shown ? "refine" : "show"](drawing);
    } catch (error) {
      this.tell("trouble", error.message);
    } finally {
      this.tell("busy", false);
    }
  }

  // Wait until nothing moves: a drawing is not changed under a zoom.
  async rested() {
    while (this.graph.moving) await new Promise((then) => { setTimeout(then, 30); });
  }

  async ranged() {
    const { graph } = this;
    const { drawing, from, to } = graph;
    this.loose = true;
    this.tell("loose", [from / drawing.width, to / drawing.width]);
    const box = drawing.pruned ? drawing.around(from, to) : null;
    if (!box || box.node === drawing.root) return;
    this.aim = box.node;
    const finer = await this.source.get(box.node).catch(() => null);
    if (!finer || graph.drawing !== drawing || graph.from !== from || graph.to !== to) return;
    const scale = finer.width / box.span;
    graph.show(finer, { from: (from - box.x) * scale, to: (to - box.x) * scale });
    this.tell("went", box.node);
    this.tell("loose", [graph.from / finer.width, graph.to / finer.width]);
  }

  tell(kind, detail) {
    this.dispatchEvent(new CustomEvent(kind, { detail }));
  }
}
