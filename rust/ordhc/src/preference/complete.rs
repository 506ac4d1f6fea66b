//! Single and complete linkage from a complete set of quadruplets.

use std::collections::HashMap;

use crate::comparison::Comparisons;
use crate::error::{Error, Result};
use crate::memory;
use crate::monitor::Monitor;
use crate::similarity::{Triangle, condensed_len};

/// Returns, for each pair of leaves, the number of other pairs that are less close than this pair. There must be an
/// answer about every two pairs.
///
/// With this number as the similarity of a pair, single linkage is 4-SL and complete linkage is 4-CL (Ghoshdastidar,
/// Perrot & von Luxburg 2019, section 3.1). Both linkages depend only on the order of similarities.
///
/// If the answers are consistent with an order of pairs, the number is the rank of the pair. If the answers contradict
/// each other, the number is the Copeland score: the number of comparisons that the pair wins. If two pairs are
/// compared repeatedly, the answer with the larger total weight counts.
///
/// # Errors
/// Two pairs that no answer compares, or whose answers cancel (the error names the first two such pairs, and the number
/// of missing comparisons); [`Error::OutOfMemory`]; [`Error::Interrupted`].
///
/// ```
/// use ordhc::bindings::pairs_beaten;
/// use ordhc::Quadruplets;
///
/// let all = Quadruplets::new(vec![[0, 1, 0, 2], [0, 1, 1, 2], [1, 2, 0, 2]], None)?;
/// assert_eq!(pairs_beaten(&all, None)?, [2.0, 0.0, 1.0]); // {0,1}, {0,2}, {1,2}
///
/// let error = pairs_beaten(&Quadruplets::new(vec![[0, 1, 0, 2]], None)?, None).unwrap_err();
/// assert!(error.to_string().contains("(0, 1) and (1, 2)"));
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn pairs_beaten(quadruplets: &Comparisons<'_, 4>, monitor: Option<&Monitor>) -> Result<Vec<f64>> {
    entered!(preference_pairs);
    watched!(monitor);
    let n = quadruplets.n_leaves();
    let n_pairs = condensed_len(n);
    let needed = (n_pairs as u64).saturating_mul(n_pairs.saturating_sub(1) as u64) / 2;
    monitor.start(3 * quadruplets.len() as u64);
    memory::check("the pairs", 64 * n_pairs as u64)?;
    if (quadruplets.len() as u64) < needed {
        return Err(missing(first_missing(quadruplets), needed - quadruplets.len() as u64, needed, true));
    }
    let words = n_pairs.div_ceil(64);
    memory::check("the ranks of pairs", 16 * n_pairs as u64)?;
    let mut closer = memory::filled("the comparisons of all pairs", 0u64, n_pairs * words)?;
    let starts: Vec<usize> = (0..n).map(|i| Triangle::new(n).base(i)).collect();
    each(quadruplets, &starts, monitor, |near, far, _| closer[near * words + far / 64] |= 1 << (far % 64))?;
    let says = |u: usize, v: usize| closer[u * words + v / 64] >> (v % 64) & 1 == 1;
    let mut disputed: HashMap<(usize, usize), f64> = HashMap::new();
    let mut beaten = vec![0.0; n_pairs];
    let (mut first, mut open) = (None, 0);
    for u in 0..n_pairs {
        for v in u + 1..n_pairs {
            match (says(u, v), says(v, u)) {
                (true, false) => beaten[u] += 1.0,
                (false, true) => beaten[v] += 1.0,
                (true, true) => _ = disputed.insert((u, v), 0.0),
                (false, false) => {
                    open += 1;
                    first = first.or(Some((u, v)));
                }
            }
        }
        monitor.advance((quadruplets.len() / n_pairs) as u64)?;
    }
    if !disputed.is_empty() {
        each(quadruplets, &starts, monitor, |near, far, weight| {
            if let Some(net) = disputed.get_mut(&(near.min(far), near.max(far))) {
                *net += if near < far { weight } else { -weight };
            }
        })?;
    }
    for (&(u, v), &net) in &disputed {
        if !net.is_finite() {
            return Err(Error::Leaves {
                before: "the weights of answers about the pairs ".into(),
                leaves: vec![ends(n, u).to_vec(), ends(n, v).to_vec()],
                after: format!(" add up to more than {:e}: divide all weights by the largest one", f64::MAX),
            });
        }
        if net == 0.0 {
            open += 1;
            first = Some(first.map_or((u, v), |first| first.min((u, v))));
        } else {
            beaten[if net > 0.0 { u } else { v }] += 1.0;
        }
    }
    match first {
        None => Ok(beaten),
        Some((u, v)) => Err(missing([ends(n, u), ends(n, v)], open, needed, false)),
    }
}

fn each(
    quadruplets: &Comparisons<'_, 4>,
    starts: &[usize],
    monitor: &Monitor,
    mut work: impl FnMut(usize, usize, f64),
) -> Result<()> {
    const BLOCK: usize = 1 << 16;
    let pair = |[a, b]: [usize; 2]| starts[a.min(b)].wrapping_add(a.max(b));
    for start in (0..quadruplets.len()).step_by(BLOCK) {
        monitor.advance(BLOCK as u64)?;
        quadruplets.rows().each(start..(start + BLOCK).min(quadruplets.len()), |at, row| {
            let weight = quadruplets.weights().map_or(1.0, |weights| weights[at]);
            if weight > 0.0 {
                let (near, far) = Comparisons::pairs(row);
                work(pair(near), pair(far), weight);
            }
        });
    }
    Ok(())
}

/// Returns two pairs of leaves that no answer compares. There must be fewer answers than sets of two pairs.
fn first_missing(quadruplets: &Comparisons<'_, 4>) -> [[usize; 2]; 2] {
    let n = quadruplets.n_leaves();
    let n_pairs = condensed_len(n);
    let starts: Vec<usize> = (0..n).map(|i| Triangle::new(n).base(i)).collect();
    let unwatched = Monitor::new();
    let mut times = vec![0usize; n_pairs];
    let count = |near: usize, far: usize, _: f64| {
        times[near] += 1;
        times[far] += 1;
    };
    // A monitor without an observer is never interrupted.
    let _ = each(quadruplets, &starts, &unwatched, count);
    let u = times.iter().position(|&times| times + 1 < n_pairs).expect("an answer is missing");
    let mut compared = vec![false; n_pairs];
    compared[u] = true;
    let _ = each(quadruplets, &starts, &unwatched, |near, far, _| {
        if near == u {
            compared[far] = true;
        } else if far == u {
            compared[near] = true;
        }
    });
    let v = compared.iter().position(|compared| !compared).expect("the pair has fewer answers than other pairs exist");
    [ends(n, u.min(v)), ends(n, u.max(v))]
}

/// Returns the two leaves of a pair, given its index in the condensed matrix.
fn ends(n: usize, pair: usize) -> [usize; 2] {
    let (i, j) = Triangle::new(n).pair(pair);
    [i, j]
}

fn missing(pairs: [[usize; 2]; 2], open: u64, needed: u64, at_least: bool) -> Error {
    let least = if at_least { "at least " } else { "" };
    Error::Leaves {
        before: "the quadruplets are not complete: the pairs ".into(),
        leaves: pairs.map(|pair| pair.to_vec()).to_vec(),
        after: format!(
            " are not compared, or as often one way as the other; {least}{open} of {needed} comparisons of two pairs \
             are missing"
        ),
    }
}
