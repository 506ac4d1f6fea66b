//! Lowest common ancestors.

use super::RangeMax;
use super::topology::Topology;

/// An index that returns the node at which two leaves join, and the number of leaves below this node.
///
/// The leaves are ordered from left to right. For each two neighbouring leaves, the node at which they join is stored.
/// The lowest common ancestor (LCA) of two leaves is the stored node between them with the largest index (a range
/// maximum). A sparse table takes O(n log n) to build and O(1) per query.
///
/// ```
/// use ordhc::bindings::LcaSizes;
/// use ordhc::tree::Topology;
///
/// let lca = LcaSizes::new(&Topology::from_merges(vec![[0, 1], [2, 3]])?);
/// assert_eq!((lca.size(0, 1), lca.size(1, 2), lca.size(2, 2)), (2, 3, 1));
/// # Ok::<(), ordhc::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LcaSizes {
    places: Vec<u32>,
    /// For each two neighbouring leaves: the node at which they join, counted from the first inner node.
    gaps: RangeMax,
    sizes: Vec<u32>,
    starts: Vec<u32>,
}

impl LcaSizes {
    /// Builds the index of a tree.
    pub fn new(tree: &Topology) -> Self {
        let n = tree.n_leaves();
        let places = Topology::places(&tree.leaf_order());
        let mut starts = places.clone();
        let mut gaps = vec![0; n - 1];
        for node in n..tree.n_nodes() {
            let first = tree.children(node).iter().map(|&child| starts[child as usize]).min().unwrap_or_default();
            for &child in tree.children(node) {
                if let Some(gap) =
                    (starts[child as usize] as usize).checked_sub(1).filter(|_| starts[child as usize] > first)
                {
                    gaps[gap] = (node - n) as u32;
                }
            }
            starts.push(first);
        }
        Self { places, gaps: RangeMax::new(gaps), sizes: tree.sizes().to_vec(), starts }
    }

    /// Returns the node at which two different leaves join, counted from the first inner node.
    pub fn node(&self, i: usize, j: usize) -> usize {
        let (i, j) = (self.places[i], self.places[j]);
        self.gaps.max(i.min(j) as usize, i.max(j) as usize) as usize
    }

    /// Returns true if the inner node `inner` is at or below the inner node `outer`. Index 0 is the first inner node.
    pub(crate) fn holds(&self, outer: usize, inner: usize) -> bool {
        let [first, start] = [inner, outer].map(|node| self.starts[self.n_leaves() + node]);
        (start..start + self.sizes[outer]).contains(&first) && inner <= outer
    }

    /// Returns the number of leaves below the LCA of two leaves. The number is 1 if both are the same leaf.
    pub fn size(&self, i: usize, j: usize) -> u32 {
        if i == j { 1 } else { self.sizes[self.node(i, j)] }
    }

    /// Returns the index (0 to 2) in `leaves` of the odd one out of three different leaves: the leaf that joins after
    /// the two other leaves have joined. Returns -1 if all three join at one node.
    ///
    /// ```
    /// use ordhc::bindings::LcaSizes;
    /// use ordhc::Dendrogram;
    ///
    /// let lca = LcaSizes::new(Dendrogram::from_newick("(0,1,(2,3));")?.0.topology());
    /// assert_eq!((lca.odd_one_out([0, 2, 3]), lca.odd_one_out([0, 1, 2])), (0, -1));
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    pub fn odd_one_out(&self, leaves: [u32; 3]) -> i8 {
        let place = |at: usize| self.places[leaves[at] as usize] as usize;
        let mut order = [0, 1, 2];
        order.sort_unstable_by_key(|&at| place(at));
        let [left, middle, right] = order.map(place);
        match self.gaps.max(left, middle).cmp(&self.gaps.max(middle, right)) {
            std::cmp::Ordering::Less => order[2] as i8,
            std::cmp::Ordering::Greater => order[0] as i8,
            std::cmp::Ordering::Equal => -1,
        }
    }

    /// Returns the number of leaves of the tree.
    pub fn n_leaves(&self) -> usize {
        self.places.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::members;

    #[test]
    fn every_pair_of_some_trees() {
        let trees = [
            (1, vec![0]),
            (2, vec![2, 2, 2]),
            (4, vec![5, 4, 5, 4, 6, 6, 6]),
            (5, vec![5, 8, 7, 6, 5, 6, 7, 8, 8]),
            (6, vec![6, 7, 8, 8, 7, 6, 10, 9, 9, 10, 10]),
            (6, vec![6, 7, 6, 7, 8, 6, 8, 8, 8]),
            (4, vec![4; 5]),
        ];
        for (n, parents) in trees {
            let tree = Topology::from_parents(n, parents).unwrap();
            let lca = LcaSizes::new(&tree);
            let members = members(&tree);
            for i in 0..n {
                for j in 0..n {
                    let holds = |cluster: &&Vec<u32>| cluster.contains(&(i as u32)) && cluster.contains(&(j as u32));
                    let expected = members.iter().filter(holds).map(Vec::len).min().unwrap();
                    assert_eq!(lca.size(i, j) as usize, expected);
                }
            }
            for outer in 0..tree.n_inner() {
                for inner in 0..tree.n_inner() {
                    let is_within = members[n + inner].iter().all(|leaf| members[n + outer].contains(leaf));
                    assert_eq!(lca.holds(outer, inner), is_within);
                }
            }
        }
    }
}
