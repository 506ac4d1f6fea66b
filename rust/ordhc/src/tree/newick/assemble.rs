use super::Annotations;
use super::labels::{Label, number, of_percent, shown};
use super::read::NewickTree;
use super::scan::{Found, Node};
use super::write::plain_number;
use crate::error::{Error, Result};
use crate::kind::Kind;
use crate::monitor::Monitor;
use crate::tree::{AdditiveTree, Dendrogram, Topology, Tree};

const NONE: u32 = u32::MAX;

pub(super) fn assemble(found: Found, monitor: &Monitor) -> Result<NewickTree> {
    let (leaves, is_numbered) = leaf_numbers(&found);
    let n = found.leaves.len();
    let leaves = leaves.unwrap_or_else(|| (0..n as u32).collect());
    let shape = Shape::of(&found.nodes, &leaves);
    monitor.advance(0)?;
    let mut notes = Vec::new();
    let tree = shape.tree(&found, &mut notes)?;
    monitor.advance(0)?;
    let has_node_numbers = !found.inner.is_empty();
    // `numbers` has, for each inner node in the order of the text, its index among the inner nodes of the result.
    let (tree, numbers) = match has_node_numbers {
        true => (tree, shape.comment_numbers(&found)?),
        false => {
            let (tree, order) = tree.sorted();
            let mut numbers = vec![0; order.len() - n];
            order[n..].iter().zip(0..).for_each(|(&old, new)| numbers[old as usize - n] = new);
            (tree, numbers)
        }
    };
    monitor.advance(0)?;
    let mut annotations = Annotations::default();
    shape.label(&found, &numbers, &mut annotations, &mut notes);
    monitor.advance(0)?;
    let mut names: Vec<String> = found.leaves.into_iter().map(|label| label.text).collect();
    if !leaves.is_sorted() {
        let mut ordered = vec![String::new(); n];
        names.into_iter().zip(&leaves).for_each(|(name, &leaf)| ordered[leaf as usize] = name);
        names = ordered;
    }
    (annotations.names, annotations.standing) = (Some(names), Some(leaves));
    let note = if notes.is_empty() { None } else { Some(notes.join("; ")) };
    Ok(NewickTree { tree, annotations, is_numbered, has_node_numbers, note })
}

/// A node of the Newick text that becomes a node of the tree, because it has no children, or more than one.
#[derive(Debug, Clone, Copy)]
struct Kept {
    /// The index of the node in [`Found::nodes`].
    source: usize,
    length: f64,
    /// For a leaf: its index in the tree. For an inner node: its index among the kept inner nodes, in the order of the
    /// text.
    number: u32,
    first: u32,
    n_children: u32,
}

struct Shape {
    n: usize,
    /// The nodes, children before parents, with the root last.
    nodes: Vec<Kept>,
    children: Vec<u32>,
}

