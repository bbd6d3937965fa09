// The server's answer, as arrays to draw from. Coordinates are in the profile's unit, from the root's left edge:
// numbers too large for a browser come without their last `shift` bits.
export class Drawing {
  constructor(answer) {
    Object.assign(this, answer);
    this.levels = answer.levels.map((columns) => new Level(columns, 2 ** answer.shift));
    this.levels.forEach((level, depth) => level.adopt(depth, this.levels[depth - 1]));
    this.codeAt = [];
    let code = 0;
    for (const step of answer.codes) this.codeAt.push((code += step));
    this.width = this.levels[0]?.width[0] ?? 0;
    this.rows = this.path.length + this.levels.length;
    this.count = this.levels.reduce((sum, level) => sum + level.length, 0);
    this.places = null;
  }

  // A box is identified by row and index: rows count from the profile's root, so that they stay when a finer drawing
  // comes.
  box(row, i) {
    const lead = this.path.length;
    if (row < lead) {
      const [node, name, width, own, ...more] = this.path[row];
      return { row, i: 0, node, name, width, own, more, x: 0, span: this.width, lead: true };
    }
    const level = this.levels[row - lead];
    if (!level || i < 0 || i >= level.length) return null;
    return {
      row, i, node: level.node[i], name: level.name[i], width: level.width[i], own: level.own[i],
      more: level.extra.map((column) => column[i]), x: level.x[i], span: level.width[i], lead: false,
    };
  }

  find(node) {
    const at = this.path.findIndex((step) => step[0] === node);
    if (at >= 0) return this.box(at, 0);
    if (!this.places) {
      this.places = new Map();
      this.levels.forEach((level, depth) => level.node.forEach((one, i) => this.places.set(one, [depth, i])));
    }
    const place = this.places.get(node);
    return place ? this.box(this.path.length + place[0], place[1]) : null;
  }

  parent(box) {
    if (box.row === 0) return null;
    const level = this.levels[box.row - this.path.length];
    return this.box(box.row - 1, level ? level.parent[box.i] : 0);
  }

  // The widest child.
  child(box) {
    const level = this.levels[box.row + 1 - this.path.length];
    if (box.lead && box.row + 1 < this.path.length) return this.box(box.row + 1, 0);
    if (!level) return null;
    let best = -1;
    for (let i = level.from(box.x); i < level.length && level.x[i] < box.x + box.span; i += 1) {
      if (best < 0 || level.width[i] > level.width[best]) best = i;
    }
    return best < 0 ? null : this.box(box.row + 1, best);
  }

  beside(box, by) {
    return box.lead ? null : this.box(box.row, box.i + by);
  }

  // The deepest box that holds a whole range, to fetch again when people zoom by hand.
  around(from, to) {
    let found = null;
    for (let depth = 0; depth < this.levels.length; depth += 1) {
      const level = this.levels[depth], i = level.from(from);
      if (i >= level.length || level.x[i] > from || level.x[i] + level.width[i] < to) break;
      found = this.box(this.path.length + depth, i);
    }
    return found;
  }

  // How many rows have anything in a range.
  rowsIn(from, to) {
    let depth = this.levels.length;
    while (depth > 1) {
      const level = this.levels[depth - 1], i = level.from(from);
      if (i < level.length && level.x[i] < to) break;
      depth -= 1;
    }
    return this.path.length + depth;
  }

  nameOf(local) {
    return local < 0 ? this.rootName ?? "all" : this.names[local];
  }
}

class Level {
  constructor([gap, width, name, node, own = [], ...extra], scale) {
    this.length = gap.length;
    this.width = Float64Array.from(width, (one) => one * scale);
    this.x = new Float64Array(this.length);
    this.name = Int32Array.from(name);
    this.node = new Float64Array(this.length);
    this.own = own.map((one) => one * scale);
    this.extra = extra;
    for (let i = 0, end = 0, at = 0; i < this.length; i += 1) {
      this.x[i] = end + gap[i] * scale;
      end = this.x[i] + this.width[i];
      this.node[i] = at += node[i];
    }
  }

  adopt(depth, above) {
    this.depth = depth;
    this.parent = new Int32Array(this.length);
    if (!above) return;
    for (let i = 0, p = 0; i < this.length; i += 1) {
      while (p < above.length - 1 && this.x[i] >= above.x[p + 1]) p += 1;
      this.parent[i] = p;
    }
  }

  // The first box that ends to the right of a position.
  from(x) {
    let low = 0, high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.x[middle] + this.width[middle] > x) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
