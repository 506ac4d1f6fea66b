//! Counts triplets by the colors of their leaves, in a tree whose leaves change color.

use super::count::two;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::tree::{HeavyPaths, Topology};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Color {
    Red,
    Blue,
}

/// A tree divided into nested parts, so that a sum over the tree can be updated in O(log n) if the color of a leaf
/// changes.
///
/// A part is a node, or the union of two neighbouring parts of a heavy path ([`HeavyPaths`]: from a node, always down
/// to the child with the most leaves). `up` has the next larger part of each part. `joined` has the upper and the lower
/// part of each union. The parts of a path are a binary tree, balanced by the number of leaves. So there are O(log n)
/// parts between any leaf and the root.
#[derive(Debug)]
pub(super) struct Parts {
    n_leaves: usize,
    n_nodes: usize,
    up: Vec<u32>,
    joined: Vec<[u32; 2]>,
    root: usize,
}

const NONE: u32 = u32::MAX;

impl Parts {
    pub(super) fn new(tree: &Topology, monitor: &Monitor) -> Result<Self> {
        let (n_leaves, n_nodes) = (tree.n_leaves(), tree.n_nodes());
        let mut parts = Self { n_leaves, n_nodes, up: vec![NONE; n_nodes], joined: Vec::new(), root: 0 };
        let paths = HeavyPaths::new(tree);
        let mut done = 0;
        for top in paths.tops() {
            done += 1;
            if done % (1 << 12) == 0 {
                monitor.check()?;
            }
            let path = paths.path_up(top);
            let sizes: Vec<usize> = path.iter().map(|&node| paths.size(node)).collect();
            let whole = parts.join(&path, &sizes, 0);
            if top == tree.root() {
                parts.root = whole;
            } else {
                parts.up[whole] = tree.parent(top) as u32;
            }
        }
        Ok(parts)
    }

    /// Joins consecutive `nodes` of a heavy path into one part (see [`Parts`]), and returns the index of the part. The
    /// lowest node is first. `sizes` has the number of leaves below each node. `below` is the number of leaves below
    /// the next lower node of the path, or 0.
    fn join(&mut self, nodes: &[usize], sizes: &[usize], below: usize) -> usize {
        if let [node] = nodes {
            return *node;
        }
        let half = (below + sizes[sizes.len() - 1]) / 2;
        let split = sizes.partition_point(|&size| size <= half).clamp(1, nodes.len() - 1);
        let lower = self.join(&nodes[..split], &sizes[..split], below);
        let upper = self.join(&nodes[split..], &sizes[split..], sizes[split - 1]);
        let part = self.up.len();
        self.up[lower] = part as u32;
        self.up[upper] = part as u32;
        self.up.push(NONE);
        self.joined.push([upper as u32, lower as u32]);
        part
    }
}

/// Numbers of leaves and triplets in a segment of a heavy path.
///
/// The segment has some consecutive nodes of the path, and the subtrees that branch off from the path at these nodes.
/// These subtrees have `red` red and `blue` blue leaves. Below the segment, the path has x red and y blue leaves.
///
/// The counted triplets have two red leaves and a blue leaf. At least one of the three leaves is in these subtrees. The
/// others are there too, or below the segment.
/// * `apart[0] + apart[1] x + apart[2] y + blue (x choose 2)` is the number of triplets whose red leaves are closest.
/// * `mixed[0] + mixed[1] x + mixed[2] y + red x y` is the number of triplets in which a red and the blue leaf are
///   closest.
#[derive(Debug, Clone, Copy, Default)]
struct Stretch {
    red: u64,
    blue: u64,
    apart: [u64; 3],
    mixed: [u64; 3],
}

impl Stretch {
    fn leaf(color: Color) -> Self {
        let (red, blue) = if color == Color::Red { (1, 0) } else { (0, 1) };
        Self { red, blue, ..Self::default() }
    }

    fn above(&self, lower: &Self) -> Self {
        let (x, y) = (lower.red, lower.blue);
        let (a, m) = (&self.apart, &self.mixed);
        let red_pairs = two(x);
        Self {
            red: self.red + x,
            blue: self.blue + y,
            apart: [
                lower.apart[0] + a[0] + a[1] * x + a[2] * y + self.blue * red_pairs,
                lower.apart[1] + a[1] + self.blue * x,
                lower.apart[2] + a[2],
            ],
            mixed: [
                lower.mixed[0] + m[0] + m[1] * x + m[2] * y + self.red * x * y,
                lower.mixed[1] + m[1] + self.red * y,
                lower.mixed[2] + m[2] + self.red * x,
            ],
        }
    }
}

