//! Trees drawn from the posterior.

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use ordhc::Monitor;
use ordhc::bindings::Belonging;
use ordhc::posterior::Sampling;
use ordhc::similarity::condensed_len;
use pyo3::prelude::*;

use crate::arrays::filled;
use crate::callbacks;
use crate::comparison::{Rows, answers};
use crate::error::to_py;
use crate::tree::Tree;

#[pyclass(frozen, module = "ordhc._ordhc")]
pub(crate) struct Samples(ordhc::posterior::Samples);

/// The settings of the sampler: the number of Markov chains; the numbers of sweeps in each chain, of discarded sweeps
/// and of kept trees; the seed; true for additive trees, in which leaves have lengths. A sweep moves every leaf once.
type How = (usize, usize, usize, usize, u64, bool);

#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "keywords have no place in the engine's functions")]
pub(crate) fn sample<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    answers: Option<PyReadonlyArray1<'py, u32>>,
    people: Option<PyReadonlyArray1<'py, u32>>,
    start: &Bound<'py, Tree>,
    how: How,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Samples> {
    let (chains, sweeps, burn_in, kept, seed, lengths) = how;
    let sampling = Sampling { chains, sweeps, burn_in, kept, seed, lengths };
    let start = &start.get().of_shape();
    let comparisons = crate::comparison::answers(&rows, weights.as_ref(), start.n_leaves())?;
    let answers = answers.as_ref().map(|answers| answers.as_slice()).transpose()?;
    let people = people.as_ref().map(|people| people.as_slice()).transpose()?;
    let belonging = Belonging { answers, people };
    let work = |monitor: &Monitor| comparisons.sample(&belonging, start, &sampling, Some(monitor));
    callbacks::run(py, true, progress.as_ref(), work).map(Samples)
}

#[pymethods]
impl Samples {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Returns an array for each Markov chain, with one row for each sweep. A sweep moves every leaf once. The columns
    /// are the log-likelihood, the noise (half of the share of random answers), the mean height difference of a node
    /// and its parent, the number of inner nodes, and the standard deviation of the lengths of leaves.
    fn states<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyArray2<f64>>>> {
        let of = |chain: &Vec<ordhc::posterior::State>| {
            let values = chain.iter().flat_map(|state| {
                let n_inner = state.n_inner as f64;
                [state.log_likelihood, state.noise, state.mean_increment, n_inner, state.length_deviation]
            });
            PyArray1::from_iter(py, values).reshape([chain.len(), 5])
        };
        self.0.states().iter().map(of).collect()
    }

    fn n_unknown(&self) -> usize {
        self.0.n_unknown()
    }

    fn noise_by_person<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.0.noise_by_person())
    }

    fn tree(&self, at: usize) -> PyResult<Tree> {
        Ok(self.0.tree(at).map_err(to_py)?.into())
    }

    /// Returns the predicted probability of each answer. If `verdict` is true, returns the probability that the true
    /// tree, without noise, gives this answer.
    fn predict<'py>(&self, py: Python<'py>, rows: Rows<'py>, verdict: bool) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let answers = answers(&rows, None, self.0.n_leaves())?;
        let work = |_: &Monitor| if verdict { answers.verdict_of(&self.0) } else { answers.predicted(&self.0) };
        callbacks::run(py, false, None, work).map(|found| PyArray1::from_vec(py, found))
    }

    /// Returns, for each row, the probability of the whole answer to which the row belongs. `answers` has the index of
    /// the answer of each row.
    fn predict_answers<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        answers: PyReadonlyArray1<'py, u32>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let comparisons = crate::comparison::answers(&rows, None, self.0.n_leaves())?;
        let answers = answers.as_slice()?;
        let work = |_: &Monitor| comparisons.predicted_answers(&self.0, answers);
        callbacks::run(py, false, None, work).map(|found| PyArray1::from_vec(py, found))
    }

    /// Returns the lengths of the leaves in each sampled additive tree, one row per tree. The array has no columns if
    /// trees are ultrametric.
    fn lengths<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let all: Vec<&[f64]> = (0..self.0.len()).map(|at| self.0.lengths(at)).collect();
        let width = all.first().map_or(0, |lengths| lengths.len());
        PyArray1::from_vec(py, all.concat()).reshape([all.len(), width])
    }

    /// Returns a condensed array with the similarity of each pair of leaves: the mean height of the pair's lowest
    /// common ancestor in the sampled trees. In these trees, larger heights mean closer leaves.
    fn similarity<'py>(
        &self,
        py: Python<'py>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (pairs, ()) = filled(py, "the similarities", condensed_len(self.0.n_leaves()), |values| {
            callbacks::run(py, true, progress.as_ref(), |monitor| self.0.similarity(values, Some(monitor)))
        })?;
        Ok(pairs)
    }

    fn summary(&self, py: Python<'_>) -> PyResult<Tree> {
        callbacks::run(py, true, None, |monitor| self.0.summary(Some(monitor))).map(Tree::from)
    }

    fn additive(&self, py: Python<'_>, tree: &Bound<'_, Tree>) -> PyResult<Tree> {
        let tree = tree.get().topology();
        callbacks::run(py, true, None, |monitor| self.0.additive(tree, Some(monitor)))
            .map(|tree| Tree::from(ordhc::tree::Tree::Lengths(tree)))
    }

    fn support<'py>(&self, py: Python<'py>, tree: &Bound<'py, Tree>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let tree = tree.get().topology();
        let found = py.detach(|| self.0.support(tree)).map_err(to_py)?;
        Ok(PyArray1::from_vec(py, found))
    }
}

#[pyfunction]
pub(crate) fn mixing(chains: Vec<PyReadonlyArray1<'_, f64>>) -> PyResult<(f64, f64)> {
    let chains: Vec<Vec<f64>> = chains.iter().map(|chain| chain.as_array().to_vec()).collect();
    let found = ordhc::bindings::mixing(&chains);
    Ok((found.r_hat, found.effective_size))
}
