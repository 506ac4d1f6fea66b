//! The largest difference of the heights of two dendrograms.

use std::collections::BTreeSet;

use super::count::same_leaves_of_trees;
use super::path::{Paths, Rows, for_places};
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::tree::{Dendrogram, LcaSizes};

/// Returns the merge distortion of two dendrograms over the same leaves: the largest |m(i, j) - m'(i, j)| over i != j,
/// where m is the height at which two leaves merge (Gray et al. 2024, section 3.1).
///
/// The distortion is 0 for a single leaf. The time is O(n log^2 n) if one of the trees has no inversions, and otherwise
/// O(n^2).
///
/// # Errors
/// Trees with different numbers of leaves; one tree with similarities and one with dissimilarities; a difference too
/// large for a float; [`Error::Interrupted`].
///
/// ```
/// use ordhc::{Dendrogram, Kind, metric::merge_distortion};
///
/// let a = Dendrogram::new(vec![[0, 1], [2, 3]], vec![1.0, 2.0], Kind::Dissimilarity)?;
/// let b = Dendrogram::new(vec![[0, 2], [1, 3]], vec![1.5, 2.0], Kind::Dissimilarity)?;
/// assert_eq!(merge_distortion(&a, &b, None)?, 1.0);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn merge_distortion(a: &Dendrogram, b: &Dendrogram, monitor: Option<&Monitor>) -> Result<f64> {
    watched!(monitor);
    same_leaves_of_trees(a.n_leaves(), b.n_leaves())?;
    if a.is_dissimilarity() != b.is_dissimilarity() {
        let kind = |tree: &Dendrogram| if tree.is_dissimilarity() { "dissimilarities" } else { "similarities" };
        return Err(Error::Argument(format!(
            "the heights of the first tree are {}, those of the second {}; both must be of the same kind",
            kind(a),
            kind(b)
        )));
    }
    let distortion = if b.is_monotone() {
        by_merges(a, b, monitor)?
    } else if a.is_monotone() {
        by_merges(b, a, monitor)?
    } else {
        by_pairs(a, b, monitor)?
    };
    if distortion.is_finite() {
        Ok(distortion)
    } else {
        Err(Error::Argument(format!("two heights are more than {:e} apart", f64::MAX)))
    }
}

/// Returns the merge distortion of `a` and a tree `monotone` without inversions. Each merge of `a` joins many pairs of
/// leaves, but only two pairs matter: the closest and the farthest pair in `monotone`.
///
/// In `monotone`, the farthest pair merges at the LCA of all leaves of the new cluster. The closest pair has a leaf in
/// each of the two merged clusters. These two leaves are neighbours if the leaves of both clusters are ordered from
/// left to right in `monotone`.
fn by_merges(a: &Dendrogram, monotone: &Dendrogram, monitor: &Monitor) -> Result<f64> {
    let n = a.n_leaves();
    monitor.start(n as u64);
    let paths = Paths::new(monotone.topology());
    let lca = LcaSizes::new(monotone.topology());
    let height = |p: u32, q: u32| {
        let leaf = |place: u32| paths.order()[place as usize] as usize;
        monotone.heights()[lca.node(leaf(p), leaf(q))]
    };
    let mut clusters: Vec<BTreeSet<u32>> = paths.places().iter().map(|&place| BTreeSet::from([place])).collect();
    let mut distortion = 0f64;
    for (pair, own) in a.merges().iter().zip(a.merge_heights().iter()) {
        let [mut small, mut large] = pair.map(|part| std::mem::take(&mut clusters[part as usize]));
        if small.len() > large.len() {
            std::mem::swap(&mut small, &mut large);
        }
        for &place in &small {
            let neighbours = [large.range(..place).next_back(), large.range(place..).next()];
            for &other in neighbours.into_iter().flatten() {
                distortion = distortion.max((own - height(place, other)).abs());
            }
        }
        large.extend(small);
        if let (Some(&first), Some(&last)) = (large.first(), large.last()) {
            distortion = distortion.max((own - height(first, last)).abs());
        }
        clusters.push(large);
        monitor.advance(1)?;
    }
    Ok(distortion)
}

