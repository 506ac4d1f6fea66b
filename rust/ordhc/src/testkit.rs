//! Helpers for the tests of several modules.

use crate::kind::Kind;
use crate::tree::{Dendrogram, Topology};

fn states(mut state: u64) -> impl FnMut() -> u64 {
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state
    }
}

pub(crate) fn fractions(seed: u64) -> impl FnMut() -> f64 {
    let mut next = states(seed);
    move || (next() >> 11) as f64 / (1u64 << 53) as f64
}

pub(crate) fn below(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut next = states(seed);
    move |below| (next() >> 33) % below
}

/// Returns the leaves below each node, in ascending order.
pub(crate) fn members(tree: &Topology) -> Vec<Vec<u32>> {
    let mut members: Vec<Vec<u32>> = (0..tree.n_leaves() as u32).map(|leaf| vec![leaf]).collect();
    for node in tree.n_leaves()..tree.n_nodes() {
        let parts: Vec<_> = tree.children(node).iter().map(|&child| members[child as usize].clone()).collect();
        members.push(parts.concat());
        members[node].sort_unstable();
    }
    members
}

pub(crate) fn all_trees(n: usize) -> Vec<Dendrogram> {
    #[derive(Clone)]
    enum Node {
        Leaf(u32),
        Pair(Box<[Node; 2]>),
    }
    fn with(node: &Node, leaf: u32) -> Vec<Node> {
        let mut all = vec![Node::Pair(Box::new([node.clone(), Node::Leaf(leaf)]))];
        if let Node::Pair(parts) = node {
            let [a, b] = &**parts;
            all.extend(with(a, leaf).into_iter().map(|a| Node::Pair(Box::new([a, b.clone()]))));
            all.extend(with(b, leaf).into_iter().map(|b| Node::Pair(Box::new([a.clone(), b]))));
        }
        all
    }
    fn merges(node: &Node, n: u32, found: &mut Vec<[u32; 2]>) -> u32 {
        match node {
            Node::Leaf(leaf) => *leaf,
            Node::Pair(parts) => {
                let pair = [merges(&parts[0], n, found), merges(&parts[1], n, found)];
                found.push(pair);
                n + found.len() as u32 - 1
            }
        }
    }
    let mut trees = vec![Node::Leaf(0)];
    for leaf in 1..n as u32 {
        trees = trees.iter().flat_map(|tree| with(tree, leaf)).collect();
    }
    let dendrogram = |node: &Node| {
        let mut found = Vec::new();
        merges(node, n as u32, &mut found);
        Dendrogram::new(found, vec![0.0; n - 1], Kind::Similarity).unwrap()
    };
    trees.iter().map(dendrogram).collect()
}
