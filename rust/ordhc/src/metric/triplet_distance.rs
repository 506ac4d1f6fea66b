//! The rooted triplet distance.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::coloring::{Color, Coloring, MAX_LEAVES, Parts};
use super::count::{same_leaves_of_trees, three, two};
use crate::error::{Error, Result};
use crate::memory;
use crate::monitor::Monitor;
use crate::parallel;
use crate::sorting::order_by_key;
use crate::tree::{HeavyPaths, Restriction, Topology};

/// The numbers of sets of three leaves on which two trees agree or differ.
///
/// A tree resolves three leaves if two of them are closer to each other than to the third.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TripletCounts {
    /// The number of sets of three leaves that both trees resolve in the same way.
    pub same: u64,
    /// The number of sets of three leaves that both trees resolve, but differently.
    pub different: u64,
    /// The number of sets of three leaves that only the first tree resolves.
    pub only_a: u64,
    /// The number of sets of three leaves that only the second tree resolves.
    pub only_b: u64,
    /// The number of sets of three leaves that neither tree resolves.
    pub unresolved: u64,
}

impl TripletCounts {
    fn new(n: u64, same: u64, different: u64, resolved: [u64; 2]) -> Self {
        let [only_a, only_b] = resolved.map(|resolved| resolved - same - different);
        Self { same, different, only_a, only_b, unresolved: three(n) - same - different - only_a - only_b }
    }

    /// Returns the number of sets of three leaves on which the trees differ.
    ///
    /// ```
    /// let counts = ordhc::bindings::TripletCounts { same: 1, different: 2, only_a: 3, only_b: 4, unresolved: 5 };
    /// assert_eq!(counts.distance(), 9);
    /// ```
    pub fn distance(&self) -> u64 {
        self.different + self.only_a + self.only_b
    }

    /// Returns the distance divided by the number of sets of three leaves, or 0 for fewer than 3 leaves.
    ///
    /// ```
    /// let counts = ordhc::bindings::TripletCounts { same: 1, different: 2, only_a: 3, only_b: 4, unresolved: 5 };
    /// assert_eq!(counts.normalized(), 0.6);
    /// ```
    pub fn normalized(&self) -> f64 {
        let distance = self.distance();
        if distance == 0 { 0.0 } else { distance as f64 / (distance + self.same + self.unresolved) as f64 }
    }
}

fn resolved(tree: &Topology) -> u64 {
    let within = |node| two(tree.size(node).into()) * u64::from(tree.size(tree.parent(node)) - tree.size(node));
    (0..tree.root()).map(within).sum()
}

/// Counts the sets of three leaves on which two trees agree or differ. [`TripletCounts::distance`] is the rooted
/// triplet distance.
///
/// The time is O(n log^2 n) for trees of any shape. Counts are exact for any number of threads. The algorithm follows
/// Brodal, Fagerberg, Mailund, Pedersen & Sand 2013, "Efficient algorithms for computing the triplet and quartet
/// distance between trees of arbitrary degree".
///
/// # Errors
/// Trees with different numbers of leaves, or with more than 2^21; [`Error::OutOfMemory`]; [`Error::Interrupted`].
///
/// ```
/// use ordhc::metric::triplet_distance;
/// use ordhc::{Dendrogram, tree::Topology};
///
/// let tree = |text: &str| Ok::<_, ordhc::Error>(Dendrogram::from_newick(text)?.0.into_topology());
/// let (a, b) = (tree("((0,1),(2,3));")?, tree("((0,1),2,3);")?);
/// let counts = triplet_distance(&a, &b, None)?;
/// assert_eq!((counts.same, counts.only_a, counts.distance()), (2, 2, 2));
/// assert_eq!(counts.normalized(), 0.5);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn triplet_distance(a: &Topology, b: &Topology, monitor: Option<&Monitor>) -> Result<TripletCounts> {
    watched!(monitor);
    same_leaves_of_trees(a.n_leaves(), b.n_leaves())?;
    let n = a.n_leaves();
    if n > MAX_LEAVES {
        return Err(Error::out_of_range("n_leaves", n, format!("1..={MAX_LEAVES} (for the triplet distance)")));
    }
    monitor.check()?;
    let paths = HeavyPaths::new(a);
    monitor.check()?;
    let work = Work::new(&paths, b, monitor)?;
    let threads = parallel::ranges(work.items.len(), 2);
    let counts = parallel::try_map::<_, _, Vec<Counts>>(threads, |_| work.run())?;
    let [same, different] = [0, 1].map(|at| counts.iter().map(|count| count[at]).sum());
    Ok(TripletCounts::new(n as u64, same, different, [resolved(a), resolved(b)]))
}