impl Shape {
    /// `leaves[k]` is the index in the tree of the k-th leaf of the text.
    fn of(found: &[Node], leaves: &[u32]) -> Self {
        let mut shape = Self { n: 0, nodes: Vec::with_capacity(found.len()), children: Vec::new() };
        let mut open: Vec<u32> = Vec::new();
        let mut n_inner = 0;
        for (source, node) in found.iter().enumerate() {
            let first = shape.children.len() as u32;
            if node.n_children == 1 {
                let child = open.last().map_or(0, |&child| child as usize);
                shape.nodes[child].length = sum(shape.nodes[child].length, node.length);
                continue;
            }
            let number = if node.n_children == 0 { leaves[shape.n] } else { n_inner };
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

    /// Returns the tree. Inner nodes have the indices in the comments of the text. Without such comments, inner nodes
    /// are in the order of the text.
    fn tree(&self, found: &Found, notes: &mut Vec<String>) -> Result<Tree> {
        let n = self.n;
        let numbers = if found.inner.is_empty() {
            (0..).take(self.nodes.len() - n).collect()
        } else {
            self.comment_numbers(found)?
        };
        let label = |node: &Kept| match node.n_children {
            0 => node.number as usize,
            _ => n + numbers[node.number as usize] as usize,
        };
        let mut parents = vec![0; self.nodes.len()];
        for (_, node) in self.inner() {
            for &child in self.children(node) {
                let (below, above) = (label(&self.nodes[child as usize]), label(node));
                if below >= above {
                    return Err(numbering(format!("node {below} is below node {above}, so needs a smaller number")));
                }
                parents[below] = above as u32;
            }
        }
        let topology = Topology::from_parents(n, parents).map_err(|error| numbering(error.to_string()))?;
        let read = |node: &Kept| &found.nodes[node.source];
        let by_node = |value: &dyn Fn(&Kept) -> f64| {
            let mut values = vec![f64::NAN; self.nodes.len()];
            self.nodes.iter().for_each(|node| values[label(node)] = value(node));
            values
        };
        let below_root = &self.nodes[..self.nodes.len() - 1];
        let missing = below_root.iter().filter(|node| node.length.is_nan()).count();
        if self.inner().all(|(_, node)| !read(node).height.is_nan()) && (n > 1 || self.nodes[0].length.is_nan()) {
            let mut kinds = self.nodes.iter().filter_map(|node| read(node).dissimilarity);
            let dissimilarity = kinds.next().unwrap_or(true);
            if kinds.any(|kind| kind != dissimilarity) {
                let reason = "some heights are similarities and others dissimilarities".into();
                return Err(Error::Line { line: 1, reason });
            }
            let mut leaf_heights = by_node(&|node| read(node).height);
            let heights = leaf_heights.split_off(n);
            let leaf_heights =
                if leaf_heights.iter().any(|height| height.is_nan()) { None } else { Some(leaf_heights) };
            let tree = Dendrogram::of_nodes(topology, heights, Kind::of(dissimilarity))?;
            return Ok(Tree::Heights(tree.with_leaf_heights(leaf_heights)?));
        }
        if n > 1 && missing == below_root.len() {
            return Ok(Tree::Shape(topology));
        }
        if missing > 0 {
            notes.push(format!(
                "{missing} of {} branches have no length, so some paths have no length",
                below_root.len()
            ));
        }
        Ok(Tree::Lengths(AdditiveTree::new(topology, by_node(&|node| node.length))?))
    }

    fn comment_numbers(&self, found: &Found) -> Result<Vec<u32>> {
        let inner = self.numbers_of_sources(found.nodes.len());
        let mut numbers = vec![NONE; self.nodes.len() - self.n];
        let mut seen = vec![false; numbers.len()];
        for &(source, label) in &found.inner {
            let number = (label as usize).wrapping_sub(self.n);
            if inner[source] == NONE || seen.get_mut(number).is_none_or(|seen| std::mem::replace(seen, true)) {
                return Err(numbering(format!("{label} is not the number of an inner node, or occurs twice")));
            }
            numbers[inner[source] as usize] = number as u32;
        }
        match numbers.iter().position(|&number| number == NONE) {
            Some(_) => Err(numbering("some inner nodes have none".into())),
            None => Ok(numbers),
        }
    }

    fn numbers_of_sources(&self, n_nodes: usize) -> Vec<u32> {
        let mut numbers = vec![NONE; n_nodes];
        self.inner().for_each(|(_, node)| numbers[node.source] = node.number);
        numbers
    }

    fn label<'a>(&self, found: &'a Found, numbers: &[u32], annotations: &mut Annotations, notes: &mut Vec<String>) {
        let inner = self.numbers_of_sources(found.nodes.len());
        let node_of = |source: usize| numbers.get(inner[source] as usize).map(|&number| number as usize);
        let in_range = |value: f64| (0.0..=100.0).contains(&value);
        let is_support = found.labels.iter().filter_map(|(_, label)| label.number()).all(in_range);
        let mut names = vec![None; numbers.len()];
        let mut support: Vec<(usize, &'a str)> = Vec::new();
        let mut lost = Vec::new();
        for (source, label) in &found.labels {
            match node_of(*source) {
                None => lost.push(shown(&label.text)),
                Some(node) => match label.support().filter(|_| is_support) {
                    Some(text) => support.push((node, text)),
                    None => names[node] = Some(label.text.clone()),
                },
            }
        }
        let of_comments = |comments: &'a [(usize, String)]| {
            comments.iter().filter_map(|(source, text)| Some((node_of(*source)?, text.as_str())))
        };
        support.extend(of_comments(&found.support));
        if support.is_empty() {
            support.extend(of_comments(&found.foreign_support));
        }
        annotations.shares =
            !support.is_empty() && support.iter().all(|(_, text)| number(text).is_some_and(|s| s <= 1.0));
        if !support.is_empty() {
            let mut values = vec![f64::NAN; numbers.len()];
            for (node, text) in support {
                let share = if annotations.shares { number(text) } else { of_percent(text) };
                values[node] = share.unwrap_or(f64::NAN) + 0.0;
            }
            annotations.support = Some(values);
        }
        if names.iter().any(Option::is_some) {
            annotations.node_names = Some(names);
        }
        if !lost.is_empty() {
            let more = if lost.len() > 3 { format!(" and {} more", lost.len() - 3) } else { String::new() };
            lost.truncate(3);
            notes.push(format!("nodes with one child were removed, with their labels `{}`{more}", lost.join("`, `")));
        }
    }
}

fn numbering(what: String) -> Error {
    Error::Line { line: 1, reason: format!("comments number the inner nodes: {what}") }
}

/// Adds two lengths. NaN is an unknown length, which is ignored.
fn sum(a: f64, b: f64) -> f64 {
    if a.is_nan() {
        b
    } else if b.is_nan() {
        a
    } else {
        a + b
    }
}

/// Returns the index that the Newick text gives to each leaf, as its label or in a comment. Returns `None` if some
/// leaves have no index. Also returns true if the labels are the indices.
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
