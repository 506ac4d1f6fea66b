//! Which things belong together, as more and more of them do.

/// Disjoint sets of numbers, each named by one of its own (Tarjan 1975, with paths halved).
///
/// Whoever joins two sets says which name stays; so paths may be long where names are chosen badly.
#[derive(Debug, Clone)]
pub(crate) struct UnionFind {
    /// By number: itself if it is a name, else another one of its set.
    parent: Vec<u32>,
}

impl UnionFind {
    /// The sets of one each of 0..n.
    pub(crate) fn new(n: usize) -> Self {
        Self { parent: (0..n as u32).collect() }
    }

    /// How many numbers there are.
    pub(crate) fn len(&self) -> usize {
        self.parent.len()
    }

    /// The name of the set.
    pub(crate) fn find(&mut self, mut at: u32) -> u32 {
        while self.parent[at as usize] != at {
            let above = self.parent[self.parent[at as usize] as usize];
            self.parent[at as usize] = above;
            at = above;
        }
        at
    }

    /// Whether a set has this name.
    pub(crate) fn is_name(&self, at: u32) -> bool {
        self.parent[at as usize] == at
    }

    /// The set of one name becomes part of another number's, which keeps its name.
    pub(crate) fn attach(&mut self, gone: u32, kept: u32) {
        debug_assert!(self.is_name(gone));
        self.parent[gone as usize] = kept;
    }

    /// Joins two sets under the smaller name; whether they were two.
    pub(crate) fn join(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        self.attach(a.max(b), a.min(b));
        a != b
    }

    /// Makes a number a set of its own again, as it and all of its set must be before they are used.
    pub(crate) fn reset(&mut self, at: u32) {
        self.parent[at as usize] = at;
    }

    /// By number: the name of its set, where every name is the smallest number of its set.
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