/// One of the two passes over the nodes of each heavy path of the first tree. At each node, a pass counts sets of two
/// leaves below one child (red) and one leaf below another child (blue).
#[derive(Debug, Clone, Copy, PartialEq)]
enum Sweep {
    /// Red leaves are below the heavy child (the child with the most leaves), blue leaves below all other children.
    Heavy,
    /// Red leaves are below one light child (any but the child with the most leaves), blue leaves below all other
    /// children. This is repeated for each light child.
    Light,
}

/// The numbers of sets of three leaves that both trees resolve: in the same way, and differently.
type Counts = [u64; 2];

#[derive(Debug)]
struct Work<'a> {
    paths: &'a HeavyPaths<'a>,
    other: Restriction,
    items: Vec<(usize, Sweep)>,
    next: AtomicUsize,
    monitor: &'a Monitor,
}

impl<'a> Work<'a> {
    fn new(paths: &'a HeavyPaths<'a>, other: &Topology, monitor: &'a Monitor) -> Result<Self> {
        let mut tops: Vec<usize> = paths.tops().filter(|&top| paths.size(top) > 2).collect();
        order_by_key(&mut tops, |top| Reverse(paths.size(top)));
        monitor.start(2 * tops.iter().map(|&top| paths.size(top) as u64).sum::<u64>());
        // The most memory is needed at first, because the largest paths come first. Each thread stores a restriction of
        // the second tree to the leaves of its path, with counts for each node.
        let at_once = tops.iter().flat_map(|&top| [top, top]).take(parallel::n_threads());
        let leaves = at_once.map(|top| paths.size(top) as u64).sum::<u64>();
        memory::check("the triplet distance", 60 * other.n_leaves() as u64 + 400 * leaves)?;
        let items = tops.into_iter().flat_map(|top| [(top, Sweep::Heavy), (top, Sweep::Light)]).collect();
        Ok(Self { paths, other: Restriction::new(other, monitor)?, items, next: AtomicUsize::new(0), monitor })
    }

    fn run(&self) -> Result<Counts> {
        let mut counts = [0, 0];
        while let Some(&(top, sweep)) = self.items.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            self.sweep(top, sweep, &mut counts)?;
        }
        Ok(counts)
    }

    /// Counts triplets at each node of a heavy path of the first tree, and adds the numbers to `counts`. `top` is the
    /// highest node of the path. Triplets are counted in the second tree, restricted to the leaves below `top`.
    fn sweep(&self, top: usize, sweep: Sweep, counts: &mut Counts) -> Result<()> {
        let paths = self.paths;
        let (other, names) = self.other.to(paths.leaves(top), self.monitor)?;
        let parts = Parts::new(&other, self.monitor)?;
        let mut coloring = Coloring::new(&parts);
        let names_of = |node| {
            let start = paths.start(node) - paths.start(top);
            &names[start..start + paths.size(node)]
        };
        let mut count = |coloring: &Coloring<'_>| {
            counts[0] += coloring.apart();
            counts[1] += coloring.mixed();
        };
        let (heavy, light) = if sweep == Sweep::Heavy { (Color::Red, Color::Blue) } else { (Color::Blue, Color::Red) };
        let path = paths.path_up(top);
        // Coloring many leaves takes a while, so check for cancellation in between.
        let paint = |coloring: &mut Coloring<'_>, names: &[u32], color| {
            names.chunks(REPORT as usize).try_for_each(|names| {
                coloring.paint(names, color);
                self.monitor.check()
            })
        };
        paint(&mut coloring, names_of(path[0]), heavy)?;
        let mut done = 1;
        for &node in &path[1..] {
            let beside = &names_of(node)[paths.size(paths.heavy(node))..];
            if sweep == Sweep::Heavy {
                paint(&mut coloring, beside, light)?;
                count(&coloring);
                paint(&mut coloring, beside, heavy)?;
            } else {
                if paths.light(node).nth(1).is_some() {
                    paint(&mut coloring, beside, heavy)?;
                }
                for child in paths.light(node) {
                    paint(&mut coloring, names_of(child), light)?;
                    count(&coloring);
                    paint(&mut coloring, names_of(child), heavy)?;
                }
            }
            done += beside.len() as u64;
            if done >= REPORT {
                self.monitor.advance(std::mem::take(&mut done))?;
            }
        }
        self.monitor.advance(done)
    }
}

