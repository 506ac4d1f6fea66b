//! Learners, and an oracle that knows the tree.

use std::sync::{Mutex, MutexGuard};

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use ordhc::generate::TreeOracle as Oracle;
use ordhc::learn::{Landmarks, Method, QuadrupletMethod, Question, References, Told};
use ordhc::{Error, Monitor, learn};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

use crate::arrays::rows;
use crate::callbacks;
use crate::error::to_py;
use crate::tree::Tree;

/// The ids of m questions, and an array of shape (m, 3) or (m, 4) with their leaves.
pub(crate) type Questions<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray2<i32>>);

/// A learner of a tree. Calls are serialised: a second call waits for the first.
#[pyclass(frozen, module = "ordhc._ordhc")]
pub(crate) struct Learner(pub(crate) Mutex<Either>);

pub(crate) enum Either {
    Three(Box<dyn learn::Learner<3>>),
    Four(Box<dyn learn::Learner<4>>),
}

macro_rules! with {
    ($lock:expr, $learner:ident => $body:expr) => {
        match &mut *$lock {
            Either::Three($learner) => $body,
            Either::Four($learner) => $body,
        }
    };
}

impl Learner {
    /// Locks the learner. Call this only while detached from the interpreter. A long call holds this lock and attaches
    /// to the interpreter from time to time to report progress. So waiting for the lock while attached would be a
    /// deadlock.
    fn lock(&self) -> MutexGuard<'_, Either> {
        // A call that panicked has left the learner in an incomplete state, so the learner must not be used again.
        self.0.lock().expect("an earlier call of this learner broke")
    }

    fn lock_attached(&self, py: Python<'_>) -> MutexGuard<'_, Either> {
        self.0.lock_py_attached(py).expect("an earlier call of this learner broke")
    }
}

/// Returns an answer of the person with the id `who` (0 if unknown). If `p` is NaN, the learner uses the probability in
/// its settings.
pub(crate) fn told(answer: i8, p: f64, who: i32) -> Told {
    Told { answer, p: (!p.is_nan()).then_some(p), who: u32::try_from(who).ok().filter(|&who| who > 0) }
}

pub(crate) struct Asked {
    ids: Vec<i64>,
    leaves: Vec<i32>,
    width: usize,
}

impl<const K: usize> From<Vec<Question<K>>> for Asked {
    fn from(questions: Vec<Question<K>>) -> Self {
        let ids = questions.iter().map(|question| question.id as i64).collect();
        let leaves = questions.iter().flat_map(|question| question.leaves.map(|leaf| leaf as i32)).collect();
        Self { ids, leaves, width: K }
    }
}

impl<const K: usize> From<Vec<(u64, [u32; K])>> for Asked {
    fn from(questions: Vec<(u64, [u32; K])>) -> Self {
        questions.into_iter().map(|(id, leaves)| Question { id, leaves }).collect::<Vec<_>>().into()
    }
}