fn by_pairs(a: &Dendrogram, b: &Dendrogram, monitor: &Monitor) -> Result<f64> {
    let n = a.n_leaves();
    monitor.start(n as u64);
    let (inner, outer) = (Paths::new(a.topology()), Paths::new(b.topology()));
    let columns: Vec<u32> = inner.order().iter().map(|&leaf| outer.places()[leaf as usize]).collect();
    let (heights, others) = (a.merge_heights(), b.merge_heights());
    let largest = |rows: &mut Rows<'_, f64>, place: usize| {
        let row = rows.at(place);
        let leaf = inner.order()[place] as usize;
        outer.walk(leaf).fold(0f64, |largest, (merge, joining)| {
            let height = others[merge];
            let [low, high] = extremes(&row[joining]);
            largest.max((height - low).abs()).max((height - high).abs())
        })
    };
    let all = for_places(n, || Rows::new(&inner, &heights, &columns), largest, monitor)?;
    Ok(all.into_iter().fold(0.0, f64::max))
}

fn extremes(values: &[f64]) -> [f64; 2] {
    const LANES: usize = 8;
    let (mut low, mut high) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut step = |lane: usize, x: f64| {
        low[lane] = if x < low[lane] { x } else { low[lane] };
        high[lane] = if x > high[lane] { x } else { high[lane] };
    };
    for chunk in chunks {
        for lane in 0..LANES {
            step(lane, chunk[lane]);
        }
    }
    for (lane, &x) in rest.iter().enumerate() {
        step(lane, x);
    }
    [low.into_iter().fold(f64::INFINITY, f64::min), high.into_iter().fold(f64::NEG_INFINITY, f64::max)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kind::Kind;
    use crate::metric::samples::{Draw, draws, naive_heights, random_tree};

    fn naive(a: &Dendrogram, b: &Dendrogram) -> f64 {
        let row = |i: usize| {
            let differences = naive_heights(a, i).into_iter().zip(naive_heights(b, i)).map(|(x, y)| (x - y).abs());
            // NaN, for a leaf and itself, is skipped by `max`.
            differences.fold(0.0, f64::max)
        };
        (0..a.n_leaves()).map(row).fold(0.0, f64::max)
    }

    proptest! {
        #![proptest_config(ProptestConfig { max_shrink_iters: 200, ..ProptestConfig::with_cases(200) })]

        #[test]
        fn as_defined(n in 1..24usize, a in draws(), b in draws(), seed: u64) {
            let b = Draw { dissimilarity: a.dissimilarity, ..b };
            let (a, b) = (random_tree(n, a, seed), random_tree(n, b, seed ^ 1));
            let expected = naive(&a, &b);
            prop_assert_eq!(merge_distortion(&a, &b, None).unwrap(), expected);
            prop_assert_eq!(merge_distortion(&b, &a, None).unwrap(), expected);
            prop_assert_eq!(by_pairs(&a, &b, &Monitor::new()).unwrap(), expected);
            prop_assert_eq!(merge_distortion(&a, &a, None).unwrap(), 0.0);
        }
    }

    #[test]
    fn many_leaves() {
        for caterpillar in [false, true] {
            for monotone in [false, true] {
                let draw = Draw { caterpillar, monotone, dissimilarity: false, heights: 1 << 30 };
                let a = random_tree(300, draw, 3);
                let b = random_tree(300, Draw { caterpillar: !caterpillar, ..draw }, 4);
                assert_eq!(merge_distortion(&a, &b, None).unwrap(), naive(&a, &b));
            }
        }
    }

    #[test]
    fn what_cannot_be_compared() {
        let tree = |height, dissimilarity| Dendrogram::new(vec![[0, 1]], vec![height], dissimilarity).unwrap();
        let message = |a: &Dendrogram, b: &Dendrogram| merge_distortion(a, b, None).unwrap_err().to_string();
        assert!(
            message(&tree(1.0, Kind::Dissimilarity), &tree(1.0, Kind::Similarity)).contains("the second similarities")
        );
        assert!(message(&tree(1e308, Kind::Dissimilarity), &tree(-1e308, Kind::Dissimilarity)).contains("apart"));
        let one = Dendrogram::new(vec![], vec![], Kind::Dissimilarity).unwrap();
        assert!(
            message(&one, &tree(1.0, Kind::Dissimilarity))
                .contains("the first tree has 1 leaves, the second tree has 2")
        );
        assert_eq!(merge_distortion(&one, &one, None), Ok(0.0));
    }
}
