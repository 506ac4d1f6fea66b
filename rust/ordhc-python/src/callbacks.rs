//! Runs work without the interpreter's lock. Meanwhile, calls Python to check for signals and to report progress. Also
//! calls row updates that are written in Python. A row update holds the lock, so `linkage` itself reports the progress
//! of an agglomeration with row updates.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use numpy::{PyArray1, PyArrayMethods};
use ordhc::agglomerate::RowMerge;
use ordhc::{Error, Monitor};
use pyo3::prelude::*;

use crate::error::to_py;

/// The time between two checks for signals, and between two reports of progress.
const PERIOD: Duration = Duration::from_millis(50);

/// Runs `work` without the interpreter's lock, so that other Python threads continue.
///
/// Work that may be `long` runs on a separate thread. Meanwhile this thread checks for Ctrl-C and reports the completed
/// fraction to `progress`. Ctrl-C or an error in `progress` stops the work. Short work runs on this thread. Long work
/// also runs on this thread if no other thread can be started. Then the work itself checks for Ctrl-C.
pub(crate) fn run<R: Send>(
    py: Python<'_>,
    long: bool,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Monitor) -> ordhc::Result<R> + Send,
) -> PyResult<R> {
    let mut work = Some(work);
    let mut result = None;
    let mut task = |monitor: &Monitor| {
        let work = work.take().expect("a task runs once");
        work(monitor).map(|found| result = Some(found))
    };
    run_task(py, long, progress, &mut task)?;
    Ok(result.expect("a task without an error has its result"))
}

fn warn(py: Python<'_>, text: Option<String>) -> PyResult<()> {
    let Some(text) = text else { return Ok(()) };
    py.import("ordhc.errors")?.call_method1("warn", (text,)).map(drop)
}

/// Work that stores its own result. All work has this one type, so the code that runs work is
/// compiled only once.
type Task<'a> = &'a mut (dyn FnMut(&Monitor) -> ordhc::Result<()> + Send);

fn run_task(py: Python<'_>, long: bool, progress: Option<&Bound<'_, PyAny>>, task: Task<'_>) -> PyResult<()> {
    let callback = progress.map(|callback| callback.clone().unbind());
    let mut ended = (Ok(()), None);
    let mut watched = |monitor: &Monitor| ended = (task(monitor), monitor.warning());
    py.detach(|| {
        if !long && callback.is_none() {
            return here(None, &mut watched);
        }
        match beside(callback.as_ref(), &mut watched) {
            Some(result) => result,
            None => here(callback, &mut watched),
        }
    })?;
    let (result, warning) = ended;
    result.map_err(to_py)?;
    if let Some(progress) = progress {
        progress.call1((1.0,))?;
    }
    warn(py, warning)
}

type Watched<'a> = &'a mut (dyn FnMut(&Monitor) + Send);

fn here(progress: Option<Py<PyAny>>, task: Watched<'_>) -> PyResult<()> {
    let failure = Arc::new(Mutex::new(None));
    let found = Arc::clone(&failure);
    let monitor = Monitor::watched(PERIOD, move |done| {
        let reported = Python::attach(|py| report(py, done, progress.as_ref()));
        let fine = reported.is_ok();
        if let Err(error) = reported {
            found.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
        fine
    });
    task(&monitor);
    let failure = failure.lock().unwrap_or_else(PoisonError::into_inner).take();
    failure.map_or(Ok(()), Err)
}

/// Runs work on a separate thread. Returns `None` if no thread can be started.
fn beside(progress: Option<&Py<PyAny>>, task: Watched<'_>) -> Option<PyResult<()>> {
    let monitor = &Monitor::new();
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        let run = move || {
            let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| task(monitor)));
            let _ = sender.send(ended);
        };
        std::thread::Builder::new().spawn_scoped(scope, run).ok()?;
        let mut failure = None;
        loop {
            match receiver.recv_timeout(PERIOD) {
                Ok(Ok(())) => return Some(failure.map_or(Ok(()), Err)),
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                Err(RecvTimeoutError::Disconnected) => unreachable!("the work always says that it ended"),
                Err(RecvTimeoutError::Timeout) if failure.is_none() => {
                    if let Err(error) = Python::attach(|py| report(py, monitor.fraction(), progress)) {
                        monitor.cancel();
                        failure = Some(error);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    })
}

fn report(py: Python<'_>, done: f64, progress: Option<&Py<PyAny>>) -> PyResult<()> {
    py.check_signals()?;
    match progress {
        Some(progress) => progress.call1(py, (done,)).map(|_| ()),
        None => Ok(()),
    }
}

/// Calls a Python function that computes the similarities or dissimilarities of a merged cluster to the other clusters.
/// Stores an exception of the function in `failure`.
pub(crate) fn update_row(
    py: Python<'_>,
    callback: &Py<PyAny>,
    failure: &mut Option<PyErr>,
    merge: &RowMerge<'_>,
    out: &mut [f64],
) -> ordhc::Result<()> {
    let mut call = || -> PyResult<()> {
        py.check_signals()?;
        let row = callback.bind(py).call1((
            PyArray1::from_slice(py, merge.row_i),
            PyArray1::from_slice(py, merge.row_j),
            merge.s_ij,
            merge.n_i,
            merge.n_j,
            PyArray1::from_slice(py, merge.sizes),
            merge.i,
            merge.j,
            PyArray1::from_slice(py, merge.others),
        ))?;
        let row = row.cast_into::<PyArray1<f64>>()?.readonly();
        let row = row.as_slice()?;
        if row.len() != out.len() {
            let (found, expected) = (row.len(), out.len());
            return Err(to_py(Error::Length { what: "values of the row update", found, of: "clusters", expected }));
        }
        out.copy_from_slice(row);
        Ok(())
    };
    call().map_err(|error| {
        *failure = Some(error);
        Error::Interrupted
    })
}
