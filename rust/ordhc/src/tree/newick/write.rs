//! Trees to Newick text.

use std::fmt::Write;

use super::labels::{leaf_label, node_label, percent, quoted};
use super::{Annotations, Newick};
use crate::error::Result;
use crate::monitor::Monitor;
use crate::tree::Dendrogram;

/// So many nodes are written between two looks at the monitor.
const STRIDE: usize = 4096;

impl Dendrogram {
    /// At which height a leaf stands by itself, unless it has a height of its own.
    pub(super) fn leaf_base(&self) -> f64 {
        if self.is_dissimilarity() { 0.0 } else { self.heights().iter().copied().fold(f64::NEG_INFINITY, f64::max) }
    }

    /// The length of the branch between two heights.
    pub(super) fn length_between(&self, above: f64, below: f64) -> f64 {
        if self.is_dissimilarity() { above - below + 0.0 } else { below - above + 0.0 }
    }
}

enum Step {
    /// A cluster and the height of the merge above it.
    Open(u32, f64),
    Comma,
    Close(u32, f64),
}

pub(super) struct Writer<'a> {
    tree: &'a Dendrogram,
    annotations: &'a Annotations,
    lengths: bool,
    heights: bool,
    n: usize,
    root: u32,
    leaf_base: f64,
    /// Whether support is written as shares.
    shares: bool,
    /// Whether names that are numbers could be taken for the leaves' numbers.
    numbers: bool,
    /// By cluster the place of its first leaf, if children are written by these.
    first: Option<Vec<u32>>,
    /// Whether the leaves' numbers must be told.
    leaf_numbers: bool,
    /// By merge, of the last one of each node: all merges of the node, if they must be told.
    merge_numbers: Option<Vec<Vec<u32>>>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(tree: &'a Dendrogram, annotations: &'a Annotations, newick: &Newick<'_>) -> Self {
        let n = tree.n_leaves();
        // Percents that are all below 1 would be read as shares.
        let largest = annotations.support.iter().flatten().copied().fold(0.0, f64::max);
        let numbers = annotations.names.as_ref().is_some_and(|names| {
            let mut seen = vec![false; n];
            names.iter().all(|name| {
                let number = plain_number(name).filter(|&number| number < n);
                number.is_some_and(|number| !std::mem::replace(&mut seen[number], true))
            })
        });
        let mut writer = Self {
            tree,
            annotations,
            lengths: newick.lengths,
            heights: newick.heights,
            n,
            root: (2 * n - 2) as u32,
            leaf_base: tree.leaf_base(),
            shares: annotations.shares || largest <= 0.01,
            numbers,
            first: annotations.standing.as_ref().map(|standing| first_places(tree, standing)),
            leaf_numbers: false,
            merge_numbers: None,
        };
        if newick.heights {
            let (leaves, closing) = writer.order();
            let is_in_order = leaves.iter().enumerate().all(|(at, &leaf)| at == leaf as usize);
            writer.leaf_numbers = annotations.names.is_some() && !is_in_order;
            writer.merge_numbers = merge_numbers(tree, closing);
        }
        writer
    }

    /// The children of a node in the order in which they are written.
    fn children(&self, merge: usize) -> Vec<u32> {
        let mut children = Vec::new();
        let [a, b] = self.tree.merges()[merge];
        let mut open = vec![b, a];
        while let Some(part) = open.pop() {
            match (part as usize).checked_sub(self.n) {
                Some(merge) if self.tree.is_joined(merge) => {
                    open.extend(self.tree.merges()[merge].iter().rev());
                }
                _ => children.push(part),
            }
        }
        if let Some(first) = &self.first {
            children.sort_unstable_by_key(|&part| first[part as usize]);
        }
        children
    }

    /// The leaves, and the merges that close nodes, as they are written.
    fn order(&self) -> (Vec<u32>, Vec<usize>) {
        let (mut leaves, mut closing) = (Vec::new(), Vec::new());
        let mut open = vec![(self.root, false)];
        while let Some((cluster, closes)) = open.pop() {
            match (cluster as usize).checked_sub(self.n) {
                None => leaves.push(cluster),
                Some(merge) if closes => closing.push(merge),
                Some(merge) => {
                    open.push((cluster, true));
                    open.extend(self.children(merge).into_iter().rev().map(|part| (part, false)));
                }
            }
        }
        (leaves, closing)
    }

    pub(super) fn write(&self, monitor: &Monitor) -> Result<String> {
        let mut text = String::new();
        let mut steps = vec![Step::Open(self.root, f64::NAN)];
        // Clusters open and close, and half of them have a comma.
        monitor.start(5 * self.n as u64);
        let mut at = 0usize;
        while let Some(step) = steps.pop() {
            at += 1;
            if at.is_multiple_of(STRIDE) {
                monitor.advance(STRIDE as u64)?;
            }
            match step {
                Step::Comma => text.push(','),
                Step::Open(cluster, above) => {
                    let Some(merge) = (cluster as usize).checked_sub(self.n) else {
                        self.leaf(&mut text, cluster as usize);
                        self.length(&mut text, cluster as usize, above);
                        continue;
                    };
                    text.push('(');
                    steps.push(Step::Close(cluster, above));
                    let height = self.tree.heights()[merge];
                    for (at, part) in self.children(merge).into_iter().enumerate().rev() {
                        steps.push(Step::Open(part, height));
                        if at > 0 {
                            steps.push(Step::Comma);
                        }
                    }
                }
                Step::Close(cluster, above) => {
                    text.push(')');
                    self.node(&mut text, cluster as usize - self.n);
                    self.length(&mut text, cluster as usize, above);
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
        if !self.heights {
            return;
        }
        let mut items = Vec::new();
        if let Some(heights) = &self.annotations.leaf_heights {
            items.push(format!("{}={}", self.kind(), heights[leaf]));
        } else if self.n == 1 && !self.tree.is_dissimilarity() {
            items.push(self.kind().to_string());
        }
        if self.leaf_numbers {
            items.push(format!("leaf={leaf}"));
        }
        comment(text, &items);
    }

    fn node(&self, text: &mut String, merge: usize) {
        let name = self.annotations.node_names.as_ref().and_then(|names| names[merge].as_ref());
        let support = self.annotations.support.as_ref().map(|support| support[merge]).filter(|share| !share.is_nan());
        let support = support.map(|share| if self.shares { share.to_string() } else { percent(share) });
        let mut items = Vec::new();
        match (name, support) {
            (Some(name), support) => {
                text.push_str(&node_label(name));
                items.extend(support.map(|support| format!("support={support}")));
            }
            (None, Some(support)) => text.push_str(&support),
            (None, None) => {}
        }
        if self.heights {
            items.insert(0, format!("{}={}", self.kind(), self.tree.heights()[merge]));
            if let Some(numbers) = &self.merge_numbers {
                let numbers: Vec<String> = numbers[merge].iter().map(u32::to_string).collect();
                items.push(format!("merge={}", numbers.join("/")));
            }
        }
        comment(text, &items);
    }

    fn length(&self, text: &mut String, cluster: usize, above: f64) {
        if !self.lengths {
            return;
        }
        let length = match &self.annotations.branch_lengths {
            Some(lengths) => lengths[cluster],
            None => {
                let own = match (cluster.checked_sub(self.n), &self.annotations.leaf_heights) {
                    (Some(merge), _) => self.tree.heights()[merge],
                    (None, Some(heights)) => heights[cluster],
                    (None, None) => self.leaf_base,
                };
                self.tree.length_between(above, own)
            }
        };
        if !length.is_nan() {
            let _ = write!(text, ":{length}");
        }
    }

    fn kind(&self) -> &'static str {
        if self.tree.is_dissimilarity() { "dissimilarity" } else { "similarity" }
    }
}

fn comment(text: &mut String, items: &[String]) {
    if !items.is_empty() {
        let _ = write!(text, "[&{}]", items.join(","));
    }
}

/// The number that a leaf without a name would be written as.
pub(super) fn plain_number(name: &str) -> Option<usize> {
    let plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    if plain { name.parse().ok() } else { None }
}

/// By cluster: the place of its first leaf.
fn first_places(tree: &Dendrogram, standing: &[u32]) -> Vec<u32> {
    let mut first = Dendrogram::places(standing);
    for &[a, b] in tree.merges() {
        first.push(first[a as usize].min(first[b as usize]));
    }
    first
}

/// The merges of each node, at its last one, unless they are those that a reader would number; `closing` are
/// the nodes in the order in which they are written.
fn merge_numbers(tree: &Dendrogram, mut closing: Vec<usize>) -> Option<Vec<Vec<u32>>> {
    let n = tree.n_leaves();
    let m = tree.merges().len();
    // By merge: its highest merge below.
    let mut highest = vec![f64::NEG_INFINITY; m];
    for (at, pair) in tree.merges().iter().enumerate() {
        let height = tree.heights()[at];
        highest[at] = highest[at].max(if tree.is_dissimilarity() { height } else { -height });
        for part in pair.iter().filter_map(|&part| (part as usize).checked_sub(n)) {
            highest[at] = highest[at].max(highest[part]);
        }
    }
    let mut numbers = vec![Vec::new(); m];
    let last = tree.last_of_node();
    for at in 0..m {
        numbers[last[at] as usize].push(at as u32);
    }
    closing.sort_by(|&a, &b| highest[a].total_cmp(&highest[b]));
    let found = closing.iter().flat_map(|&merge| &numbers[merge]);
    if found.copied().eq(0..m as u32) { None } else { Some(numbers) }
}
