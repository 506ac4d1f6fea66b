//! From nodes as they stand in the text to a dendrogram.

use super::Annotations;
use super::labels::{Label, number, of_percent, shown};
use super::read::NewickTree;
use super::scan::{Found, Node};
use super::write::plain_number;
use crate::error::{Error, Result};
use crate::kind::Kind;
use crate::monitor::Monitor;
use crate::tree::Dendrogram;
use crate::tree::joined::join;

/// How much the ways from the root to the leaves may differ, as a share of the largest height.
const TOLERANCE: f64 = 1e-4;
const NONE: u32 = u32::MAX;

pub(super) fn assemble(found: Found, monitor: &Monitor) -> Result<NewickTree> {
    let shape = Shape::of(&found.nodes);
    monitor.advance(0)?;
    let mut notes = Vec::new();
    let (heights, dissimilarity) = shape.heights(&found, &mut notes)?;
    monitor.advance(0)?;
    let numbers = shape.merge_numbers(&found, &heights, dissimilarity)?;
    monitor.advance(0)?;
    let mut tree = shape.tree(&numbers, &heights, dissimilarity, !found.merges.is_empty())?;
    let mut annotations = Annotations { standing: Some((0..shape.n as u32).collect()), ..Annotations::default() };
    monitor.advance(0)?;
    shape.label(&found, &numbers, &mut annotations, &mut notes);
    monitor.advance(0)?;
    if numbers.iter().any(|numbers| numbers.len() > 1) {
        let mut joined = vec![false; tree.merges().len()];
        for &part in numbers.iter().filter_map(|numbers| numbers.split_last()).flat_map(|(_, parts)| parts) {
            joined[part] = true;
        }
        tree = tree.with_joined(joined)?;
    }
    annotations.leaf_heights = shape.leaf_heights(&found.nodes, dissimilarity);
    annotations.branch_lengths = shape.branch_lengths(&numbers, &heights, &tree, annotations.leaf_heights.as_deref());
    monitor.advance(0)?;
    let (numbers, is_numbered) = leaf_numbers(&found);
    monitor.advance(0)?;
    annotations.names = Some(found.leaves.into_iter().map(|label| label.text).collect());
    let note = if notes.is_empty() { None } else { Some(notes.join("; ")) };
    Ok(NewickTree { tree, annotations, numbers, is_numbered, note })
}

/// A node that has no child, or more than one.
#[derive(Debug, Clone, Copy)]
struct Kept {
    /// Its place among the nodes as read.
    source: usize,
    /// Of the branch up to the next node that is kept.
    length: f64,
    /// Its number among leaves, or among inner nodes.
    number: u32,
    /// Where its children stand.
    first: u32,
    n_children: u32,
}

/// The tree without nodes of one child.
struct Shape {
    n: usize,
    /// Children before parents, the root last.
    nodes: Vec<Kept>,
    children: Vec<u32>,
    /// Nodes of one child, as read.
    passed: Vec<usize>,
}

impl Shape {
    fn of(found: &[Node]) -> Self {
        let mut shape = Self { n: 0, nodes: Vec::with_capacity(found.len()), children: Vec::new(), passed: Vec::new() };
        let mut open: Vec<u32> = Vec::new();
        let mut n_inner = 0;
        for (source, node) in found.iter().enumerate() {
            let first = shape.children.len() as u32;
            if node.n_children == 1 {
                let child = open.last().map_or(0, |&child| child as usize);
                shape.nodes[child].length = sum(shape.nodes[child].length, node.length);
                shape.passed.push(source);
                continue;
            }
            let number = if node.n_children == 0 { shape.n as u32 } else { n_inner };
            shape.n += usize::from(node.n_children == 0);
            n_inner += u32::from(node.n_children != 0);
            shape.children.extend(open.drain(open.len() - node.n_children as usize..));
            open.push(shape.nodes.len() as u32);
            shape.nodes.push(Kept { source, length: node.length, number, first, n_children: node.n_children });
        }
        shape
    }

    fn children(&self, node: &Kept) -> &[u32] {
        &self.children[node.first as usize..][..node.n_children as usize]
    }

