// The picture on a canvas. Parts outside the canvas, and parts smaller than a pixel, are not drawn.
class View {
  constructor(canvas, tree, data) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.tree = tree;
    this.palette = data.palette;
    this.leafEnd = data.leaf_end;
    this.rootEnd = data.root_end;
    this.label = data.label;
    this.threshold = 0;
    this.matches = new Set();
    this.focus = 0;
    this.isFocused = false;
    this.zoomX = 1;
    this.zoomY = 1;
    this.panX = 0;
    this.panY = 0;
    this.waiting = false;
    this.frames = 0;
    this.restyle();
    this.resize();
  }

  restyle() {
    const style = getComputedStyle(document.documentElement);
    this.inks = {};
    for (const name of ["ink", "line", "pale", "back", "mark"]) this.inks[name] = style.getPropertyValue(`--${name}`).trim();
  }

  resize() {
    const box = this.canvas.parentElement.getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    this.w = Math.max(box.width, 50);
    this.h = Math.max(box.height, 50);
    this.canvas.width = Math.round(this.w * ratio);
    this.canvas.height = Math.round(this.h * ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.ask();
  }

  // Request a drawing in the next frame of the browser.
  ask() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  get names() {
    return Math.min(260, 0.34 * this.w);
  }

  get slot() {
    return (this.zoomY * (this.h - 44)) / Math.max(this.tree.width, 1);
  }

  x(height) {
    const span = this.leafEnd - this.rootEnd || 1;
    return 14 + this.panX + (this.zoomX * (this.w - 28 - this.names) * (height - this.rootEnd)) / span;
  }

  y(place) {
    return 10 + this.panY + place * this.slot;
  }

  placeAt(y) {
    return (y - 10 - this.panY) / this.slot;
  }

  fit() {
    this.zoomX = this.zoomY = 1;
    this.panX = this.panY = 0;
    this.ask();
  }

  zoom(factor, x, y, along) {
    if (along) {
      const zoomed = Math.min(Math.max(this.zoomX * factor, 0.2), 200);
      this.panX = x - 14 - ((x - 14 - this.panX) * zoomed) / this.zoomX;
      this.zoomX = zoomed;
    } else {
      const most = Math.max(1, (40 * this.tree.width) / (this.h - 44));
      const zoomed = Math.min(Math.max(this.zoomY * factor, 0.2), most);
      this.panY = y - 10 - ((y - 10 - this.panY) * zoomed) / this.zoomY;
      this.zoomY = zoomed;
    }
    this.bound();
  }

  pan(x, y) {
    this.panX += x;
    this.panY += y;
    this.bound();
  }

  // Limit scrolling, so that a part of the tree stays visible.
  bound() {
    const tall = this.tree.width * this.slot;
    this.panY = Math.min(Math.max(this.panY, 60 - 10 - tall), this.h - 60);
    const wide = this.zoomX * (this.w - 28 - this.names);
    this.panX = Math.min(Math.max(this.panX, 60 - wide), this.w - 60);
    this.ask();
  }

  show(i) {
    if (this.slot < 9) this.zoom(12 / this.slot, 0, this.y(this.tree.place[i]), false);
    const y = this.y(this.tree.place[i]);
    if (y < 20 || y > this.h - 40) this.panY += this.h / 2 - y;
    const x = this.x(this.tree.height[i]);
    if (x < 10 || x > this.w - 40) this.panX += this.w / 2 - x;
    this.bound();
  }

  colour(i) {
    const cluster = this.tree.opened ? this.tree.cluster[i] : -1;
    return cluster < 0 ? this.inks.line : this.clusterColour(cluster);
  }

  clusterColour(cluster) {
    if (cluster < this.palette.length) return this.palette[cluster];
    const turn = (cluster * 137.50776405) % 360;
    return `hsl(${turn.toFixed(3)} ${55 + (cluster % 4) * 11}% ${44 + (cluster % 5) * 4}%)`;
  }

  isWeak(i) {
    const support = this.tree.support;
    return support !== null && support[i] !== null && 100 * support[i] < this.threshold;
  }

  // Call the painter for all lines, triangles and texts between the rows `top` and `bottom`.
  paint(painter, top, bottom, finest) {
    const tree = this.tree;
    const stack = [0];
    while (stack.length) {
      const i = stack.pop();
      const upper = this.y(tree.low[i]);
      const lower = this.y(tree.high[i]);
      if (lower < top || upper > bottom) continue;
      const x = this.x(tree.height[i]);
      if (tree.isTip(i) || lower - upper < finest) {
        const y = this.y(tree.place[i]);
        const [far, near] = [this.x(tree.far[i]), this.x(tree.near[i])];
        if (!tree.isLeaf(i)) painter.triangle(x, y, far, near, upper, lower, this.colour(i));
        if (tree.isTip(i)) {
          const end = this.x(this.leafEnd);
          // The leader is a line from the end of a leaf to the name of the leaf.
          if (lower - upper > 4 && end - (far + near) / 2 > 3) painter.leader((far + near) / 2, end, y);
          painter.tip(i, end, y, this.colour(i));
        }
        if (tree.collapsed[i]) painter.node(i, x, y);
        continue;
      }
      const y = this.y(tree.place[i]);
      let drawn = NaN;
      for (let c = i + 1; c < tree.end[i]; c = tree.end[c]) {
        const below = this.y(tree.place[c]);
        const isFine = this.y(tree.high[c]) - this.y(tree.low[c]) < finest;
        if (isFine && Math.abs(below - drawn) < 0.4 && tree.isLeaf(c)) continue;
        drawn = below;
        painter.branch(x, y, below, this.x(tree.height[c]), this.colour(c), this.isWeak(c));
        stack.push(c);
      }
      painter.node(i, x, y);
    }
  }

  draw() {
    const { context, tree, inks } = this;
    context.clearRect(0, 0, this.w, this.h);
    const lines = new Map();
    const leads = new Path2D();
    const fills = new Map();
    const path = (map, key) => {
      if (!map.has(key)) map.set(key, new Path2D());
      return map.get(key);
    };
    this.hits = [];
    const tips = [];
    const numbers = [];
    const isFar = this.slot < 0.8;
    this.paint(
      {
        branch: (x, y, below, end, colour, weak) => {
          const line = path(lines, weak ? `${colour} weak` : colour);
          line.moveTo(x, y);
          line.lineTo(x, below);
          line.lineTo(end, below);
        },
        leader: (x, end, y) => {
          leads.moveTo(x, y);
          leads.lineTo(end, y);
        },
        triangle: (x, y, far, near, upper, lower, colour) => {
          const fill = path(fills, colour);
          const inset = lower - upper > 4 ? 1 : 0;
          fill.moveTo(x, y);
          fill.lineTo(far, upper + inset);
          fill.lineTo(near, Math.max(lower - inset, upper + 1));
          fill.closePath();
        },
        tip: (i, x, y, colour) => tips.push([i, x, y, colour]),
        node: (i, x, y) => {
          this.hits.push([i, x, y]);
          numbers.push([i, x, y]);
        },
      },
      0,
      this.h,
      isFar ? 2 : 0.5,
    );
    context.globalAlpha = 0.55;
    for (const [colour, fill] of fills) {
      context.fillStyle = colour;
      context.fill(fill);
    }
    context.strokeStyle = inks.line;
    context.lineWidth = 0.7;
    context.setLineDash([1, 3]);
    context.stroke(leads);
    context.globalAlpha = 1;
    for (const [key, line] of lines) {
      const [colour, weak] = key.endsWith(" weak") ? [key.slice(0, -5), true] : [key, false];
      context.strokeStyle = colour;
      context.lineWidth = weak ? 0.6 : 1.2;
      context.setLineDash(weak ? [3, 3] : []);
      context.stroke(line);
    }
    context.setLineDash([]);
    this.write(tips, numbers);
    this.mark();
    this.axis();
    this.frames++;
  }

  fontSize() {
    return Math.min(13, 0.85 * this.slot);
  }

  write(tips, numbers) {
    const { context, tree, inks } = this;
    const size = this.fontSize();
    context.textBaseline = "middle";
    for (const [i, x, y, colour] of tips) {
      const isMatch = this.matches.has(i);
      if (size < 6 && !isMatch && !tree.collapsed[i]) continue;
      context.font = `${isMatch ? "bold " : ""}${size < 6 ? 11 : size}px system-ui, sans-serif`;
      context.fillStyle = isMatch ? inks.mark : this.tree.opened ? colour : inks.ink;
      context.fillText(shorten(tree.title(i), 60), x + 6, y);
    }
    if (size < 6 && tree.opened) this.writeClusters();
    context.font = "10px system-ui, sans-serif";
    context.fillStyle = inks.line;
    context.textAlign = "right";
    const taken = new Map();
    for (const [i, x, y] of numbers) {
      const support = tree.support ? tree.support[i] : null;
      if (support === null || i === 0 || 100 * support < this.threshold) continue;
      // Avoid overlaps: compare each number only with the numbers in its own cell and in the 8 cells around.
      const [column, row] = [Math.floor(x / 22), Math.floor(y / 11)];
      let isFree = true;
      for (let cell = 0; cell < 9 && isFree; cell++) {
        const other = taken.get(`${column + (cell % 3) - 1},${row + Math.floor(cell / 3) - 1}`);
        isFree = !other || Math.abs(other[0] - x) > 20 || Math.abs(other[1] - y) > 10;
      }
      if (!isFree) continue;
      taken.set(`${column},${row}`, [x, y]);
      context.fillText(String(Math.round(100 * support)), x - 2, y - 6);
    }
    context.textAlign = "left";
  }

  // Write the names of clusters that fit, where the names of leaves would be too small.
  writeClusters() {
    const { context, tree } = this;
    context.font = "12px system-ui, sans-serif";
    let free = -Infinity;
    for (const root of tree.roots) {
      const y = this.y(tree.place[root]);
      if (y < 0 || y > this.h || y < free || this.y(tree.high[root]) - this.y(tree.low[root]) < 8) continue;
      if (tree.isTip(root) || !tree.isSeen(root)) continue;
      context.fillStyle = this.colour(root);
      context.fillText(shorten(tree.title(root), 40), this.x(this.leafEnd) + 6, y);
      free = y + 14;
    }
  }

  // Mark the found leaves at the right edge, and the node that has the focus.
  mark() {
    const { context, tree, inks } = this;
    context.fillStyle = inks.mark;
    for (const i of this.matches) {
      let seen = i;
      for (let above = i; above >= 0; above = tree.parent[above]) if (tree.collapsed[above]) seen = above;
      const y = this.y(tree.place[seen]);
      if (y < 0 || y > this.h) continue;
      context.fillRect(this.w - 6, y - 1, 6, 2);
    }
    if (!this.isFocused) return;
    const i = this.focus;
    const x = this.x(tree.height[i]);
    context.strokeStyle = inks.mark;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(x, this.y(tree.place[i]), 6, 0, 2 * Math.PI);
    context.stroke();
  }

  // Return the numbers of the axis. A tree that is drawn by levels has no axis.
  ticks(most) {
    if (this.label === null) return [];
    return niceTicks(Math.min(this.rootEnd, this.leafEnd), Math.max(this.rootEnd, this.leafEnd), most);
  }

  axis() {
    if (this.label === null) return;
    const { context, inks } = this;
    const first = this.x(this.rootEnd);
    const last = this.x(this.leafEnd);
    const ticks = this.ticks(Math.max(2, Math.abs(last - first) / 90));
    context.fillStyle = inks.back;
    context.globalAlpha = 0.85;
    context.fillRect(0, this.h - 26, this.w, 26);
    context.globalAlpha = 1;
    context.fillStyle = inks.line;
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "center";
    for (const tick of ticks) {
      const x = this.x(tick);
      context.fillRect(x, this.h - 26, 1, 4);
      context.fillText(String(tick), x, this.h - 13);
    }
    context.textAlign = "left";
    const wide = context.measureText(this.label).width;
    context.fillText(this.label, Math.min(last + 16, this.w - wide - 6), this.h - 13);
  }

  // Return the node under the pointer, else the tip on the pointer's row, else -1.
  at(x, y) {
    let best = -1;
    let nearest = 81;
    for (const [i, nodeX, nodeY] of this.hits || []) {
      const distance = (x - nodeX) ** 2 + (y - nodeY) ** 2;
      if (distance < nearest) {
        nearest = distance;
        best = i;
      }
    }
    if (best >= 0 || this.slot < 3 || x < this.x(this.rootEnd)) return best;
    const place = this.placeAt(y);
    const { tips, high, low } = this.tree;
    let from = 0;
    let to = tips.length - 1;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (high[tips[middle]] <= place) from = middle + 1;
      else to = middle;
    }
    const tip = tips[from];
    const isHit = place >= low[tip] && place < high[tip] && x >= this.x(this.tree.near[tip]) - 30;
    return isHit ? tip : -1;
  }
}

function shorten(text, longest) {
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}

function niceTicks(low, high, most) {
  const span = high - low;
  if (!(span > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(span / most));
  const step = [1, 2, 2.5, 5, 10].map((part) => part * power).find((part) => span / part <= most) || 10 * power;
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high + 1e-9 * span; k++) found.push(Number((k * step).toPrecision(10)));
  return found;
}