const REPORT: u64 = 1 << 12;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::metric::samples::{SHAPES, large, two_trees};

    fn apart(tree: &Topology, leaves: [usize; 3]) -> Option<usize> {
        let clusters = clusters(tree);
        (0..3).find(|&at| clusters.iter().any(|cluster| (0..3).all(|k| (cluster >> leaves[k] & 1 == 1) == (k != at))))
    }

    fn clusters(tree: &Topology) -> Vec<u32> {
        let mut clusters: Vec<u32> = (0..tree.n_leaves()).map(|leaf| 1 << leaf).collect();
        for node in tree.n_leaves()..tree.n_nodes() {
            clusters.push(tree.children(node).iter().map(|&child| clusters[child as usize]).sum());
        }
        clusters
    }

    fn by_triples(a: &Topology, b: &Topology) -> TripletCounts {
        let mut counts = TripletCounts::default();
        let n = a.n_leaves();
        for [i, j, k] in (0..n).flat_map(|i| (0..i).flat_map(move |j| (0..j).map(move |k| [i, j, k]))) {
            let count = match (apart(a, [i, j, k]), apart(b, [i, j, k])) {
                (Some(a), Some(b)) if a == b => &mut counts.same,
                (Some(_), Some(_)) => &mut counts.different,
                (Some(_), None) => &mut counts.only_a,
                (None, Some(_)) => &mut counts.only_b,
                (None, None) => &mut counts.unresolved,
            };
            *count += 1;
        }
        counts
    }

    fn by_pairs_of_nodes(a: &Topology, b: &Topology) -> TripletCounts {
        let width = b.n_nodes();
        // `common[node][other]` is the number of leaves below both `node` of `a` and `other` of `b`.
        let mut common = vec![vec![0u64; width]; a.n_nodes()];
        for leaf in 0..a.n_leaves() {
            let mut node = leaf;
            common[leaf][node] = 1;
            while node != b.root() {
                node = b.parent(node);
                common[leaf][node] = 1;
            }
        }
        for node in 0..a.root() {
            for other in 0..width {
                common[a.parent(node)][other] += common[node][other];
            }
        }
        let (mut same, mut different) = (0, 0);
        for node in 0..a.root() {
            let (inside, above) = (&common[node], &common[a.parent(node)]);
            for other in 0..b.root() {
                let (both, parent) = (inside[other], b.parent(other));
                let (only_a, only_b) = (inside[parent] - both, above[other] - both);
                same += two(both) * (above[parent] - inside[parent] - only_b);
                different += both * only_a * only_b;
            }
        }
        TripletCounts::new(a.n_leaves() as u64, same, different, [resolved(a), resolved(b)])
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 100, max_shrink_iters: 200, ..ProptestConfig::default() })]
        #[test]
        fn naive_twins_agree((a, b) in two_trees()) {
            let counts = triplet_distance(&a, &b, None).unwrap();
            prop_assert_eq!(counts, by_triples(&a, &b));
            prop_assert_eq!(counts, by_pairs_of_nodes(&a, &b));
            let same = triplet_distance(&a, &a, None).unwrap();
            prop_assert_eq!((same.distance(), same.normalized()), (0, 0.0));
        }
    }

    #[test]
    fn large_trees() {
        for (seed, (a, b)) in SHAPES.into_iter().flat_map(|a| SHAPES.map(|b| (a, b))).enumerate() {
            let (a, b) = (large(a, 700, seed as u64), large(b, 700, 100 + seed as u64));
            let (a, b) = (
                (if seed % 3 > 0 { a.join_ties() } else { a }).into_topology(),
                (if seed % 3 > 1 { b.join_ties() } else { b }).into_topology(),
            );
            let counts = triplet_distance(&a, &b, None).unwrap();
            assert_eq!(counts, by_pairs_of_nodes(&a, &b));
        }
    }

    #[test]
    fn impossible_trees_and_interruption() {
        let tree = |n| large(SHAPES[0], n, 0).into_topology();
        let monitor = Monitor::new();
        let error = triplet_distance(&tree(3), &tree(4), Some(&monitor)).unwrap_err();
        assert!(error.to_string().contains("has 3 leaves, the second tree has 4"));
        let error = triplet_distance(&tree(MAX_LEAVES + 1), &tree(MAX_LEAVES + 1), Some(&monitor)).unwrap_err();
        assert!(error.to_string().contains("n_leaves = 2097153"));
        monitor.cancel();
        assert_eq!(triplet_distance(&tree(4), &tree(4), Some(&monitor)), Err(Error::Interrupted));
    }
}