    fn inner(&self) -> impl DoubleEndedIterator<Item = (usize, &Kept)> + Clone {
        self.nodes.iter().enumerate().filter(|(_, node)| node.n_children > 0)
    }

    /// By node its height (that of leaves is 0), and whether heights are dissimilarities.
    fn heights(&self, found: &Found, notes: &mut Vec<String>) -> Result<(Vec<f64>, bool)> {
        let mut heights = vec![0.0f64; self.nodes.len()];
        let read = |node: &Kept| &found.nodes[node.source];
        if self.n == 1 {
            return Ok((heights, read(&self.nodes[0]).dissimilarity.unwrap_or(true)));
        }
        if self.inner().all(|(_, node)| !read(node).height.is_nan()) {
            let mut kinds = self.inner().filter_map(|(_, node)| read(node).dissimilarity);
            let dissimilarity = kinds.next().unwrap_or(true);
            if kinds.any(|kind| kind != dissimilarity) {
                let reason = "the heights are similarities here and dissimilarities there".into();
                return Err(Error::Line { line: 1, reason });
            }
            self.inner().for_each(|(at, node)| heights[at] = read(node).height);
            return Ok((heights, dissimilarity));
        }
        let below_root = &self.nodes[..self.nodes.len() - 1];
        let missing = below_root.iter().filter(|node| node.length.is_nan()).count();
        if missing == 0 {
            let mut shortest = heights.clone();
            for (at, node) in self.inner() {
                let ways = |ends: &[f64]| -> Vec<f64> {
                    self.children(node).iter().map(|&c| ends[c as usize] + self.nodes[c as usize].length).collect()
                };
                let (long, short) = (ways(&heights), ways(&shortest));
                heights[at] = long.into_iter().fold(f64::NEG_INFINITY, f64::max);
                shortest[at] = short.into_iter().fold(f64::INFINITY, f64::min);
            }
            let root = self.nodes.len() - 1;
            let largest = heights.iter().fold(0.0f64, |largest, height| largest.max(height.abs()));
            if largest.is_finite() && heights[root] - shortest[root] <= TOLERANCE * largest {
                return Ok((heights, true));
            }
            notes.push(self.ends(&found.leaves));
        } else if missing < below_root.len() {
            notes.push(format!("{missing} of {} branches have no length", below_root.len()));
        }
        if let Some(why) = notes.last_mut() {
            why.push_str(": heights are ranks, branch lengths are as they were read");
        }
        for (at, node) in self.inner() {
            let below = self.children(node).iter().map(|&child| heights[child as usize]);
            heights[at] = 1.0 + below.fold(0.0, f64::max);
        }
        Ok((heights, true))
    }

    /// Which leaves are nearest to the root and farthest from it.
    fn ends(&self, names: &[Label]) -> String {
        let mut depths = vec![0.0f64; self.nodes.len()];
        for (at, node) in self.inner().rev() {
            for &child in self.children(node) {
                depths[child as usize] = depths[at] + self.nodes[child as usize].length;
            }
        }
        let leaves = || self.nodes.iter().zip(&depths).filter(|(node, _)| node.n_children == 0);
        let name = |node: &Kept| shown(&names[node.number as usize].text);
        let near = leaves().min_by(|a, b| a.1.total_cmp(b.1));
        let far = leaves().max_by(|a, b| a.1.total_cmp(b.1));
        match (near, far) {
            (Some((near, low)), Some((far, high))) => {
                format!("the tree is not ultrametric, `{}` is {low} from the root, `{}` {high}", name(near), name(far))
            }
            _ => "the tree is not ultrametric".to_string(),
        }
    }