impl Asked {
    pub(crate) fn into_py(self, py: Python<'_>) -> PyResult<Questions<'_>> {
        let shape = [self.ids.len(), self.width];
        let ids = PyArray1::from_vec(py, self.ids);
        Ok((ids, PyArray1::from_vec(py, self.leaves).reshape(shape)?))
    }
}

fn landmarks(count: Option<usize>, probability: Option<f64>) -> PyResult<Option<Landmarks>> {
    match (count, probability) {
        (Some(_), Some(_)) => Err(to_py(Error::Argument("give landmarks or their probability q, not both".into()))),
        (Some(count), None) => Ok(Some(Landmarks::Count(count))),
        (None, probability) => Ok(probability.map(Landmarks::Probability)),
    }
}

#[pymethods]
impl Learner {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "settings by keyword")]
    #[pyo3(signature = (
        method, n_leaves, parallel, seed, *, p, delta, assume, noise, schedule, questions, repeat, prior, prior_strength,
        start
    ))]
    fn new(
        py: Python<'_>,
        method: &str,
        n_leaves: usize,
        parallel: usize,
        seed: u64,
        p: f64,
        delta: f64,
        assume: &str,
        noise: &str,
        schedule: &str,
        questions: Option<u64>,
        repeat: u64,
        prior: Option<&Bound<'_, Tree>>,
        prior_strength: f64,
        start: Option<(Bound<'_, Tree>, Vec<u32>)>,
    ) -> PyResult<Self> {
        let assume = assume.parse().map_err(to_py)?;
        let noise = noise.parse().map_err(to_py)?;
        let schedule = schedule.parse().map_err(to_py)?;
        let method = match method.parse::<Method>().map_err(to_py)? {
            Method::Insertion { .. } => Method::Insertion { parallel },
            Method::Robust { .. } => Method::Robust { p, delta, assume, noise, parallel, schedule },
            Method::RobustPaper { .. } => Method::RobustPaper { p, delta },
            Method::Majority { .. } => Method::Majority { p, delta },
            Method::Uncertain { .. } => Method::Uncertain { questions, repeat },
            Method::Revise { .. } => Method::Revise { p, delta, noise, parallel, schedule },
            other => other,
        };
        let prior = prior.map(|prior| prior.get().topology());
        let start = start.as_ref().map(|(start, leaves)| (start.get().topology(), leaves));
        let learner = py.detach(|| match (prior, start) {
            (_, Some((start, leaves))) => method.learner_after(start, leaves, n_leaves, seed),
            (Some(prior), None) => method.from_prior(prior, prior_strength, seed),
            (None, None) => method.learner(n_leaves, seed),
        });
        Ok(Self(Mutex::new(Either::Three(learner.map_err(to_py)?))))
    }

    #[staticmethod]
    #[pyo3(signature = (method, n_leaves, seed, *, n_landmarks, q, n_references, budget))]
    fn of_quadruplets(
        method: &str,
        n_leaves: usize,
        seed: u64,
        n_landmarks: Option<usize>,
        q: Option<f64>,
        n_references: Option<usize>,
        budget: Option<u64>,
    ) -> PyResult<Self> {
        let method = match method.parse::<QuadrupletMethod>().map_err(to_py)? {
            QuadrupletMethod::FourK { .. } => QuadrupletMethod::FourK {
                landmarks: landmarks(n_landmarks, q)?,
                references: n_references.map(References::Count).or(budget.map(References::Budget)),
            },
            other => other,
        };
        Ok(Self(Mutex::new(Either::Four(method.learner(n_leaves, seed).map_err(to_py)?))))
    }

    #[staticmethod]
    #[pyo3(signature = (n_leaves, seed, among, *, questions, repeat))]
    fn uncertain_among(
        py: Python<'_>,
        n_leaves: usize,
        seed: u64,
        among: PyReadonlyArray2<'_, i32>,
        questions: Option<u64>,
        repeat: u64,
    ) -> PyResult<Self> {
        let (values, shape) = (among.as_slice()?, among.shape());
        let of = |leaf: &i32| u32::try_from(*leaf).unwrap_or(u32::MAX);
        let learner = if shape[1] == 4 {
            let among = rows::<i32, 4>(values, shape)?.iter().map(|row| row.each_ref().map(of)).collect();
            py.detach(|| ordhc::bindings::uncertain_among_pairs(n_leaves, among, questions, repeat, seed))
                .map(Either::Four)
        } else {
            let among = rows::<i32, 3>(values, shape)?.iter().map(|row| row.each_ref().map(of)).collect();
            py.detach(|| ordhc::bindings::uncertain_among(n_leaves, among, questions, repeat, seed)).map(Either::Three)
        };
        Ok(Self(Mutex::new(learner.map_err(to_py)?)))
    }

    #[staticmethod]
    #[pyo3(signature = (n_leaves, seed, anchored, *, questions, repeat))]
    fn uncertain_of_pairs(
        n_leaves: usize,
        seed: u64,
        anchored: bool,
        questions: Option<u64>,
        repeat: u64,
    ) -> PyResult<Self> {
        let learner =
            ordhc::bindings::uncertain_of_pairs(n_leaves, anchored, questions, repeat, seed).map_err(to_py)?;
        Ok(Self(Mutex::new(Either::Four(learner))))
    }

    /// Returns a learner that asks each question `times` times. `self` must not have asked a question before.
    fn repeated(&self, py: Python<'_>, times: u64) -> PyResult<Self> {
        let repeated = match &*self.lock_attached(py) {
            Either::Three(one) => ordhc::bindings::repeated(one.boxed_clone(), times).map(Either::Three),
            Either::Four(one) => ordhc::bindings::repeated_of_four(one.boxed_clone(), times).map(Either::Four),
        };
        Ok(Self(Mutex::new(repeated.map_err(to_py)?)))
    }

    #[pyo3(signature = (limit, progress=None))]
    fn ask<'py>(
        &self,
        py: Python<'py>,
        limit: usize,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Questions<'py>> {
        let ask = |monitor: &Monitor| with!(self.lock(), learner => learner.ask_watched(limit, Some(monitor)).map(Asked::from));
        callbacks::run(py, false, progress, ask)?.into_py(py)
    }

    fn open<'py>(&self, py: Python<'py>) -> PyResult<Questions<'py>> {
        with!(self.lock_attached(py), learner => Asked::from(learner.open())).into_py(py)
    }

    /// Passes answers to the learner, one after the other. `p` has the probability that each answer
    /// is right (NaN uses the settings of the learner). `who` has the id of the person of each
    /// answer (0 if unknown). Returns the index of the first invalid answer with the reason, or
    /// `None`.
    fn tell(
        &self,
        py: Python<'_>,
        ids: PyReadonlyArray1<'_, i64>,
        answers: PyReadonlyArray1<'_, i8>,
        p: PyReadonlyArray1<'_, f64>,
        who: PyReadonlyArray1<'_, i32>,
    ) -> PyResult<Option<(usize, String)>> {
        let (ids, answers, p, who) = (ids.as_slice()?, answers.as_slice()?, p.as_slice()?, who.as_slice()?);
        if [answers.len(), p.len(), who.len()] != [ids.len(); 3] {
            return Err(to_py(Error::Length {
                what: "answers",
                found: answers.len(),
                of: "questions",
                expected: ids.len(),
            }));
        }
        Ok(py.detach(|| {
            with!(self.lock(), learner => {
                (0..ids.len()).find_map(|at| {
                    let told = told(answers[at], p[at], who[at]);
                    learner.tell_with(ids[at] as u64, told).err().map(|error| (at, error.to_string()))
                })
            })
        }))
    }

    #[pyo3(signature = (progress=None))]
    fn tree(&self, py: Python<'_>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Tree> {
        callbacks::run(
            py,
            false,
            progress,
            |monitor| with!(self.lock(), learner => learner.tree_watched(Some(monitor))),
        )
        .map(Tree::from)
    }

    fn support(&self, py: Python<'_>, tree: &Bound<'_, Tree>) -> Option<Vec<f64>> {
        let tree = tree.get().topology();
        py.detach(|| with!(self.lock(), learner => learner.support(tree)))
    }

    /// Returns the nodes and edges of the tree at which a leaf probably belongs. Each has its probability, the leaves
    /// of a cluster, and a flag. If the flag is true, the leaf is one more child of the cluster. If the flag is false,
    /// the leaf and the cluster are the two children of a new node.
    fn places(&self, py: Python<'_>, leaf: u32) -> Option<Vec<(f64, Vec<u32>, bool)>> {
        let places = py.detach(|| with!(self.lock(), learner => learner.places(leaf)))?;
        Some(places.into_iter().map(|place| (place.probability, place.leaves, place.is_under)).collect())
    }

    #[getter]
    fn width(&self, py: Python<'_>) -> usize {
        match &*self.lock_attached(py) {
            Either::Three(_) => 3,
            Either::Four(_) => 4,
        }
    }

    #[getter]
    fn done(&self, py: Python<'_>) -> bool {
        with!(self.lock_attached(py), learner => learner.done())
    }

    #[getter]
    fn n_leaves(&self, py: Python<'_>) -> usize {
        with!(self.lock_attached(py), learner => learner.n_leaves())
    }

    #[getter]
    fn n_placed(&self, py: Python<'_>) -> usize {
        with!(self.lock_attached(py), learner => learner.placed())
    }

    #[getter]
    fn n_asked(&self, py: Python<'_>) -> u64 {
        with!(self.lock_attached(py), learner => learner.n_asked())
    }

    #[getter]
    fn n_answered(&self, py: Python<'_>) -> u64 {
        with!(self.lock_attached(py), learner => learner.n_answered())
    }

    #[getter]
    fn n_rounds(&self, py: Python<'_>) -> u64 {
        with!(self.lock_attached(py), learner => learner.n_rounds())
    }

    #[getter]
    fn remaining_estimate(&self, py: Python<'_>) -> f64 {
        with!(self.lock_attached(py), learner => learner.remaining_estimate())
    }
}

