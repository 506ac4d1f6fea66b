//! Ordered merges with heights.

use super::raw::RawMerge;
use crate::error::{Error, Position, Result, check_n_leaves};
use crate::kind::Kind;

/// A dendrogram: the merges of `n` leaves into one cluster, in order, with their heights.
///
/// Clusters are labelled as SciPy labels them: leaves are `0..n`, merge `k` makes cluster `n + k`.
/// Heights are similarities or dissimilarities at the merge, see
/// [`kind`](Dendrogram::kind).
///
/// ```
/// use ordhc::{Dendrogram, Kind};
///
/// let tree = Dendrogram::new(vec![[0, 1], [2, 3]], vec![0.5, 2.0], Kind::Dissimilarity)?;
/// assert_eq!(tree.n_leaves(), 3);
/// assert_eq!(tree.sizes(), [2, 3]);
/// assert_eq!(tree.newick().to_string(), "(2,(0,1));");
/// # Ok::<(), ordhc::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Dendrogram {
    merges: Vec<[u32; 2]>,
    heights: Vec<f64>,
    sizes: Vec<u32>,
    kind: Kind,
    /// By merge; empty where none is.
    joined: Vec<bool>,
}

impl Dendrogram {
    /// Checks merges and heights: every cluster is merged once, after it was made, into one root.
    ///
    /// # Errors
    /// The merge that isn't possible; a height that is not finite.
    pub fn new(merges: Vec<[u32; 2]>, heights: Vec<f64>, kind: Kind) -> Result<Self> {
        let n = merges.len() + 1;
        if heights.len() != merges.len() {
            return Err(Error::Length { what: "heights", found: heights.len(), of: "merges", expected: merges.len() });
        }
        check_n_leaves(n)?;
        let mut used = vec![false; n + merges.len()];
        let mut sizes: Vec<u32> = Vec::with_capacity(merges.len());
        for (k, pair) in merges.iter().enumerate() {
            let mut size = 0;
            for &cluster in pair {
                let cluster = cluster as usize;
                if cluster >= n + k {
                    return Err(Error::Argument(format!(
                        "merge {k}: cluster {cluster} is not made yet (there are 0..={})",
                        n + k - 1
                    )));
                }
                if std::mem::replace(&mut used[cluster], true) {
                    return Err(Error::Argument(format!("merge {k}: cluster {cluster} is merged a second time")));
                }
                size += if cluster < n { 1 } else { sizes[cluster - n] };
            }
            sizes.push(size);
        }
        if let Some(k) = heights.iter().position(|h| !h.is_finite()) {
            let limit = "heights must be finite";
            return Err(Error::BadValue { what: "the height", place: Position::Merge(k), value: heights[k], limit });
        }
        let merges = merges.into_iter().map(|[a, b]| [a.min(b), a.max(b)]).collect();
        Ok(Self { merges, heights, sizes, kind, joined: Vec::new() })
    }

    /// From merges of clusters named by their smallest leaves, in order.
    pub(crate) fn in_order(n: usize, raw: Vec<RawMerge>) -> Result<Self> {
        let mut label: Vec<u32> = (0..n as u32).collect();
        let mut merges = Vec::with_capacity(raw.len());
        for (k, merge) in raw.iter().enumerate() {
            merges.push([label[merge.i], label[merge.j]]);
            label[merge.i] = (n + k) as u32;
        }
        if merges.len() + 1 != n {
            return Err(Error::Argument(format!("{} merges do not join {n} leaves", merges.len())));
        }
        Self::new(merges, raw.iter().map(|merge| merge.similarity).collect(), Kind::Similarity)
    }

    /// Makes similarities at merges never increase, where only rounding made them do so.
    pub(crate) fn make_monotone(&mut self) {
        for k in 1..self.heights.len() {
            self.heights[k] = self.heights[k].min(self.heights[k - 1]);
        }
    }

    /// The same tree with other heights.
    pub(crate) fn map_heights(mut self, dissimilarity: bool, map: impl Fn(f64) -> f64) -> Self {
        // Negation turns 0 into -0; adding 0 turns it back.
        self.heights.iter_mut().for_each(|height| *height = map(*height) + 0.0);
        self.kind = Kind::of(dissimilarity);
        self
    }

    /// The same nodes, cut into other merges.
    pub(super) fn of_merges(&self, mut merges: Vec<[u32; 2]>) -> Self {
        merges.iter_mut().for_each(|pair| pair.sort_unstable());
        let mut sizes: Vec<u32> = Vec::with_capacity(merges.len());
        for pair in &merges {
            let parts = pair.map(|part| match (part as usize).checked_sub(self.n_leaves()) {
                None => 1,
                Some(merge) => sizes[merge],
            });
            sizes.push(parts[0] + parts[1]);
        }
        Self { merges, sizes, ..self.clone() }
    }

    /// The number of leaves.
    pub fn n_leaves(&self) -> usize {
        self.merges.len() + 1
    }

    /// The two clusters of each merge, the smaller label first.
    pub fn merges(&self) -> &[[u32; 2]] {
        &self.merges
    }

    /// The height of each merge.
    pub fn heights(&self) -> &[f64] {
        &self.heights
    }

