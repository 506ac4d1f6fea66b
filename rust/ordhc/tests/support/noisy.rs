//! Learners that expect wrong answers.

use ordhc::Dendrogram;
use ordhc::generate::TreeOracle;
use ordhc::learn::{Assume, Learner, Limits, Method, Noise, Schedule, learn_with};
use ordhc::metric::robinson_foulds;

/// Returns the method `robust` with all its settings.
pub(crate) fn robust(p: f64, assume: Assume, noise: Noise, parallel: usize, schedule: Schedule) -> Method {
    Method::Robust { p, delta: 0.05, assume, noise, parallel, schedule }
}

/// Returns all such methods except the paper's, which asks too many questions for some tests.
pub(crate) fn methods(p: f64) -> [Method; 8] {
    use {Assume::*, Noise::*, Schedule::*};
    [
        Method::robust(p, 0.05),
        robust(p, Adversarial, Independent, 4, Questions),
        robust(p, Adversarial, Independent, 1, Balanced),
        robust(p, Adversarial, Independent, 1, Rounds),
        robust(p, Uniform, Independent, 1, Questions),
        robust(p, Uniform, Independent, 1, Rounds),
        robust(p, Adversarial, Persistent, 3, Questions),
        Method::Majority { p, delta: 0.05 },
    ]
}

/// Returns true if the trees are equal.
pub(crate) fn is_same(a: &Dendrogram, b: &Dendrogram) -> bool {
    robinson_foulds(&a.topology().clone(), &b.topology().clone()).unwrap().distance() == 0
}

/// Returns a learner that has asked the oracle all of its questions.
pub(crate) fn learned(method: Method, oracle: &mut TreeOracle, seed: u64, batch: usize) -> Box<dyn Learner> {
    let mut learner = method.learner(oracle.n_leaves(), seed).unwrap();
    let limits = Limits { batch, budget: None };
    learn_with(&mut *learner, |questions| oracle.answers(questions), limits, None).unwrap();
    assert!(learner.done() && learner.placed() == oracle.n_leaves() && learner.remaining_estimate() == 0.0);
    assert!(learner.ask(5).unwrap().is_empty() && learner.open().is_empty());
    learner
}
