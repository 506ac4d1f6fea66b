//! Learners and an oracle that knows the tree.

use std::sync::Mutex;

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use ordhc::generate::{TreeOracle as Oracle, TreeShape};
use ordhc::learn::{Method, Question};
use ordhc::{Error, learn};
use pyo3::prelude::*;

use crate::arrays::rows;
use crate::error::to_py;
use crate::tree::Dendrogram;

/// Question numbers and their (m, 3) leaves.
type Questions<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray2<i32>>);

/// A learner of a tree. One call at a time: others wait.
#[pyclass(frozen, module = "ordhc._ordhc")]
pub(crate) struct Learner(Mutex<Box<dyn learn::Learner>>);

impl Learner {
    fn with<R>(&self, work: impl FnOnce(&mut dyn learn::Learner) -> R) -> R {
        // A poisoned learner would have panicked, and panics are no answers.
        let mut learner = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        work(&mut **learner)
    }
}

fn questions<'py>(py: Python<'py>, asked: &[Question]) -> PyResult<Questions<'py>> {
    let ids = PyArray1::from_iter(py, asked.iter().map(|question| question.id as i64));
    let leaves = asked.iter().flat_map(|question| question.leaves.map(|leaf| leaf as i32));
    Ok((ids, PyArray1::from_iter(py, leaves).reshape([asked.len(), 3])?))
}

#[pymethods]
impl Learner {
    #[new]
    fn new(method: &str, n_leaves: usize, parallel: usize, seed: u64) -> PyResult<Self> {
        let method = match Method::from_name(method).map_err(to_py)? {
            Method::Insertion { .. } => Method::Insertion { parallel },
            other => other,
        };
        Ok(Self(Mutex::new(method.learner(n_leaves, seed).map_err(to_py)?)))
    }

    fn ask<'py>(&self, py: Python<'py>, limit: usize) -> PyResult<Questions<'py>> {
        let asked = py.detach(|| self.with(|learner| learner.ask(limit)));
        questions(py, &asked)
    }

    fn open<'py>(&self, py: Python<'py>) -> PyResult<Questions<'py>> {
        let open = self.with(|learner| learner.open());
        questions(py, &open)
    }

    /// Tells answers one after the other; gives the position of the first that is none, and why.
    fn tell(
        &self,
        py: Python<'_>,
        ids: PyReadonlyArray1<'_, i64>,
        answers: PyReadonlyArray1<'_, i8>,
    ) -> PyResult<Option<(usize, String)>> {
        let (ids, answers) = (ids.as_slice()?, answers.as_slice()?);
        if ids.len() != answers.len() {
            return Err(to_py(Error::Shape(format!("{} answers to {} questions", answers.len(), ids.len()))));
        }
        py.detach(|| {
            self.with(|learner| {
                for (at, (&id, &answer)) in ids.iter().zip(answers).enumerate() {
                    if let Err(error) = learner.tell(id as u64, answer) {
                        return Ok(Some((at, error.to_string())));
                    }
                }
                Ok(None)
            })
        })
    }

    /// Events as they happened: (asked for so many, 0, 0) or (0, question, answer).
    fn replay(&self, py: Python<'_>, events: PyReadonlyArray2<'_, i64>) -> PyResult<()> {
        let table = rows::<i64, 3>(events.as_slice()?, events.shape())?;
        let replayed = py.detach(|| {
            self.with(|learner| {
                table.iter().try_for_each(|&[asked, question, answer]| {
                    if asked > 0 {
                        learner.ask(asked as usize);
                        return Ok(());
                    }
                    learner.tell(question as u64, i8::try_from(answer).unwrap_or(i8::MAX))
                })
            })
        });
        replayed.map_err(to_py)
    }

    fn tree(&self, py: Python<'_>) -> PyResult<Dendrogram> {
        Ok(py.detach(|| self.with(|learner| learner.tree())).map_err(to_py)?.into())
    }

    #[getter]
    fn done(&self) -> bool {
        self.with(|learner| learner.done())
    }

    #[getter]
    fn n_leaves(&self) -> usize {
        self.with(|learner| learner.n_leaves())
    }

    #[getter]
    fn n_placed(&self) -> usize {
        self.with(|learner| learner.placed())
    }

    #[getter]
    fn n_asked(&self) -> u64 {
        self.with(|learner| learner.n_asked())
    }

    #[getter]
    fn n_answered(&self) -> u64 {
        self.with(|learner| learner.n_answered())
    }

    #[getter]
    fn n_rounds(&self) -> u64 {
        self.with(|learner| learner.n_rounds())
    }

    #[getter]
    fn remaining_estimate(&self) -> f64 {
        self.with(|learner| learner.remaining_estimate())
    }

    #[staticmethod]
    fn names() -> Vec<&'static str> {
        Method::NAMES.to_vec()
    }
}

/// Answers questions from a tree, wrongly with some probability.
#[pyclass(frozen, module = "ordhc._ordhc")]
pub(crate) struct TreeOracle(Mutex<Oracle>);

#[pymethods]
impl TreeOracle {
    #[new]
    fn new(py: Python<'_>, tree: &Bound<'_, Dendrogram>) -> Self {
        let tree = tree.get().inner();
        Self(Mutex::new(py.detach(|| Oracle::new(tree))))
    }

    /// (m,) answers to (m, 3) leaves, which are checked.
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
                    let text = format!("row {row}: {leaves:?} are not three different leaves of 0..={}", n - 1);
                    return Err(Error::Argument(text));
                }
                answers.push(oracle.answer(leaves.map(|leaf| leaf as u32)));
            }
            Ok(answers)
        });
        Ok(PyArray1::from_vec(py, answers.map_err(to_py)?))
    }
}

/// A random tree of a shape: "uniform", "yule", "balanced", "caterpillar".
#[pyfunction]
pub(crate) fn random_tree(py: Python<'_>, shape: &str, n_leaves: usize, seed: u64) -> PyResult<Dendrogram> {
    let shape = match shape {
        "uniform" => TreeShape::Uniform,
        "yule" => TreeShape::Yule,
        "balanced" => TreeShape::Balanced,
        "caterpillar" => TreeShape::Caterpillar,
        _ => {
            let known = "uniform, yule, balanced, caterpillar";
            return Err(to_py(Error::Argument(format!("unknown shape {shape:?}; there are {known}"))));
        }
    };
    Ok(py.detach(|| ordhc::generate::random_tree(shape, n_leaves, seed)).map_err(to_py)?.into())
}
