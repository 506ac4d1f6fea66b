//! Disjoint sets (union-find).

/// Disjoint sets of numbers (Tarjan 1975, with path halving). The name of a set is its representative: one of its
/// members.
///
/// The caller chooses which of the two names a joined set keeps. A bad choice of names makes `find` slow.
#[derive(Debug, Clone)]
pub(crate) struct UnionFind {
    parent: Vec<u32>,
}

impl UnionFind {
    pub(crate) fn new(n: usize) -> Self {
        Self { parent: (0..n as u32).collect() }
    }

    pub(crate) fn len(&self) -> usize {
        self.parent.len()
    }

    pub(crate) fn find(&mut self, mut at: u32) -> u32 {
        while self.parent[at as usize] != at {
            let above = self.parent[self.parent[at as usize] as usize];
            self.parent[at as usize] = above;
            at = above;
        }
        at
    }

    pub(crate) fn is_name(&self, at: u32) -> bool {
        self.parent[at as usize] == at
    }

    /// Joins the set with the name `gone` to the set that contains the number `kept`. The joined set has the name of
    /// the set of `kept`.
    pub(crate) fn attach(&mut self, gone: u32, kept: u32) {
        debug_assert!(self.is_name(gone));
        self.parent[gone as usize] = kept;
    }

    /// Joins two sets under the smaller name. Returns true if the sets were different.
    pub(crate) fn join(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        self.attach(a.max(b), a.min(b));
        a != b
    }

    /// Makes a number a set of its own. The caller must reset all members of the number's old set, because their paths
    /// to the set's name may contain this number.
    pub(crate) fn reset(&mut self, at: u32) {
        self.parent[at as usize] = at;
    }

    /// Returns, for each number, the name of its set. Every set must be named by its smallest number.
    pub(crate) fn names(&self) -> Vec<u32> {
        let mut of = self.parent.clone();
        for at in 0..of.len() {
            debug_assert!(of[at] as usize <= at);
            of[at] = of[of[at] as usize];
        }
        of
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sets_are_those_that_labels_make(pairs in prop::collection::vec((0u32..20, 0u32..20), 0..40)) {
            let mut sets = UnionFind::new(20);
            let mut labels: Vec<u32> = (0..20).collect();
            for (a, b) in pairs {
                let (x, y) = (labels[a as usize], labels[b as usize]);
                prop_assert_eq!(sets.join(a, b), x != y);
                labels.iter_mut().filter(|label| **label == x.max(y)).for_each(|label| *label = x.min(y));
                prop_assert_eq!(sets.names(), &labels[..]);
                prop_assert!((0..20).all(|at| sets.find(at) == labels[at as usize]));
                prop_assert!((0..20).all(|at| sets.is_name(at) == (labels[at as usize] == at)));
            }
            (0..sets.len() as u32).for_each(|at| sets.reset(at));
            prop_assert_eq!(sets.names(), UnionFind::new(20).names());
        }
    }
}
