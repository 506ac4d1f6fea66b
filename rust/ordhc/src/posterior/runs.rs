//! Runs several Markov chains in parallel, and keeps samples of each.

use std::ops::Range;

use super::answers::Answers;
use super::chain::{Chain, ChainState};
use super::height_tree::HeightTree;
use super::lengths::Lengths;
use super::prior::Shapes;
use super::random::Random;
use super::reliability::Noises;
use super::sampled::Sampled;
use super::samples::{Sampling, State};
use crate::error::Result;
use crate::memory;
use crate::monitor::Monitor;
use crate::parallel;
use crate::tree::Dendrogram;

/// A Markov chain is stuck if its mean log-likelihood is far below the mean of the most likely chain: by at least
/// `LEAST`, and by at least `DEVIATIONS` times the standard deviation of the log-likelihood within chains.
const DEVIATIONS: f64 = 3.0;
const LEAST: f64 = 10.0;

pub(super) struct Run {
    state: ChainState,
    pub(super) trees: Vec<Sampled>,
    pub(super) states: Vec<State>,
    pub(super) noise_by_person: Vec<f64>,
}

/// Runs all Markov chains. Chain k starts at the tree `starts[k % starts.len()]`. Halfway through the burn-in, and at
/// its end, stuck chains are moved to the state of the most likely chain.
pub(super) fn run(
    answers: &Answers,
    shapes: &Shapes,
    noises: &Noises,
    lengths: &Lengths,
    starts: &[Dendrogram],
    sampling: &Sampling,
    monitor: &Monitor,
) -> Result<Vec<Run>> {
    entered!(posterior_chains);
    let n = starts[0].n_leaves();
    memory::check("chains of trees", sampling.chains.saturating_mul(HeightTree::bytes(n)) as u64)?;
    let begin = |chain: usize| -> Result<Run> {
        let random = Random::new(sampling.seed, chain as u64);
        let people = if noises.shared().is_some() { 0 } else { noises.by_person().count() };
        Ok(Run {
            state: ChainState::new(
                shapes,
                noises.clone(),
                lengths.clone(),
                HeightTree::of(&starts[chain % starts.len()]),
                random,
            ),
            trees: Vec::new(),
            states: memory::room("states of chains", sampling.sweeps)?,
            noise_by_person: vec![0.0; people],
        })
    };
    let mut runs: Vec<Run> = (0..sampling.chains).map(begin).collect::<Result<_>>()?;
    let mut from = 0;
    for to in [sampling.burn_in / 2, sampling.burn_in, sampling.sweeps] {
        let done = parallel::map_in_turn(runs, |run| run.swept(from..to, answers, shapes, sampling, monitor));
        runs = done.into_iter().collect::<Result<_>>()?;
        if to < sampling.sweeps {
            free_stuck(&mut runs, to - from);
        }
        from = to;
    }
    Ok(runs)
}

impl Run {
    fn swept(
        mut self,
        sweeps: Range<usize>,
        answers: &Answers,
        shapes: &Shapes,
        sampling: &Sampling,
        monitor: &Monitor,
    ) -> Result<Self> {
        if sweeps.is_empty() {
            return Ok(self);
        }
        let mut chain = Chain::at(answers, shapes, self.state)?;
        let kept = (sampling.sweeps - sampling.burn_in) as f64;
        for sweep in sweeps {
            chain.sweep(monitor)?;
            self.states.push(State {
                log_likelihood: chain.log_likelihood,
                noise: chain.noises.mean(),
                mean_increment: chain.increments.mean(),
                n_inner: chain.tree.n_inner(),
                length_deviation: chain.lengths.spread(),
            });
            if sweep >= sampling.burn_in {
                let all = self.noise_by_person.iter_mut().zip(chain.noises.by_person());
                all.for_each(|(sum, noise)| *sum += noise / kept);
            }
            if sampling.keeps(sweep) {
                self.trees.push(Sampled::of(&chain.tree, &chain.noises, &chain.lengths));
            }
        }
        self.state = chain.into_state();
        Ok(self)
    }

    /// Returns the mean and the variance of the log-likelihood in the last `sweeps / 2` sweeps (rounded up).
    fn lately(&self, sweeps: usize) -> [f64; 2] {
        let recent = &self.states[self.states.len() - sweeps.div_ceil(2)..];
        let count = recent.len() as f64;
        let mean = recent.iter().map(|state| state.log_likelihood).sum::<f64>() / count;
        let spread = recent.iter().map(|state| (state.log_likelihood - mean).powi(2)).sum::<f64>();
        [mean, spread / count]
    }
}

