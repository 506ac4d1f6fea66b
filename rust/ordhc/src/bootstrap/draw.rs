//! Draws answers, or groups of answers, with replacement.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::error::{Result, check_len};

/// Bootstrap resamples of `m` answers. Each resample draws `m` answers with replacement.
///
/// If there are g groups of answers (for example one for each participant), each resample instead draws g groups with
/// replacement, and takes all answers of each drawn group.
#[derive(Debug, Clone)]
pub struct Draws {
    m: usize,
    groups: Option<Vec<u32>>,
    n_groups: usize,
    seed: u64,
}

impl Draws {
    /// Returns the resamples of `m` answers. `groups` has the id of the group of each answer. Ids start at 0.
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
