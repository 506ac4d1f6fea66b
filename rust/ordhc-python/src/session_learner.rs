//! A learner together with the people who answer its questions.

use std::sync::{Mutex, MutexGuard, PoisonError};

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use ordhc::bindings::Event;
use ordhc::{Error, Monitor};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

use crate::arrays::rows;
use crate::callbacks;
use crate::error::to_py;
use crate::learn::{Asked, Either, Learner, Questions, told};
use crate::tree::Tree;

/// A learner and the questions that were handed to people. Calls are serialised: a second call waits for the first.
#[pyclass(frozen, module = "ordhc._ordhc")]
pub(crate) struct SessionLearner(Mutex<Width>);

#[derive(Clone)]
enum Width {
    Three(Box<ordhc::bindings::SessionLearner<3>>),
    Four(Box<ordhc::bindings::SessionLearner<4>>),
}

macro_rules! with {
    ($lock:expr, $session:ident => $body:expr) => {
        match &mut *$lock {
            Width::Three($session) => $body,
            Width::Four($session) => $body,
        }
    };
}

/// The columns of a table of events, see `python/ordhc/asking/events.py`.
struct Table<'a> {
    first: u64,
    kinds: &'a [i8],
    refs: &'a [i64],
    leaves: (&'a [i32], &'a [usize]),
    answers: &'a [i8],
    /// The probability that each answer is right. NaN means that the learner uses its own setting.
    p: &'a [f64],
    /// The id of the person who gave each answer, or 0 if the person is unknown.
    who: &'a [i32],
    skipped: &'a [bool],
}

impl Table<'_> {
    fn replay<const K: usize>(&self, session: &mut ordhc::bindings::SessionLearner<K>) -> PyResult<()> {
        let leaves = rows::<i32, K>(self.leaves.0, self.leaves.1)?;
        let m = self.kinds.len();
        let lengths =
            [self.refs.len(), leaves.len(), self.answers.len(), self.p.len(), self.who.len(), self.skipped.len()];
        if lengths != [m; 6] {
            return Err(to_py(Error::Argument("columns of events differ in length".to_string())));
        }
        for at in 0..m {
            if self.skipped[at] {
                continue;
            }
            let row = leaves[at].map(|leaf| leaf as u32);
            let (reference, told) = (self.refs[at], told(self.answers[at], self.p[at], self.who[at]));
            let mut apply = |event| session.apply(event).map_err(to_py);
            match self.kinds[at] {
                1 => {
                    if reference > 0 {
                        apply(Event::Wanted(reference as u64))?;
                    }
                    if leaves[at][0] >= 0 {
                        apply(Event::Handed(self.first + at as u64, row))?;
                    }
                }
                2 if reference >= 0 => apply(Event::Answered(reference as u64, row, told))?,
                2 | 3 => apply(Event::Given(row, told))?,
                5 => apply(Event::Use)?,
                7..=10 => apply(Event::Spent)?,
                13 => apply(Event::Parallel(reference as u64))?,
                15 => apply(Event::Added)?,
                16 => apply(Event::Retired((reference - 1) as u32))?,
                _ => {}
            }
        }
        Ok(())
    }
}

fn width<const K: usize>(_: &ordhc::bindings::SessionLearner<K>) -> usize {
    K
}

impl SessionLearner {
    /// Locks the session. Call this only while detached from the interpreter. Work that reports
    /// progress holds this lock and attaches to the interpreter from time to time. So waiting for
    /// the lock while attached would be a deadlock.
    fn lock(&self) -> MutexGuard<'_, Width> {
        // A lock is poisoned only by a panic, which the caller has already received as an exception.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_attached(&self, py: Python<'_>) -> MutexGuard<'_, Width> {
        self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl SessionLearner {
    #[new]
    fn new(py: Python<'_>, learner: &Learner, limit: Option<u64>, budget: Option<u64>) -> Self {
        let width = match &*learner.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner) {
            Either::Three(one) => {
                Width::Three(Box::new(ordhc::bindings::SessionLearner::new(one.boxed_clone(), limit, budget)))
            }
            Either::Four(one) => {
                Width::Four(Box::new(ordhc::bindings::SessionLearner::new(one.boxed_clone(), limit, budget)))
            }
        };
        Self(Mutex::new(width))
    }

    fn copy(&self, py: Python<'_>) -> Self {
        py.detach(|| Self(Mutex::new(self.lock().clone())))
    }

    #[expect(clippy::too_many_arguments, reason = "columns of a table")]
    fn replay(
        &self,
        py: Python<'_>,
        first: u64,
        kinds: PyReadonlyArray1<'_, i8>,
        refs: PyReadonlyArray1<'_, i64>,
        leaves: PyReadonlyArray2<'_, i32>,
        answers: PyReadonlyArray1<'_, i8>,
        p: PyReadonlyArray1<'_, f64>,
        who: PyReadonlyArray1<'_, i32>,
        skipped: PyReadonlyArray1<'_, bool>,
    ) -> PyResult<()> {
        let table = Table {
            first,
            kinds: kinds.as_slice()?,
            refs: refs.as_slice()?,
            leaves: (leaves.as_slice()?, leaves.shape()),
            answers: answers.as_slice()?,
            p: p.as_slice()?,
            who: who.as_slice()?,
            skipped: skipped.as_slice()?,
        };
        py.detach(|| with!(self.lock(), session => table.replay(session)))
    }

