//! BUILD: the tree of given triplets, or a proof that there is none.

use super::Dendrogram;
use super::nodes::{Child, dendrogram_of_nodes};
use crate::comparison::Comparisons;
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::sorting::order_by_key;
use crate::union_find::UnionFind;

/// Returns the tree that satisfies every triplet (i, j, k): i and j are closer to each other than to k.
///
/// The algorithm is BUILD (Aho, Sagiv, Szymanski & Ullman 1981). At each node, a graph joins i and j for every triplet
/// within the node's leaves. The connected components of this graph are the node's children, so each node is divided
/// into as many children as the triplets allow. A node with more than two children becomes several merges of equal
/// height. Heights are dissimilarities: the number of levels below. Triplets of weight 0 are ignored.
///
/// # Errors
/// [`Error::Leaves`] with a minimal set of triplets that no tree satisfies; [`Error::Interrupted`].
///
/// ```
/// use ordhc::{Triplets, tree::build};
///
/// let triplets = Triplets::new(vec![[0, 1, 2], [2, 3, 0]], None)?;
/// assert_eq!(build(&triplets, None)?.newick().to_string(), "((0,1),(2,3));");
///
/// let circle = Triplets::new(vec![[0, 1, 2], [1, 2, 0], [3, 4, 5]], None)?;
/// let error = build(&circle, None).unwrap_err().to_string();
/// assert!(error.contains("(0, 1, 2) and (1, 2, 0)"));
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn build(triplets: &Comparisons<'_, 3>, monitor: Option<&Monitor>) -> Result<Dendrogram> {
    watched!(monitor);
    let n = triplets.n_leaves();
    let counts = |at: usize| triplets.weights().is_none_or(|weights| weights[at] > 0.0);
    let mut rows: Vec<[u32; 3]> = Vec::with_capacity(triplets.len());
    triplets.rows().each(0..triplets.len(), |at, row| {
        if counts(at) {
            rows.push(row.map(|id| id as u32));
        }
    });
    // (i, j, k) and (j, i, k) mean the same here, so keep only one of them.
    let said = |&[i, j, k]: &[u32; 3]| [i.min(j), i.max(j), k];
    order_by_key(&mut rows, |row| (said(&row), row));
    rows.dedup_by_key(|row| said(row));
    monitor.start(n as u64);
    match nodes(&(0..n as u32).collect::<Vec<_>>(), rows, monitor)? {
        Ok(nodes) => {
            // Reverse the order of nodes: parents come first here, but last in a dendrogram.
            let last = nodes.len() - 1;
            let turned = |child: Child| match child {
                Child::Node(node) => Child::Node(last - node),
                leaf @ Child::Leaf(_) => leaf,
            };
            let nodes: Nodes = nodes.into_iter().rev().map(|node| node.into_iter().map(turned).collect()).collect();
            dendrogram_of_nodes(n, &nodes)
        }
        Err(inconsistent) => {
            let smallest = minimal(inconsistent, monitor)?;
            let before = format!("no tree satisfies these {} triplets (anchor, near, far): ", smallest.len());
            let leaves = smallest.iter().map(|triplet| triplet.map(|leaf| leaf as usize).to_vec()).collect();
            Err(Error::Leaves { before, leaves, after: String::new() })
        }
    }
}

type Nodes = Vec<Vec<Child>>;

/// Returns the nodes, parents first. If no tree satisfies all triplets, returns some triplets that no tree satisfies.
fn nodes(leaves: &[u32], rows: Vec<[u32; 3]>, monitor: &Monitor) -> Result<std::result::Result<Nodes, Vec<[u32; 3]>>> {
    let n = leaves.iter().max().map_or(0, |&leaf| leaf as usize + 1);
    let mut nodes: Nodes = vec![Vec::new()];
    let mut open = vec![(0usize, leaves.to_vec(), rows)];
    // Groups the leaves of the current node: the leaves of a group are below the same child.
    let mut forest = UnionFind::new(n);
    let mut part_of = vec![0u32; n];
    while let Some((node, leaves, rows)) = open.pop() {
        leaves.iter().for_each(|&leaf| forest.reset(leaf));
        let mut joining = Vec::new();
        for row in &rows {
            if forest.join(row[0], row[1]) {
                joining.push(*row);
            }
        }
        let mut parts: Vec<Vec<u32>> = Vec::new();
        for &leaf in &leaves {
            // The union-find root of a group is its smallest leaf, so the root comes before the other leaves.
            let root = forest.find(leaf) as usize;
            if root == leaf as usize {
                part_of[root] = parts.len() as u32;
                parts.push(Vec::new());
            }
            part_of[leaf as usize] = part_of[root];
            parts[part_of[root] as usize].push(leaf);
        }
        if parts.len() == 1 && leaves.len() > 1 {
            return Ok(Err(joining));
        }
        let mut rows_of: Vec<Vec<[u32; 3]>> = vec![Vec::new(); parts.len()];
        for row in rows {
            let [i, _, k] = row.map(|leaf| part_of[leaf as usize]);
            if i == k {
                rows_of[i as usize].push(row);
            }
        }
        for (part, rows) in parts.into_iter().zip(rows_of) {
            if part.len() == 1 {
                nodes[node].push(Child::Leaf(part[0]));
            } else {
                nodes.push(Vec::new());
                let new = nodes.len() - 1;
                nodes[node].push(Child::Node(new));
                open.push((new, part, rows));
            }
        }
        monitor.advance(1)?;
    }
    Ok(Ok(nodes))
}

fn is_inconsistent(rows: &[[u32; 3]], monitor: &Monitor) -> Result<bool> {
    let mut leaves: Vec<u32> = rows.iter().flatten().copied().collect();
    leaves.sort_unstable();
    leaves.dedup();
    Ok(nodes(&leaves, rows.to_vec(), monitor)?.is_err())
}

fn minimal(mut rows: Vec<[u32; 3]>, monitor: &Monitor) -> Result<Vec<[u32; 3]>> {
    let mut step = rows.len().next_power_of_two() / 2;
    while step > 0 {
        let mut at = 0;
        while at < rows.len() {
            let end = (at + step).min(rows.len());
            let fewer = [&rows[..at], &rows[end..]].concat();
            if is_inconsistent(&fewer, monitor)? {
                rows = fewer;
            } else {
                at = end;
            }
        }
        step /= 2;
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(rows: Vec<[i32; 3]>, n: usize) -> String {
        let triplets = Comparisons::<3>::new(rows, Some(n)).unwrap();
        match build(&triplets, None) {
            Ok(tree) => tree.newick().to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn trees_come_back() {
        assert_eq!(text(vec![], 1), "0;");
        assert_eq!(text(vec![], 2), "(0,1);");
        assert_eq!(text(vec![[0, 1, 2], [0, 2, 3], [0, 3, 4]], 5), "(4,(3,(2,(0,1))));");
        let tree = build(&Comparisons::<3>::new(vec![[0, 3, 1]], Some(4)).unwrap(), None).unwrap();
        assert_eq!((tree.sizes(), tree.heights()), (&[2, 4][..], &[1.0, 2.0][..]));
    }

    #[test]
    fn inconsistent_triplets_are_shown() {
        let shown = text(vec![[0, 1, 2], [0, 2, 1], [3, 4, 5]], 6);
        assert!(shown.ends_with("(0, 1, 2) and (0, 2, 1)"), "{shown}");
        let shown = text(vec![[0, 1, 2], [1, 2, 3], [2, 3, 0], [4, 5, 0]], 6);
        assert!(shown.contains("these 3 triplets"), "{shown}");
    }
}
