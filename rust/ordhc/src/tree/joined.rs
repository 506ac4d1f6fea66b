//! Merges that together are one node of more than two children.

use super::Dendrogram;
use crate::error::{Error, Result};
use crate::kind::Kind;

impl Dendrogram {
    /// Checks marks of merges that are part of the node of the merge above: it stands at the same height.
    ///
    /// # Errors
    /// Another number of marks than merges; a mark of the last merge, or of one at another height.
    pub fn check_joined(&self, joined: &[bool]) -> Result<()> {
        let (n, m) = (self.n_leaves(), self.merges().len());
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
        for (at, pair) in self.merges().iter().enumerate() {
            for part in pair.iter().filter_map(|&part| (part as usize).checked_sub(n)) {
                if joined[part] && heights[part] != heights[at] {
                    return Err(Error::Argument(format!(
                        "merge {part} is joined with merge {at}, but stands at {}, not at {}",
                        heights[part], heights[at]
                    )));
                }
            }
        }
        Ok(())
    }

    /// The same tree with the children of each node of joined merges in order of their labels, the first two
    /// merged first: two trees that differ only in how nodes of many children are cut into merges become
    /// equal.
    ///
    /// # Errors
    /// As [`check_joined`](Self::check_joined).
    ///
    /// ```
    /// use ordhc::Kind;
    ///
    /// let tree = ordhc::Dendrogram::new(vec![[0, 2], [1, 3]], vec![1.0, 1.0], Kind::Dissimilarity)?;
    /// assert_eq!(tree.in_order_of_children(&[true, false])?.merges(), [[0, 1], [2, 3]]);
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    pub fn in_order_of_children(&self, joined: &[bool]) -> Result<Self> {
        self.check_joined(joined)?;
        let (n, m) = (self.n_leaves(), self.merges().len());
        let mut last: Vec<usize> = (0..m).collect();
        for at in (0..m).rev() {
            for part in self.merges()[at].iter().filter_map(|&part| (part as usize).checked_sub(n)) {
                if joined[part] {
                    last[part] = last[at];
                }
            }
        }
        let mut numbers = vec![Vec::new(); m];
        let mut children = vec![Vec::new(); m];
        for (at, pair) in self.merges().iter().enumerate() {
            numbers[last[at]].push(at);
            let is_child = |part: u32| (part as usize).checked_sub(n).is_none_or(|merge| !joined[merge]);
            children[last[at]].extend(pair.iter().copied().filter(|&part| is_child(part)));
        }
        let mut merges = self.merges().to_vec();
        for (numbers, children) in numbers.iter().zip(&mut children) {
            children.sort_unstable();
            join(n, numbers, children, &mut merges);
        }
        Self::new(merges, self.heights().to_vec(), Kind::of(self.is_dissimilarity()))
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

    #[test]
    fn marks_must_fit() {
        let tree = Dendrogram::new(vec![[0, 1], [2, 3]], vec![1.0, 2.0], Kind::Dissimilarity).unwrap();
        for (marks, part) in [
            (vec![true, false], "merge 0 is joined with merge 1, but stands at 1, not at 2"),
            (vec![false, true], "merge 1 is the last one"),
            (vec![false], "1 marks of joined merges for 2 merges"),
        ] {
            let message = tree.check_joined(&marks).unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
        assert!(Dendrogram::new(vec![], vec![], Kind::Dissimilarity).unwrap().check_joined(&[]).is_ok());
    }

    #[test]
    fn ways_to_cut_a_node_are_one() {
        let one = |merges: Vec<[u32; 2]>, joined: &[bool]| {
            let heights = vec![1.0; merges.len()];
            Dendrogram::new(merges, heights, Kind::Dissimilarity).unwrap().in_order_of_children(joined).unwrap()
        };
        let chain = one(vec![[2, 3], [1, 4], [0, 5]], &[true, true, false]);
        let pairs = one(vec![[0, 2], [1, 3], [4, 5]], &[true, true, false]);
        assert_eq!(chain, pairs);
        // A child that is made between two merges of the node.
        let mixed = one(vec![[0, 4], [1, 2], [5, 6], [3, 7]], &[true, false, true, false]);
        assert_eq!(mixed.merges(), [[0, 3], [1, 2], [4, 5], [6, 7]]);
    }
}