#[pyclass(frozen, module = "ordhc._ordhc")]
pub(crate) struct TreeOracle(Mutex<Oracle>);

#[pymethods]
impl TreeOracle {
    #[new]
    fn new(py: Python<'_>, tree: &Bound<'_, Tree>) -> Self {
        let tree = tree.get().topology();
        Self(Mutex::new(py.detach(|| Oracle::new(tree))))
    }

    fn answer<'py>(
        &self,
        py: Python<'py>,
        questions: PyReadonlyArray2<'py, i32>,
    ) -> PyResult<Bound<'py, PyArray1<i8>>> {
        let table = rows::<i32, 3>(questions.as_slice()?, questions.shape())?;
        let answers = py.detach(|| {
            let mut oracle = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let n = oracle.n_leaves();
            let mut answers = Vec::with_capacity(table.len());
            for (row, leaves) in table.iter().enumerate() {
                let fine = leaves.iter().all(|&leaf| (0..n as i64).contains(&i64::from(leaf)));
                let [a, b, c] = *leaves;
                if !fine || a == b || b == c || a == c {
                    let reason = format!("{leaves:?} are not three different leaves of 0..={}", n - 1);
                    return Err(Error::Row { row, leaves: leaves.map(i64::from).to_vec(), reason });
                }
                answers.push(oracle.answer(leaves.map(|leaf| leaf as u32)));
            }
            Ok(answers)
        });
        Ok(PyArray1::from_vec(py, answers.map_err(to_py)?))
    }
}

#[pyfunction]
pub(crate) fn estimate_p(answers: Vec<Vec<i64>>, delta: f64) -> PyResult<(f64, f64)> {
    let narrow = |answers: &Vec<i64>| answers.iter().map(|&x| i8::try_from(x).unwrap_or(i8::MAX)).collect();
    let narrow: Vec<Vec<i8>> = answers.iter().map(narrow).collect();
    learn::estimate_p(&narrow, delta).map_err(to_py)
}

#[pyfunction]
pub(crate) fn random_tree(py: Python<'_>, shape: &str, n_leaves: usize, seed: u64) -> PyResult<Tree> {
    let shape = shape.parse().map_err(to_py)?;
    Ok(py.detach(|| ordhc::generate::random_tree(shape, n_leaves, seed)).map_err(to_py)?.into())
}
