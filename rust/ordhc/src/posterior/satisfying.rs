//! A tree that satisfies many triplets, for chains to begin at.
//!
//! Questions whose answers nobody could foresee make a poor tree by the similarities that these add up to, whose largest
//! parts neither chains nor moves of subtrees may ever put right. Points that move to where answers are likely pass
//! each other.

use crate::comparison::{Comparisons, Triplets};
use crate::embedding::{EmbeddingLoss, Model};
use crate::error::Result;
use crate::memory;
use crate::monitor::Monitor;
use crate::refine::{Search, refine_satisfied};
use crate::tree::Dendrogram;
use crate::vectors::{Vectors, mean_square_linkage};

use super::random::Random;

/// Coordinates of the points.
const DIMENSIONS: usize = 3;
/// How often they move.
const STEPS: usize = 200;
/// How far at first, in units of the model, and how far they are from the middle before.
const STEP: f64 = 0.2;
const SPREAD: f64 = 0.1;

/// A tree that satisfies many triplets; nothing of quadruplets.
pub(crate) fn satisfying<const K: usize>(
    comparisons: &Comparisons<'_, K>,
    monitor: Option<&Monitor>,
) -> Result<Option<Dendrogram>> {
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
    let points = embedded(&triplets, monitor)?;
    let start = mean_square_linkage(&Vectors::new(&points[..], n, DIMENSIONS)?, monitor)?;
    let search = Search { restarts: 1, ..Search::default() };
    Ok(Some(refine_satisfied(&start, &triplets, &search, monitor)?.tree))
}

/// (n, d) points by crowd kernel learning (Tamuz et al. 2011): steps by the mean and the size of recent derivatives
/// (Adam, Kingma & Ba 2015), shorter and shorter.
fn embedded(triplets: &Triplets<'_>, monitor: Option<&Monitor>) -> Result<Vec<f64>> {
    const OLD: [f64; 2] = [0.9, 0.99];
    watched!(monitor);
    let loss = EmbeddingLoss::new(triplets, Model::Ckl { mu: 0.05 })?;
    let mut random = Random::new(0, 0);
    let mut points: Vec<f64> = (0..triplets.n_leaves() * DIMENSIONS).map(|_| SPREAD * random.normal()).collect();
    let (mut gradient, mut mean, mut square) =
        (vec![0.0; points.len()], vec![0.0; points.len()], vec![0.0; points.len()]);
    for step in 0..STEPS {
        monitor.advance(0)?;
        loss.evaluate(&points, &mut gradient)?;
        let known = OLD.map(|old: f64| 1.0 - old.powi(step as i32 + 1));
        let length = STEP * (1.0 - step as f64 / STEPS as f64);
        for (((x, &slope), mean), square) in points.iter_mut().zip(&gradient).zip(&mut mean).zip(&mut square) {
            *mean = OLD[0] * *mean + (1.0 - OLD[0]) * slope;
            *square = OLD[1] * *square + (1.0 - OLD[1]) * slope * slope;
            *x -= length * (*mean / known[0]) / ((*square / known[1]).sqrt() + f64::MIN_POSITIVE);
        }
    }
    Ok(points)
}
