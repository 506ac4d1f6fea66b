//! Writes trees as Newick text.

use std::borrow::Cow;
use std::fmt::Write;

use super::labels::{leaf_label, node_label, percent, quoted};
use super::{Annotations, Newick};
use crate::error::Result;
use crate::kind::Kind;
use crate::monitor::Monitor;
use crate::sorting::order_by_key;
use crate::tree::{Dendrogram, Topology, Tree};

const STRIDE: usize = 4096;

enum Step {
    Open(u32),
    Close(u32),
}

pub(super) struct Writer<'a> {
    tree: &'a Topology,
    annotations: &'a Annotations,
    lengths: Option<Cow<'a, [f64]>>,
    heights: Option<&'a Dendrogram>,
    n: usize,
    shares: bool,
    /// True if the names are 0 to n - 1 in any order. Such names are quoted, because names without quotes would be read
    /// as the indices of the leaves.
    numbers: bool,
    /// For each node: the position of its first leaf in `Annotations::standing`. Children are written in the order of
    /// these positions, or else of their indices.
    first: Option<Vec<u32>>,
    leaf_numbers: bool,
    node_numbers: bool,
}

impl<'a> Writer<'a> {
    pub(super) fn new(tree: &'a Tree, annotations: &'a Annotations, newick: &Newick<'_>) -> Self {
        let topology = tree.topology();
        let n = topology.n_leaves();
        // Percentages that are all at most 1 would be read as shares, so write shares in this case.
        let largest = annotations.support.iter().flatten().copied().fold(0.0, f64::max);
        let numbers = annotations.names.as_ref().is_some_and(|names| {
            let mut seen = vec![false; n];
            names.iter().all(|name| {
                let number = plain_number(name).filter(|&number| number < n);
                number.is_some_and(|number| !std::mem::replace(&mut seen[number], true))
            })
        });
        let heights = match tree {
            Tree::Heights(tree) if newick.heights => Some(tree),
            _ => None,
        };
        let mut writer = Self {
            tree: topology,
            annotations,
            lengths: if newick.lengths { tree.edge_lengths().ok() } else { None },
            heights,
            n,
            shares: annotations.shares || largest <= 0.01,
            numbers,
            first: annotations.standing.as_ref().map(|standing| first_places(topology, standing)),
            leaf_numbers: false,
            node_numbers: false,
        };
        if newick.heights {
            let is_in_order = writer.leaves().into_iter().eq(0..n as u32);
            writer.leaf_numbers = annotations.names.is_some() && !is_in_order;
            writer.node_numbers = !tree.clone().sorted().1.into_iter().eq(0..topology.n_nodes() as u32);
        }
        writer
    }

    fn children(&self, node: u32) -> Cow<'_, [u32]> {
        let mut children = Cow::Borrowed(self.tree.children(node as usize));
        if let Some(first) = &self.first {
            order_by_key(children.to_mut(), |part| first[part as usize]);
        }
        children
    }

    fn leaves(&self) -> Vec<u32> {
        let mut leaves = Vec::with_capacity(self.n);
        let mut open = vec![self.tree.root() as u32];
        while let Some(node) = open.pop() {
            match (node as usize) < self.n {
                true => leaves.push(node),
                false => open.extend(self.children(node).iter().rev()),
            }
        }
        leaves
    }

    pub(super) fn write(&self, monitor: &Monitor) -> Result<String> {
        let mut text = String::new();
        let mut steps = vec![Step::Open(self.tree.root() as u32)];
        // A leaf is one step of the progress (`Open`). An inner node is two steps (`Open` and `Close`).
        monitor.start((2 * self.tree.n_nodes() - self.n) as u64);
        let mut at = 0usize;
        while let Some(step) = steps.pop() {
            at += 1;
            if at.is_multiple_of(STRIDE) {
                monitor.advance(STRIDE as u64)?;
            }
            if let Step::Open(_) = step
                && !text.is_empty()
                && !text.ends_with('(')
            {
                text.push(',');
            }
            match step {
                Step::Open(node) if (node as usize) < self.n => {
                    self.leaf(&mut text, node as usize);
                    self.length(&mut text, node as usize);
                }
                Step::Open(node) => {
                    text.push('(');
                    steps.push(Step::Close(node));
                    steps.extend(self.children(node).iter().rev().map(|&part| Step::Open(part)));
                }
                Step::Close(node) => {
                    text.push(')');
                    self.node(&mut text, node as usize - self.n);
                    self.length(&mut text, node as usize);
                }
            }
        }
        text.push(';');
        Ok(text)
    }

    fn leaf(&self, text: &mut String, leaf: usize) {
        match &self.annotations.names {
            None => {
                let _ = write!(text, "{leaf}");
            }
            Some(names) if self.numbers => text.push_str(&quoted(&names[leaf])),
            Some(names) => text.push_str(&leaf_label(&names[leaf])),
        }
        let mut items = Vec::new();
        if let Some(tree) = self.heights {
            match tree.leaf_heights() {
                Some(heights) => items.push(format!("{}={}", word(tree), shortest(heights[leaf]))),
                None if self.n == 1 && tree.kind() == Kind::Similarity => items.push(word(tree).to_string()),
                None => {}
            }
        }
        if self.leaf_numbers {
            items.push(format!("leaf={leaf}"));
        }
        comment(text, &items);
    }

    fn node(&self, text: &mut String, node: usize) {
        let name = self.annotations.node_names.as_ref().and_then(|names| names[node].as_ref());
        let support = self.annotations.support.as_ref().map(|support| support[node]).filter(|share| !share.is_nan());
        let support = support.map(|share| if self.shares { share.to_string() } else { percent(share) });
        let mut items = Vec::new();
        items.extend(self.heights.map(|tree| format!("{}={}", word(tree), shortest(tree.heights()[node]))));
        match (name, support) {
            (Some(name), support) => {
                text.push_str(&node_label(name));
                items.extend(support.map(|support| format!("support={support}")));
            }
            (None, Some(support)) => text.push_str(&support),
            (None, None) => {}
        }
        if self.node_numbers {
            items.push(format!("node={}", self.n + node));
        }
        comment(text, &items);
    }

    fn length(&self, text: &mut String, node: usize) {
        if let Some(length) = self.lengths.as_ref().map(|lengths| lengths[node]).filter(|length| !length.is_nan()) {
            let _ = write!(text, ":{}", shortest(length));
        }
    }
}

fn shortest(x: f64) -> String {
    let (plain, scientific) = (x.to_string(), format!("{x:e}"));
    if scientific.len() < plain.len() { scientific } else { plain }
}

fn word(tree: &Dendrogram) -> &'static str {
    if tree.is_dissimilarity() { "dissimilarity" } else { "similarity" }
}

fn comment(text: &mut String, items: &[String]) {
    if !items.is_empty() {
        let _ = write!(text, "[&{}]", items.join(","));
    }
}

pub(super) fn plain_number(name: &str) -> Option<usize> {
    let plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    if plain { name.parse().ok() } else { None }
}

fn first_places(tree: &Topology, standing: &[u32]) -> Vec<u32> {
    let mut first = Topology::places(standing);
    for node in tree.n_leaves()..tree.n_nodes() {
        first.push(tree.children(node).iter().map(|&child| first[child as usize]).min().unwrap_or_default());
    }
    first
}
