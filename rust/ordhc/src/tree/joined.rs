//! Merges that together are one node of more than two children.

use super::Dendrogram;
use crate::error::{Error, Result};

impl Dendrogram {
    /// Returns the tree with a mark for each merge that belongs to the node of the merge above it. Such merges
    /// together are one node with more than two children.
    ///
    /// # Errors
    /// Another number of marks than merges; a mark of the last merge, or of one at another height than that above.
    ///
    /// ```
    /// use ordhc::{Dendrogram, Kind};
    ///
    /// let tree = Dendrogram::new(vec![[0, 1], [2, 3]], vec![1.0, 1.0], Kind::Dissimilarity)?;
    /// assert_eq!(tree.with_joined(vec![true, false])?.newick().to_string(), "(2,0,1);");
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    pub fn with_joined(mut self, joined: Vec<bool>) -> Result<Self> {
        let m = self.merges().len();
        if joined.len() != m {
            return Err(Error::Length {
                what: "marks of joined merges",
                found: joined.len(),
                of: "merges",
                expected: m,
            });
        }
        if joined.last() == Some(&true) {
            return Err(Error::Argument(format!("merge {} is the last one: it can't be joined with another", m - 1)));
        }
        let heights = self.heights();
        for (part, at) in self.merges_within() {
            if joined[part] && heights[part] != heights[at] {
                return Err(Error::Argument(format!(
                    "merge {part} is joined with merge {at}, but stands at {}, not at {}",
                    heights[part], heights[at]
                )));
            }
        }
        self.set_joined(joined);
        Ok(self)
    }

    /// The same tree in which merges right within each other at the same height are one node.
    ///
    /// ```
    /// use ordhc::{Dendrogram, Kind};
    ///
    /// let tree = Dendrogram::new(vec![[0, 1], [2, 3]], vec![1.0, 1.0], Kind::Dissimilarity)?;
    /// assert_eq!(tree.newick().to_string(), "(2,(0,1));");
    /// assert_eq!(tree.join_ties().newick().to_string(), "(2,0,1);");
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    #[must_use]
    pub fn join_ties(&self) -> Self {
        let mut joined = vec![false; self.merges().len()];
        for (part, at) in self.merges_within() {
            joined[part] = self.heights()[part] == self.heights()[at];
        }
        let mut tree = self.clone();
        tree.set_joined(joined);
        tree
    }

    /// Each merge but the last, with the merge above it.
    fn merges_within(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let n = self.n_leaves();
        let parts = move |(at, pair): (usize, &[u32; 2])| pair.map(|part| ((part as usize).checked_sub(n), at));
        self.merges().iter().enumerate().flat_map(parts).filter_map(|(part, at)| Some((part?, at)))
    }

    /// By merge: the last merge of its node.
    pub(crate) fn last_of_node(&self) -> Vec<u32> {
        let mut last: Vec<u32> = (0..self.merges().len() as u32).collect();
        if !self.joined().is_empty() {
            let mut above = last.clone();
            self.merges_within().for_each(|(part, at)| above[part] = at as u32);
            for merge in (0..last.len()).rev().filter(|&merge| self.is_joined(merge)) {
                last[merge] = last[above[merge] as usize];
            }
        }
        last
    }

    /// By merge: the number of leaves of its node.
    pub(crate) fn node_sizes(&self) -> Vec<u32> {
        self.last_of_node().into_iter().map(|merge| self.sizes()[merge as usize]).collect()
    }

    /// The same tree with the children of each node of joined merges in order of their labels, the first two
    /// merged first: two trees that differ only in how nodes of many children are cut into merges become
    /// equal.
    ///
    /// ```
    /// use ordhc::Kind;
    ///
    /// let tree = ordhc::Dendrogram::new(vec![[0, 2], [1, 3]], vec![1.0, 1.0], Kind::Dissimilarity)?;
    /// let star = tree.with_joined(vec![true, false])?;
    /// assert_eq!(star.in_order_of_children().merges(), [[0, 1], [2, 3]]);
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    #[must_use]
    pub fn in_order_of_children(&self) -> Self {
        let (n, m) = (self.n_leaves(), self.merges().len());
        let last = self.last_of_node();
        let mut numbers = vec![Vec::new(); m];
        let mut children = vec![Vec::new(); m];
        for (at, pair) in self.merges().iter().enumerate() {
            let node = last[at] as usize;
            numbers[node].push(at);
            let is_child = |part: u32| (part as usize).checked_sub(n).is_none_or(|merge| !self.is_joined(merge));
            children[node].extend(pair.iter().copied().filter(|&part| is_child(part)));
        }
        let mut merges = self.merges().to_vec();
        for (numbers, children) in numbers.iter().zip(&mut children) {
            children.sort_unstable();
            join(n, numbers, children, &mut merges);
        }
        self.of_merges(merges)
    }
}

/// Writes the merges of one node: `numbers` are theirs, one less than its children.
pub(super) fn join(n: usize, numbers: &[usize], children: &[u32], merges: &mut [[u32; 2]]) {
    let mut children = children.iter().copied();
    let Some(mut whole) = children.next() else { return };
    for (&number, child) in numbers.iter().zip(children) {
        merges[number] = [whole, child];
        whole = (n + number) as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::Kind;

    #[test]
    fn marks_must_fit() {
        let tree = Dendrogram::new(vec![[0, 1], [2, 3]], vec![1.0, 2.0], Kind::Dissimilarity).unwrap();
        for (marks, part) in [
            (vec![true, false], "merge 0 is joined with merge 1, but stands at 1, not at 2"),
            (vec![false, true], "merge 1 is the last one"),
            (vec![false], "1 marks of joined merges for 2 merges"),
        ] {
            let message = tree.clone().with_joined(marks).unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
        assert!(Dendrogram::new(vec![], vec![], Kind::Dissimilarity).unwrap().with_joined(vec![]).is_ok());
    }

    #[test]
    fn ways_to_cut_a_node_are_one() {
        let one = |merges: Vec<[u32; 2]>, joined: &[bool]| {
            let heights = vec![1.0; merges.len()];
            let tree = Dendrogram::new(merges, heights, Kind::Dissimilarity).unwrap();
            tree.with_joined(joined.to_vec()).unwrap().in_order_of_children()
        };
        let chain = one(vec![[2, 3], [1, 4], [0, 5]], &[true, true, false]);
        let pairs = one(vec![[0, 2], [1, 3], [4, 5]], &[true, true, false]);
        assert_eq!(chain, pairs);
        // A child that is made between two merges of the node.
        let mixed = one(vec![[0, 4], [1, 2], [5, 6], [3, 7]], &[true, false, true, false]);
        assert_eq!(mixed.merges(), [[0, 3], [1, 2], [4, 5], [6, 7]]);
    }
}
