//! The noise in answers: one level for all answers, or one for each person.

use super::answers::Answers;
use super::height_tree::{HeightTree, Spans};
use super::lengths::Lengths;
use super::link::Link;
use super::random::Random;
use crate::error::Result;
use crate::memory;

/// The possible noise levels of a person. The noise is half of the share of random answers.
const LEVELS: [f64; 12] = [0.002, 0.01, 0.025, 0.05, 0.08, 0.12, 0.16, 0.21, 0.27, 0.34, 0.42, 0.5];
/// The initial noise of all answers is `FIRST`. If people are known, the initial level of each
/// person is `FIRST_LEVEL`, an index of `LEVELS`.
const FIRST: f64 = 0.01;
const FIRST_LEVEL: u8 = 2;

/// The noise of answers, and the log-likelihood function ([`Link`]) for each noise. If people are unknown, there is one
/// such function, whose noise changes. If people are known, there is one function for each noise level, and each person
/// has a level. The frequencies of the levels are estimated.
#[derive(Debug, Clone)]
pub(super) struct Noises {
    links: Vec<Link>,
    levels: Vec<u8>,
    log_shares: Vec<f64>,
    worth: Vec<f64>,
}

impl Noises {
    pub(super) fn new(n_people: Option<usize>) -> Result<Self> {
        const WHAT: &str = "the noise of people";
        let Some(n_people) = n_people else {
            return Ok(Self {
                links: vec![Link::new(FIRST)],
                levels: vec![0],
                log_shares: Vec::new(),
                worth: Vec::new(),
            });
        };
        Ok(Self {
            links: LEVELS.iter().map(|&noise| Link::new(noise)).collect(),
            levels: memory::filled(WHAT, FIRST_LEVEL, n_people)?,
            log_shares: vec![0.0; LEVELS.len()],
            worth: memory::filled(WHAT, 0.0, n_people * LEVELS.len())?,
        })
    }

    pub(super) fn shared(&self) -> Option<&Link> {
        if self.links.len() == 1 { self.links.first() } else { None }
    }

    pub(super) fn set_shared(&mut self, link: Link) {
        self.links[0] = link;
    }

    #[inline]
    pub(super) fn level(&self, person: u32) -> u8 {
        self.levels[person as usize]
    }

    pub(super) fn n_levels(&self) -> usize {
        self.links.len()
    }

    #[inline]
    pub(super) fn link(&self, level: u8) -> &Link {
        &self.links[level as usize]
    }

    /// Returns the [`Link`] of a person's noise level.
    #[inline]
    pub(super) fn of(&self, person: u32) -> &Link {
        self.link(self.level(person))
    }

    pub(super) fn by_person(&self) -> impl Iterator<Item = f64> {
        self.levels.iter().map(|&level| self.link(level).noise())
    }

    pub(super) fn mean(&self) -> f64 {
        self.by_person().sum::<f64>() / self.levels.len() as f64
    }

    /// Draws the noise level of each person from its posterior given the tree. Then draws the frequencies of the
    /// levels. `clear` has, for each answer of several comparisons, its probability without noise.
    pub(super) fn draw(
        &mut self,
        tree: &HeightTree,
        spans: &Spans,
        lengths: &Lengths,
        answers: &Answers,
        clear: &[f64],
        random: &mut Random,
    ) {
        entered!(posterior_people);
        let count = LEVELS.len();
        self.worth.fill(0.0);
        for answer in answers.all() {
            let offset = lengths.offset(answer);
            let [near, far] = [answer.near, answer.far].map(|[a, b]| tree.height(spans.join(tree, a, b)));
            let row = &mut self.worth[answer.person as usize * count..][..count];
            for (sum, link) in row.iter_mut().zip(&self.links) {
                *sum += answer.weight * link.log(near - far + offset);
            }
        }
        let choices = answers.choices();
        for (choice, &clear) in clear.iter().enumerate() {
            let row = &mut self.worth[choices.person(choice) as usize * count..][..count];
            for (sum, noise) in row.iter_mut().zip(LEVELS) {
                *sum += choices.weight(choice) * choices.log(choice, clear, noise);
            }
        }
        let mut times = [0.0; LEVELS.len()];
        for (level, row) in self.levels.iter_mut().zip(self.worth.chunks_exact_mut(count)) {
            row.iter_mut().zip(&self.log_shares).for_each(|(worth, log_share)| *worth += log_share);
            let drawn = random.place(row);
            times[drawn] += 1.0;
            *level = drawn as u8;
        }
        // The frequencies of the levels have a Dirichlet distribution. So draw gamma deviates, which are proportional
        // to these frequencies.
        self.log_shares
            .iter_mut()
            .zip(times)
            .for_each(|(log_share, times)| *log_share = random.gamma(1.0 + times).ln());
    }
}