/// Sums over the light children of a node (all children except the child with the most leaves). For a light child with
/// r red and b blue leaves, the sums are:
/// * `red_pairs`: r choose 2,
/// * `red_pairs_blue`: (r choose 2) b,
/// * `mixed_pairs`: r b,
/// * `mixed_pairs_red`: r^2 b,
/// * `apart`: the number of triplets of two red leaves and a blue leaf, all below the child, whose red leaves are
///   closest,
/// * `mixed`: the number of triplets of two red leaves and a blue leaf, all below the child, in which the blue leaf and
///   a red leaf are closest.
#[derive(Debug, Clone, Copy, Default)]
struct Beside {
    red: u64,
    blue: u64,
    red_pairs: u64,
    red_pairs_blue: u64,
    mixed_pairs: u64,
    mixed_pairs_red: u64,
    apart: u64,
    mixed: u64,
}

impl Beside {
    fn of(path: &Stretch) -> Self {
        let (red, blue) = (path.red, path.blue);
        let (red_pairs, mixed_pairs) = (two(red), red * blue);
        Self {
            red,
            blue,
            red_pairs,
            red_pairs_blue: red_pairs * blue,
            mixed_pairs,
            mixed_pairs_red: mixed_pairs * red,
            apart: path.apart[0],
            mixed: path.mixed[0],
        }
    }

    fn replace(&mut self, old: &Stretch, new: &Stretch) {
        let (old, new) = (Self::of(old), Self::of(new));
        self.red = self.red - old.red + new.red;
        self.blue = self.blue - old.blue + new.blue;
        self.red_pairs = self.red_pairs - old.red_pairs + new.red_pairs;
        self.red_pairs_blue = self.red_pairs_blue - old.red_pairs_blue + new.red_pairs_blue;
        self.mixed_pairs = self.mixed_pairs - old.mixed_pairs + new.mixed_pairs;
        self.mixed_pairs_red = self.mixed_pairs_red - old.mixed_pairs_red + new.mixed_pairs_red;
        self.apart = self.apart - old.apart + new.apart;
        self.mixed = self.mixed - old.mixed + new.mixed;
    }

    fn stretch(&self) -> Stretch {
        let apart = self.apart + self.red_pairs * self.blue - self.red_pairs_blue;
        let mixed = self.mixed + self.mixed_pairs * self.red - self.mixed_pairs_red;
        Stretch {
            red: self.red,
            blue: self.blue,
            apart: [apart, 0, self.red_pairs],
            mixed: [mixed, self.mixed_pairs, 0],
        }
    }
}

/// A tree of red, blue and colorless leaves that counts triplets of two red leaves and a blue leaf.
///
/// Changing the color of a leaf takes O(log n). No sum overflows for up to [`MAX_LEAVES`] leaves.
#[derive(Debug)]
pub(super) struct Coloring<'a> {
    parts: &'a Parts,
    stretches: Vec<Stretch>,
    beside: Vec<Beside>,
}

pub(super) const MAX_LEAVES: usize = 1 << 21;

impl<'a> Coloring<'a> {
    pub(super) fn new(parts: &'a Parts) -> Self {
        let stretches = vec![Stretch::default(); parts.up.len()];
        Self { parts, stretches, beside: vec![Beside::default(); parts.n_nodes - parts.n_leaves] }
    }

    pub(super) fn paint(&mut self, leaves: &[u32], color: Color) {
        leaves.iter().for_each(|&leaf| self.paint_leaf(leaf as usize, color));
    }

    fn paint_leaf(&mut self, leaf: usize, color: Color) {
        let mut old = std::mem::replace(&mut self.stretches[leaf], Stretch::leaf(color));
        let mut part = leaf;
        while self.parts.up[part] != NONE {
            let up = self.parts.up[part] as usize;
            let new = match up.checked_sub(self.parts.n_nodes) {
                Some(join) => {
                    let [upper, lower] = self.parts.joined[join].map(|part| part as usize);
                    self.stretches[upper].above(&self.stretches[lower])
                }
                None => {
                    let beside = &mut self.beside[up - self.parts.n_leaves];
                    beside.replace(&old, &self.stretches[part]);
                    beside.stretch()
                }
            };
            old = std::mem::replace(&mut self.stretches[up], new);
            part = up;
        }
    }

    /// Returns the number of triplets of two red leaves and a blue leaf in which the red leaves are closest.
    pub(super) fn apart(&self) -> u64 {
        self.stretches[self.parts.root].apart[0]
    }

    /// Returns the number of triplets of two red leaves and a blue leaf in which the blue leaf and a red leaf are
    /// closest.
    pub(super) fn mixed(&self) -> u64 {
        self.stretches[self.parts.root].mixed[0]
    }
}