    /// By inner node the numbers of its merges, growing.
    fn merge_numbers(&self, found: &Found, heights: &[f64], dissimilarity: bool) -> Result<Vec<Vec<usize>>> {
        let mut numbers = vec![Vec::new(); self.inner().count()];
        if !found.merges.is_empty() {
            let wrong = |what: String| Error::Line { line: 1, reason: format!("comments number merges: {what}") };
            let inner = self.numbers_of_sources(found.nodes.len());
            for (source, given) in &found.merges {
                if let Some(own) = numbers.get_mut(inner[*source] as usize) {
                    *own = given.iter().map(|&number| number as usize).collect();
                }
            }
            let mut seen = vec![false; self.n - 1];
            for (own, (_, node)) in numbers.iter().zip(self.inner()) {
                if own.len() + 1 != node.n_children as usize {
                    return Err(wrong(format!("a node of {} children has {} of them", node.n_children, own.len())));
                }
                if !own.is_sorted() {
                    return Err(wrong(format!("{own:?} do not grow")));
                }
                for &number in own {
                    if seen.get_mut(number).is_none_or(|seen| std::mem::replace(seen, true)) {
                        return Err(wrong(format!("{number} is above {} or occurs twice", self.n as i64 - 2)));
                    }
                }
            }
            return Ok(numbers);
        }
        // An order that never puts a whole before its parts. It is stable, and nodes stand children
        // before parents: equal heights keep that order.
        let mut highest = vec![f64::NEG_INFINITY; self.nodes.len()];
        for (at, node) in self.inner() {
            let own = if dissimilarity { heights[at] } else { -heights[at] };
            highest[at] = self.children(node).iter().map(|&child| highest[child as usize]).fold(own, f64::max);
        }
        let mut order: Vec<(usize, &Kept)> = self.inner().collect();
        order.sort_by(|&(a, _), &(b, _)| highest[a].total_cmp(&highest[b]));
        let mut next = 0;
        for (_, node) in order {
            let end = next + node.n_children as usize - 1;
            numbers[node.number as usize] = (next..end).collect();
            next = end;
        }
        Ok(numbers)
    }

    /// By node as read: its number among inner nodes.
    fn numbers_of_sources(&self, n_nodes: usize) -> Vec<u32> {
        let mut numbers = vec![NONE; n_nodes];
        self.inner().for_each(|(_, node)| numbers[node.source] = node.number);
        numbers
    }

    fn label_of(&self, node: &Kept, numbers: &[Vec<usize>]) -> usize {
        let last = numbers.get(node.number as usize).and_then(|numbers| numbers.last());
        if node.n_children == 0 { node.number as usize } else { self.n + last.copied().unwrap_or(0) }
    }

    fn tree(
        &self,
        numbers: &[Vec<usize>],
        heights: &[f64],
        dissimilarity: bool,
        is_numbered: bool,
    ) -> Result<Dendrogram> {
        let mut merges = vec![[0; 2]; self.n - 1];
        let mut merge_heights = vec![0.0; self.n - 1];
        for ((at, node), numbers_here) in self.inner().zip(numbers) {
            let parts = self.children(node).iter().map(|&child| &self.nodes[child as usize]);
            let mut parts: Vec<u32> = parts.map(|child| self.label_of(child, numbers) as u32).collect();
            if is_numbered {
                // Those that are there by the first of its merges come first.
                parts.sort_unstable();
            }
            join(self.n, numbers_here, &parts, &mut merges);
            numbers_here.iter().for_each(|&number| merge_heights[number] = heights[at]);
        }
        Dendrogram::new(merges, merge_heights, Kind::of(dissimilarity)).map_err(|error| match error {
            Error::Argument(what) if is_numbered => {
                Error::Line { line: 1, reason: format!("comments number merges: {what}") }
            }
            other => other,
        })
    }

