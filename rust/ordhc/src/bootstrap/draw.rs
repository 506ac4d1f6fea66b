//! Draws answers, or groups of answers, with replacement.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::error::{Result, check_len};

/// Bootstrap resamples of `m` answers. Each resample draws `m` answers with replacement. If there are groups (such as
/// participants), each resample draws g of the g groups with replacement, and takes all answers of each drawn group.
///
/// ```
/// use ordhc::bindings::Draws;
///
/// let draws = Draws::new(100, None, 7)?;
/// let times = draws.times(0);
/// assert_eq!(times.iter().sum::<u32>(), 100);
/// assert_eq!(times, draws.times(0));
/// assert_ne!(times, draws.times(1));
/// # Ok::<(), ordhc::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Draws {
    m: usize,
    groups: Option<Vec<u32>>,
    n_groups: usize,
    seed: u64,
}

impl Draws {
    /// Returns the resamples. `groups` has the id of the group of each answer. Ids start at 0.
    ///
    /// # Errors
    /// `groups` of another length than `m`.
    pub fn new(m: usize, groups: Option<Vec<u32>>, seed: u64) -> Result<Self> {
        check_len("groups", groups.as_ref().map(Vec::len), "answers", m)?;
        let n_groups = groups.as_ref().map_or(m, |groups| groups.iter().max().map_or(0, |&last| last as usize + 1));
        Ok(Self { m, groups, n_groups, seed })
    }

    /// Returns, for each answer, how often the resample with this index contains the answer.
    pub fn times(&self, index: u64) -> Vec<u32> {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(index);
        let mut times = vec![0; self.n_groups];
        for _ in 0..self.n_groups {
            times[random.random_range(0..self.n_groups)] += 1;
        }
        match &self.groups {
            None => times,
            Some(groups) => groups.iter().map(|&group| times[group as usize]).collect(),
        }
    }

    /// Returns the number of answers.
    pub fn len(&self) -> usize {
        self.m
    }

    /// Returns true if there are no answers.
    pub fn is_empty(&self) -> bool {
        self.m == 0
    }
}