    /// Applies one event, given by single values instead of the columns of `replay`. `leaves` is empty for an event
    /// without leaves.
    #[expect(clippy::too_many_arguments, reason = "columns of a table")]
    fn happen(
        &self,
        py: Python<'_>,
        number: u64,
        kind: i8,
        reference: i64,
        leaves: Vec<i32>,
        answer: i8,
        p: f64,
        who: i32,
    ) -> PyResult<()> {
        py.detach(|| {
            with!(self.lock(), session => {
                let leaves = if leaves.is_empty() { vec![-1; width(session)] } else { leaves };
                let table = Table {
                    first: number,
                    kinds: &[kind],
                    refs: &[reference],
                    leaves: (&leaves, &[1, leaves.len()]),
                    answers: &[answer],
                    p: &[p],
                    who: &[who],
                    skipped: &[false],
                };
                table.replay(session)
            })
        })
    }

    fn want(&self, py: Python<'_>, count: u64) -> PyResult<()> {
        py.detach(|| with!(self.lock(), session => session.apply(Event::Wanted(count)))).map_err(to_py)
    }

    /// Returns questions that were not handed to a person yet, as an (m, 3) or (m, 4) array of leaves.
    #[pyo3(signature = (most, progress=None))]
    fn waiting<'py>(
        &self,
        py: Python<'py>,
        most: u64,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<i32>>> {
        let flat = |leaves: Vec<u32>| leaves.into_iter().map(|leaf| leaf as i32).collect::<Vec<_>>();
        let (width, leaves) = callbacks::run(py, false, progress, |monitor| match &mut *self.lock() {
            Width::Three(session) => session.waiting(most, Some(monitor)).map(|rows| (3, flat(rows.concat()))),
            Width::Four(session) => session.waiting(most, Some(monitor)).map(|rows| (4, flat(rows.concat()))),
        })?;
        let shape = [leaves.len() / width, width];
        PyArray1::from_vec(py, leaves).reshape(shape)
    }

    fn open<'py>(&self, py: Python<'py>, most: usize, taken: PyReadonlyArray1<'py, i64>) -> PyResult<Questions<'py>> {
        let taken: Vec<u64> = taken.as_slice()?.iter().map(|&number| number as u64).collect();
        let asked = match &*self.lock_attached(py) {
            Width::Three(session) => Asked::from(session.open(most, &taken)),
            Width::Four(session) => Asked::from(session.open(most, &taken)),
        };
        asked.into_py(py)
    }

    fn is_asked(&self, py: Python<'_>, number: u64) -> bool {
        with!(self.lock_attached(py), session => session.is_asked(number))
    }

    fn asks(&self, py: Python<'_>, leaves: Vec<u32>) -> bool {
        match &*self.lock_attached(py) {
            Width::Three(session) => leaves.try_into().is_ok_and(|leaves| session.asks(leaves)),
            Width::Four(session) => leaves.try_into().is_ok_and(|leaves| session.asks(leaves)),
        }
    }

    #[pyo3(signature = (progress=None))]
    fn tree(&self, py: Python<'_>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Tree> {
        let work = |monitor: &Monitor| with!(self.lock(), session => session.learner().tree_watched(Some(monitor)));
        callbacks::run(py, false, progress, work).map(Tree::from)
    }

    /// Returns, for each merge of `tree`, the share of the answers about the merge that agree with it. Returns `None`
    /// for learners that do not revise a tree.
    fn support(&self, py: Python<'_>, tree: &Bound<'_, Tree>) -> Option<Vec<f64>> {
        let tree = tree.get().topology();
        py.detach(|| with!(self.lock(), session => session.learner().support(tree)))
    }

    /// Returns the nodes and edges of the tree at which a leaf probably belongs. Each has its probability, the leaves
    /// of a cluster, and a flag. If the flag is true, the leaf is one more child of the cluster. If the flag is false,
    /// the leaf and the cluster are the two children of a new node. Returns `None` if the learner does not compute
    /// these probabilities.
    fn places(&self, py: Python<'_>, leaf: u32) -> Option<Vec<(f64, Vec<u32>, bool)>> {
        let places = py.detach(|| with!(self.lock(), session => session.learner().places(leaf)))?;
        Some(places.into_iter().map(|place| (place.probability, place.leaves, place.is_under)).collect())
    }

    #[getter]
    fn done(&self, py: Python<'_>) -> bool {
        with!(self.lock_attached(py), session => session.done())
    }

    #[getter]
    fn left(&self, py: Python<'_>) -> u64 {
        with!(self.lock_attached(py), session => session.left())
    }

    #[getter]
    fn n_placed(&self, py: Python<'_>) -> usize {
        with!(self.lock_attached(py), session => session.learner().placed())
    }

    #[getter]
    fn remaining_estimate(&self, py: Python<'_>) -> f64 {
        with!(self.lock_attached(py), session => session.remaining_estimate())
    }
}