    /// Names and support of inner nodes.
    fn label<'a>(
        &self,
        found: &'a Found,
        numbers: &[Vec<usize>],
        annotations: &mut Annotations,
        notes: &mut Vec<String>,
    ) {
        let inner = self.numbers_of_sources(found.nodes.len());
        let merge_of = |source: usize| numbers.get(inner[source] as usize).and_then(|numbers| numbers.last()).copied();
        let in_range = |value: f64| (0.0..=100.0).contains(&value);
        let is_support = found.labels.iter().filter_map(|(_, label)| label.number()).all(in_range);
        let mut names = vec![None; self.n - 1];
        let mut support: Vec<(usize, &'a str)> = Vec::new();
        let mut lost = Vec::new();
        for (source, label) in &found.labels {
            match merge_of(*source) {
                None => lost.push(shown(&label.text)),
                Some(merge) => match label.support().filter(|_| is_support) {
                    Some(text) => support.push((merge, text)),
                    None => names[merge] = Some(label.text.clone()),
                },
            }
        }
        let of_comments = |comments: &'a [(usize, String)]| {
            comments.iter().filter_map(|(source, text)| Some((merge_of(*source)?, text.as_str())))
        };
        support.extend(of_comments(&found.support));
        if support.is_empty() {
            support.extend(of_comments(&found.foreign_support));
        }
        annotations.shares =
            !support.is_empty() && support.iter().all(|(_, text)| number(text).is_some_and(|s| s <= 1.0));
        if !support.is_empty() {
            let mut values = vec![f64::NAN; self.n - 1];
            for (merge, text) in support {
                let share = if annotations.shares { number(text) } else { of_percent(text) };
                values[merge] = share.unwrap_or(f64::NAN) + 0.0;
            }
            annotations.support = Some(values);
        }
        if names.iter().any(Option::is_some) {
            annotations.node_names = Some(names);
        }
        if !lost.is_empty() {
            let more = if lost.len() > 3 { format!(" and {} more", lost.len() - 3) } else { String::new() };
            lost.truncate(3);
            notes.push(format!("nodes of one child are passed over with their labels `{}`{more}", lost.join("`, `")));
        }
    }

    fn leaf_heights(&self, found: &[Node], dissimilarity: bool) -> Option<Vec<f64>> {
        let leaves = self.nodes.iter().filter(|node| node.n_children == 0).map(|node| &found[node.source]);
        let fits = |node: &Node| !node.height.is_nan() && node.dissimilarity == Some(dissimilarity);
        leaves.map(|node| fits(node).then_some(node.height)).collect()
    }

    /// By cluster, unless heights tell them.
    fn branch_lengths(
        &self,
        numbers: &[Vec<usize>],
        heights: &[f64],
        tree: &Dendrogram,
        leaf_heights: Option<&[f64]>,
    ) -> Option<Vec<f64>> {
        let base = tree.leaf_base();
        let mut lengths = vec![f64::NAN; 2 * self.n - 1];
        let root = &self.nodes[self.nodes.len() - 1];
        lengths[self.label_of(root, numbers)] = root.length;
        let mut told = root.length.is_nan();
        for (above, node) in self.inner() {
            for &child in self.children(node) {
                let below = &self.nodes[child as usize];
                let label = self.label_of(below, numbers);
                lengths[label] = below.length;
                let leaf_height = || leaf_heights.map_or(base, |own| own[label]);
                let own = if below.n_children == 0 { leaf_height() } else { heights[child as usize] };
                told &= tree.length_between(heights[above], own) == below.length;
            }
        }
        if told { None } else { Some(lengths) }
    }
}

/// Branches one after the other.
fn sum(a: f64, b: f64) -> f64 {
    if a.is_nan() {
        b
    } else if b.is_nan() {
        a
    } else {
        a + b
    }
}

/// The leaves' numbers, where the text tells them, and whether these are all that it tells.
fn leaf_numbers(found: &Found) -> (Option<Vec<u32>>, bool) {
    let n = found.leaves.len();
    let plain = |label: &Label| if label.is_quoted { None } else { plain_number(&label.text) };
    let plain: Option<Vec<usize>> = found.leaves.iter().map(plain).collect();
    if let Some(numbers) = plain.and_then(|numbers| permutation(n, numbers.into_iter())) {
        return (Some(numbers), true);
    }
    let of_leaves = found.numbers.iter().filter(|(source, _)| found.nodes[*source].n_children == 0);
    (permutation(n, of_leaves.map(|&(_, number)| number as usize)), false)
}

fn permutation(n: usize, numbers: impl Iterator<Item = usize>) -> Option<Vec<u32>> {
    let mut seen = vec![false; n];
    let mut found = Vec::with_capacity(n);
    for number in numbers {
        if std::mem::replace(seen.get_mut(number)?, true) {
            return None;
        }
        found.push(number as u32);
    }
    (found.len() == n).then_some(found)
}
