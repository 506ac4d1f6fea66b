//! A tree that satisfies many triplets, as a start for Markov chains.
//!
//! If questions were chosen where the tree was uncertain, the AddS similarities of their answers give a poor tree.
//! Moves of subtrees may never correct the largest clusters of this tree. The points of an embedding can pass each
//! other, so an embedding does not get stuck in this way.

use crate::comparison::{Comparisons, Triplets};
use crate::embedding::{EmbeddingLoss, Model};
use crate::error::Result;
use crate::kind::Kind;
use crate::memory;
use crate::monitor::Monitor;
use crate::refine::{Search, refine_satisfied};
use crate::tree::Dendrogram;
use crate::vectors::{Vectors, mean_square_linkage};

use super::random::Random;

const DIMENSIONS: usize = 3;
const STEPS: usize = 200;
/// `STEP` is the length of the first steps of the optimization, and `SPREAD` is the standard deviation of the initial
/// coordinates.
const STEP: f64 = 0.2;
const SPREAD: f64 = 0.1;

/// Returns a tree that satisfies many triplets. Returns `None` for quadruplets, and if the weights are so large that
/// the computation overflows.
pub(crate) fn satisfying<const K: usize>(
    comparisons: &Comparisons<'_, K>,
    monitor: Option<&Monitor>,
) -> Result<Option<Dendrogram>> {
    entered!(posterior_satisfying);
    // The monitor counts the progress of the Markov chains, so this step reports no progress.
    let silent = monitor.map(Monitor::child);
    let monitor = silent.as_ref();
    let n = comparisons.n_leaves();
    if K != 3 || n < 3 {
        return Ok(None);
    }
    let mut rows = memory::room("triplets", comparisons.len())?;
    comparisons.rows().each(0..comparisons.len(), |_, row| rows.push([row[0], row[1], row[2]]));
    let mut triplets = Triplets::new(rows, Some(n))?;
    if let Some(weights) = comparisons.weights() {
        triplets = triplets.with_weights(weights)?;
    }
    let Some(points) = embedded(&triplets, monitor)? else { return Ok(None) };
    let start = mean_square_linkage(&Vectors::new(&points[..], n, DIMENSIONS)?, monitor)?;
    let search = Search { restarts: 1, ..Search::default() };
    Ok(Some(refine_satisfied(start.topology(), Kind::Similarity, &triplets, &search, monitor)?.tree))
}

/// Returns the (n, d) points of crowd kernel learning (Tamuz et al. 2011). The loss is minimized by Adam (Kingma & Ba
/// 2015), with steps of decreasing length. Returns `None` if the points diverge.
fn embedded(triplets: &Triplets<'_>, monitor: Option<&Monitor>) -> Result<Option<Vec<f64>>> {
    const OLD: [f64; 2] = [0.9, 0.99];
    watched!(monitor);
    let loss = EmbeddingLoss::new(triplets, Model::Ckl { mu: 0.05 })?;
    let mut random = Random::new(0, 0);
    let mut points: Vec<f64> = (0..triplets.n_leaves() * DIMENSIONS).map(|_| SPREAD * random.normal()).collect();
    let (mut gradient, mut mean, mut square) =
        (vec![0.0; points.len()], vec![0.0; points.len()], vec![0.0; points.len()]);
    for step in 0..STEPS {
        monitor.advance(0)?;
        if loss.evaluate(&points, &mut gradient).is_err() {
            return Ok(None);
        }
        let known = OLD.map(|old: f64| 1.0 - old.powi(step as i32 + 1));
        let length = STEP * (1.0 - step as f64 / STEPS as f64);
        for (((x, &slope), mean), square) in points.iter_mut().zip(&gradient).zip(&mut mean).zip(&mut square) {
            *mean = OLD[0] * *mean + (1.0 - OLD[0]) * slope;
            *square = OLD[1] * *square + (1.0 - OLD[1]) * slope * slope;
            *x -= length * (*mean / known[0]) / ((*square / known[1]).sqrt() + f64::MIN_POSITIVE);
        }
    }
    Ok(Some(points).filter(|points| points.iter().all(|x| x.is_finite())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::Quadruplets;
    use crate::metric::satisfied;

    #[test]
    fn progress_does_not_move() {
        let monitor = Monitor::watched(std::time::Duration::ZERO, |done| done == 0.0);
        monitor.start(1);
        let rows: Vec<[i32; 3]> = (0..12).map(|k| [k % 3, (k + 1) % 3, 3 + k % 2]).collect();
        let triplets = Triplets::new(rows, None).unwrap();
        assert!(satisfying(&triplets, Some(&monitor)).unwrap().is_some());
    }

    #[test]
    fn a_tree_satisfies_what_a_tree_can() {
        let level = |a: i32, b: i32| if a / 4 == b / 4 { 2 } else { i32::from(a / 8 == b / 8) };
        let all = (0..16).flat_map(|a| (0..16).flat_map(move |b| (0..16).map(move |c| [a, b, c])));
        let rows: Vec<[i32; 3]> =
            all.filter(|&[a, b, c]| b != a && level(a, b) > level(a, c) && (a + c) % 3 == 0).collect();
        let weights: Vec<f64> = rows.iter().map(|row| f64::from(1 + row[1] % 3)).collect();
        let triplets = Triplets::new(rows, Some(16)).unwrap().with_weights(weights).unwrap();
        let tree = satisfying(&triplets, None).unwrap().unwrap();
        let found = satisfied(&tree.clone().into(), &triplets, None).unwrap();
        assert_eq!(found.agreed, found.total());
    }

    #[test]
    fn there_may_be_none() {
        let pairs = Quadruplets::new(vec![[0, 1, 2, 3]], None).unwrap();
        assert_eq!(satisfying(&pairs, None).unwrap(), None);
        let two = Triplets::new(Vec::<[i32; 3]>::new(), Some(2)).unwrap();
        assert_eq!(satisfying(&two, None).unwrap(), None);
        let large = Triplets::new(vec![[0, 1, 2], [1, 0, 2]], None).unwrap().with_weights(vec![1e308; 2]).unwrap();
        assert_eq!(satisfying(&large, None).unwrap(), None);
        let nothing = Triplets::new(Vec::<[i32; 3]>::new(), Some(5)).unwrap();
        assert!(satisfying(&nothing, None).unwrap().is_some());
    }
}