fn free_stuck(runs: &mut [Run], sweeps: usize) {
    if sweeps == 0 {
        return;
    }
    let lately: Vec<[f64; 2]> = runs.iter().map(|run| run.lately(sweeps)).collect();
    let (best, stuck) = stuck(&lately);
    for at in stuck {
        let there = runs[best].state.clone();
        runs[at].state.move_to(there);
    }
}

fn stuck(lately: &[[f64; 2]]) -> (usize, Vec<usize>) {
    let best = (0..lately.len()).max_by(|&a, &b| lately[a][0].total_cmp(&lately[b][0])).unwrap_or(0);
    let within = lately.iter().map(|[_, variance]| variance).sum::<f64>() / lately.len() as f64;
    let least = lately[best][0] - LEAST.max(DEVIATIONS * within.sqrt());
    (best, (0..lately.len()).filter(|&at| lately[at][0] < least).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::Triplets;
    use crate::posterior::{Belonging, sample};

    #[test]
    fn chains_far_below_the_most_likely_one_are_stuck() {
        assert_eq!(stuck(&[[-100.0, 1.0], [-95.0, 1.0], [-106.0, 1.0]]), (1, vec![2]));
        assert_eq!(stuck(&[[-100.0, 25.0], [-95.0, 25.0], [-106.0, 25.0]]), (1, vec![]));
        assert_eq!(stuck(&[[-100.0, 25.0], [-84.0, 25.0], [-120.0, 25.0]]), (1, vec![0, 2]));
        assert_eq!(stuck(&[[-3.0, 0.0]]), (0, vec![]));
    }

    #[test]
    fn a_stuck_chain_goes_on_from_where_another_one_is() {
        let rows: Vec<[i32; 3]> = (0..16i32)
            .flat_map(|a| (0..16).flat_map(move |b| (0..16).map(move |c| [a, b, c])))
            .filter(|[a, b, c]| a != b && a / 8 == b / 8 && a / 8 != c / 8)
            .collect();
        let answers = Answers::new(&Triplets::new(rows.clone(), None).unwrap(), &Belonging::default()).unwrap();
        let (shapes, monitor) = (Shapes::new(16).unwrap(), Monitor::new());
        let noises = Noises::new(None).unwrap();
        let pairs = |first: [u32; 2]| (first[0]..first[1]).map(|leaf| [leaf, leaf + 8]).collect::<Vec<[u32; 2]>>();
        let mut merges = pairs([0, 8]);
        merges.extend((0..6).map(|at| [16 + at + 1, if at == 0 { 16 } else { 23 + at }]));
        merges.push([23, 29]);
        let mixed = Dendrogram::new(merges, (0..15).map(f64::from).collect(), crate::Kind::Dissimilarity).unwrap();
        let sampling = Sampling { chains: 2, sweeps: 40, burn_in: 20, kept: 40, seed: 1, lengths: false };
        let samples = sample(&Triplets::new(rows, None).unwrap(), &mixed, &sampling, None).unwrap();
        let good = samples.states()[0][39].log_likelihood;
        let begin = |tree: HeightTree, at: u64| Run {
            state: ChainState::new(&shapes, noises.clone(), Lengths::new(0), tree, Random::new(3, at)),
            trees: Vec::new(),
            states: Vec::new(),
            noise_by_person: Vec::new(),
        };
        let far = |tree: Dendrogram| begin(HeightTree::of(&tree), 0);
        // The first chain has run. The other chain is at its initial state, and gets very low log-likelihoods, so that
        // it counts as stuck.
        let mut runs = vec![far(mixed.clone()).swept(0..20, &answers, &shapes, &sampling, &monitor).unwrap()];
        let mut other = begin(HeightTree::of(&mixed), 1);
        other.states = runs[0].states.iter().map(|state| State { log_likelihood: good - 1000.0, ..*state }).collect();
        runs.push(other);
        free_stuck(&mut runs, 20);
        let next: Vec<f64> = runs
            .into_iter()
            .map(|run| run.swept(20..21, &answers, &shapes, &sampling, &monitor).unwrap().states[20].log_likelihood)
            .collect();
        assert!((next[1] - good).abs() < 30.0, "{next:?} {good}");
        assert!(next[0] != next[1]);
    }
}