    /// The number of leaves of the cluster that each merge makes.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// By merge: whether it is only a part of the node of the merge above, which then has more than two children.
    /// Empty where every merge is a node of its own, as all merges of an agglomeration are.
    pub fn joined(&self) -> &[bool] {
        &self.joined
    }

    /// Sets [`joined`](Self::joined).
    pub(super) fn set_joined(&mut self, joined: Vec<bool>) {
        self.joined = if joined.contains(&true) { joined } else { Vec::new() };
    }

    /// Whether a merge is only a part of the node of the merge above.
    pub(crate) fn is_joined(&self, merge: usize) -> bool {
        self.joined.get(merge).is_some_and(|&joined| joined)
    }

    /// Whether heights are dissimilarities (they grow towards the root) or similarities.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn is_dissimilarity(&self) -> bool {
        self.kind.is_dissimilarity()
    }

    /// Whether no merge is closer than the merges it builds on (there are no inversions).
    pub fn is_monotone(&self) -> bool {
        let n = self.n_leaves();
        self.merges.iter().zip(&self.heights).all(|(pair, &height)| {
            pair.iter().filter_map(|&part| (part as usize).checked_sub(n)).all(|part| {
                if self.is_dissimilarity() { self.heights[part] <= height } else { self.heights[part] >= height }
            })
        })
    }

    /// The leaves from left to right, the cluster with the smaller label on the left.
    pub fn leaf_order(&self) -> Vec<u32> {
        let n = self.n_leaves();
        let mut order = Vec::with_capacity(n);
        let mut open = vec![(2 * n - 2) as u32];
        while let Some(cluster) = open.pop() {
            match (cluster as usize).checked_sub(n) {
                None => order.push(cluster),
                Some(merge) => open.extend(self.merges[merge].iter().rev()),
            }
        }
        order
    }

    /// By leaf: its place in an order of all leaves.
    pub(crate) fn places(order: &[u32]) -> Vec<u32> {
        let mut places = vec![0; order.len()];
        for (place, &leaf) in order.iter().enumerate() {
            places[leaf as usize] = place as u32;
        }
        places
    }

    /// The same tree over renamed leaves: leaf `i` becomes `leaves[i]`.
    ///
    /// # Errors
    /// `leaves` that aren't a permutation.
    pub fn relabel(&self, leaves: &[u32]) -> Result<Self> {
        let n = self.n_leaves();
        let mut seen = vec![false; n];
        let fine = leaves.len() == n
            && leaves
                .iter()
                .all(|&leaf| seen.get_mut(leaf as usize).is_some_and(|seen| !std::mem::replace(seen, true)));
        if !fine {
            return Err(Error::Argument(format!("renaming needs a permutation of 0..{n}")));
        }
        let name = |label: u32| leaves.get(label as usize).copied().unwrap_or(label);
        let merges = self.merges.iter().map(|&[a, b]| [name(a), name(b)]).collect();
        let renamed = Self::new(merges, self.heights.clone(), self.kind)?;
        Ok(Self { joined: self.joined.clone(), ..renamed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_merges_are_named() {
        let message = |merges: Vec<[u32; 2]>| {
            let heights = vec![0.0; merges.len()];
            Dendrogram::new(merges, heights, Kind::Dissimilarity).unwrap_err().to_string()
        };
        assert!(message(vec![[0, 1], [0, 3]]).contains("merge 1: cluster 0 is merged a second time"));
        assert!(message(vec![[0, 3], [1, 2]]).contains("merge 0: cluster 3 is not made yet"));
        assert!(message(vec![[0, 0]]).contains("second time"));
        assert!(Dendrogram::new(vec![[0, 1]], vec![f64::NAN], Kind::Dissimilarity).is_err());
        assert!(Dendrogram::new(vec![[0, 1]], vec![], Kind::Dissimilarity).is_err());
    }

    #[test]
    fn one_leaf_is_a_tree() {
        let tree = Dendrogram::new(vec![], vec![], Kind::Similarity).unwrap();
        assert_eq!((tree.n_leaves(), tree.leaf_order()), (1, vec![0]));
        assert_eq!(tree.newick().to_string(), "0;");
    }

    #[test]
    fn renaming_and_order() {
        let tree = Dendrogram::new(vec![[1, 2], [0, 3]], vec![1.0, 2.0], Kind::Dissimilarity).unwrap();
        let renamed = tree.relabel(&[2, 0, 1]).unwrap();
        assert_eq!(renamed.merges(), [[0, 1], [2, 3]]);
        assert_eq!(renamed.leaf_order(), [2, 0, 1]);
        assert!(tree.relabel(&[0, 0, 1]).is_err());
        assert!(tree.relabel(&[0, 1]).is_err());
    }

    #[test]
    fn inversions_are_seen() {
        assert!(!Dendrogram::new(vec![[1, 2], [0, 3]], vec![2.0, 1.0], Kind::Dissimilarity).unwrap().is_monotone());
        assert!(Dendrogram::new(vec![[1, 2], [0, 3]], vec![2.0, 1.0], Kind::Similarity).unwrap().is_monotone());
    }
}
