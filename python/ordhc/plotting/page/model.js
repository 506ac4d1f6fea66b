"use strict";
// The tree: nodes by their index in preorder, collapsed nodes, positions, and the clusters of a cut.
class Tree {
  constructor(data) {
    const count = data.parent.length;
    this.count = count;
    this.leaves = data.leaves;
    this.name = data.name;
    this.height = Float64Array.from(data.height);
    // The name of the heights: "height", "distance from the root", or null if heights are only levels.
    this.word = data.word;
    this.support = data.support;
    this.number = data.number;
    this.rank = Int32Array.from(data.rank);
    this.parent = Int32Array.from(data.parent);
    this.size = new Int32Array(count);
    this.end = new Int32Array(count);
    this.last = new Int32Array(count).fill(-1);
    this.depth = new Int32Array(count);
    for (let i = 0; i < count; i++) {
      this.end[i] = i + 1;
      if (i) {
        this.depth[i] = this.depth[this.parent[i]] + 1;
        this.last[this.parent[i]] = i;
      }
    }
    for (let i = count - 1; i >= 0; i--) {
      if (!this.size[i]) this.size[i] = 1;
      const above = this.parent[i];
      if (above >= 0) {
        this.size[above] += this.size[i];
        if (this.end[i] > this.end[above]) this.end[above] = this.end[i];
      }
    }
    // For each node, the heights of its leaf nearest to the root and of its leaf farthest from the root.
    this.near = this.height.slice();
    this.far = this.height.slice();
    const away = data.leaf_end > data.root_end ? 1 : -1;
    for (let i = 0; i < count; i++) if (this.end[i] > i + 1) [this.near[i], this.far[i]] = [away * Infinity, -away * Infinity];
    for (let i = count - 1; i > 0; i--) {
      const above = this.parent[i];
      if (away * this.near[i] < away * this.near[above]) this.near[above] = this.near[i];
      if (away * this.far[i] > away * this.far[above]) this.far[above] = this.far[i];
    }
    // The nodes in the order in which a cut opens them.
    this.opening = [];
    // For each node, its leaf with the smallest number.
    this.leader = Int32Array.from({ length: count }, (_, i) => i);
    for (let i = count - 1; i > 0; i--) {
      const above = this.parent[i];
      const held = this.leader[above];
      if (held === above || this.number[this.leader[i]] < this.number[held]) this.leader[above] = this.leader[i];
    }
    for (let i = 0; i < count; i++) if (this.rank[i] >= 0) this.opening[this.rank[i]] = i;
    this.collapsed = new Uint8Array(count);
    this.place = new Float64Array(count);
    this.low = new Float64Array(count);
    this.high = new Float64Array(count);
    this.cluster = new Int32Array(count);
    this.roots = [0];
    this.opened = 0;
    this.layout();
    this.cut(0);
  }

  isLeaf(i) {
    return this.end[i] === i + 1;
  }

  isTip(i) {
    return this.isLeaf(i) || this.collapsed[i] === 1;
  }

  // Compute the positions of nodes. Tips are 1 apart; nodes inside collapsed nodes are left out.
  layout() {
    this.shown = [];
    this.tips = [];
    let cursor = 0;
    for (let i = 0; i < this.count; ) {
      this.shown.push(i);
      if (this.isTip(i)) {
        const width = this.isLeaf(i) ? 1 : 2;
        this.low[i] = cursor;
        this.high[i] = cursor + width;
        this.place[i] = cursor + width / 2;
        cursor += width;
        this.tips.push(i);
        i = this.end[i];
      } else i++;
    }
    this.width = cursor;
    for (let at = this.shown.length - 1; at >= 0; at--) {
      const i = this.shown[at];
      if (this.isTip(i)) continue;
      const first = i + 1;
      const last = this.last[i];
      this.place[i] = (this.place[first] + this.place[last]) / 2;
      this.low[i] = this.low[first];
      this.high[i] = this.high[last];
    }
  }

  // Compute the clusters after opening `opened` nodes, the last merge first.
  cut(opened) {
    this.opened = opened;
    this.roots = [];
    for (let i = 0; i < this.count; i++) {
      const above = this.parent[i];
      if (this.rank[i] >= 0 && this.rank[i] < opened) this.cluster[i] = -1;
      else if (above < 0 || this.cluster[above] < 0) {
        this.cluster[i] = this.roots.length;
        this.roots.push(i);
      } else this.cluster[i] = this.cluster[above];
    }
  }

  // Return the number of nodes to open for at most `clusters` clusters, as in `Dendrogram.cut`.
  openedFor(clusters) {
    let count = 1;
    let opened = 0;
    for (; opened < this.opening.length; opened++) {
      count += this.children(this.opening[opened]).length - 1;
      if (count > clusters) break;
    }
    return opened;
  }

  children(i) {
    const found = [];
    if (!this.isLeaf(i)) for (let c = i + 1; c < this.end[i]; c = this.end[c]) found.push(c);
    return found;
  }

  leavesOf(i) {
    const found = [];
    for (let at = i; at < this.end[i]; at++) if (this.isLeaf(at)) found.push(at);
    return found;
  }

  // Return the name of a node, or the name of a leaf and the number of further leaves, as in `Dendrogram.collapse`.
  title(i) {
    if (this.name[i] || this.isLeaf(i)) return this.name[i];
    return `${this.name[this.leader[i]]} +${(this.size[i] - 1).toLocaleString("en")}`;
  }

  // Return the description of a node for tooltips and screen readers.
  words(i) {
    const parts = [this.isLeaf(i) ? this.name[i] : `${this.title(i)}: ${this.size[i].toLocaleString("en")} leaves`];
    const isDistance = this.word !== null && this.word !== "height";
    if (isDistance || (this.word !== null && !this.isLeaf(i))) parts.push(`${this.word} ${Number(this.height[i].toPrecision(5))}`);
    if (!this.isLeaf(i)) {
      if (this.support && this.support[i] !== null) parts.push(`support ${Math.round(100 * this.support[i])}%`);
      if (this.collapsed[i]) parts.push("collapsed");
    }
    if (this.opened && this.cluster[i] >= 0) parts.push(`cluster ${this.cluster[i] + 1}`);
    return parts.join(", ");
  }

  // Open all collapsed nodes above a node, so that the node is visible. Return true if any node was collapsed.
  reveal(i) {
    let changed = false;
    for (let above = this.parent[i]; above >= 0; above = this.parent[above]) {
      if (this.collapsed[above]) {
        this.collapsed[above] = 0;
        changed = true;
      }
    }
    if (changed) this.layout();
    return changed;
  }

  isSeen(i) {
    for (let above = this.parent[i]; above >= 0; above = this.parent[above]) if (this.collapsed[above]) return false;
    return true;
  }

  toggle(i) {
    if (this.isLeaf(i) || i === 0) return;
    this.collapsed[i] ^= 1;
    this.layout();
  }
}
