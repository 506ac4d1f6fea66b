//! Runs work without the interpreter, and calls Python meanwhile: signals, progress, row updates. (The progress of row
//! updates, which hold the interpreter, is told in `linkage`.)

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use numpy::{PyArray1, PyArrayMethods};
use ordhc::agglomerate::RowMerge;
use ordhc::{Error, Monitor};
use pyo3::prelude::*;

use crate::error::to_py;

/// How often signals are looked at and progress is told.
const PERIOD: Duration = Duration::from_millis(50);

/// Runs `work` without the interpreter, so that other Python threads go on.
///
/// Work that may be `long` runs on a thread of its own while this one looks for Ctrl-C and tells
/// `progress` the share that is done; an error in either stops the work. Short work runs here, as does long work
/// when there is no thread to be had; it then looks for itself whenever it advances.
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

/// Passes on why a result is less certain than it looks, to whoever has called the package.
fn warn(py: Python<'_>, text: Option<String>) -> PyResult<()> {
    let Some(text) = text else { return Ok(()) };
    py.import("ordhc.errors")?.call_method1("warn", (text,)).map(drop)
}

/// Work of any kind, so that what is done around it is compiled once.
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

/// On this thread, with a monitor that looks for itself.
fn here(progress: Option<Py<PyAny>>, task: Watched<'_>) -> PyResult<()> {
    let trouble = Arc::new(Mutex::new(None));
    let found = Arc::clone(&trouble);
    let monitor = Monitor::watched(PERIOD, move |done| {
        let told = Python::attach(|py| tell(py, done, progress.as_ref()));
        let fine = told.is_ok();
        if let Err(error) = told {
            found.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
        fine
    });
    task(&monitor);
    let trouble = trouble.lock().unwrap_or_else(PoisonError::into_inner).take();
    trouble.map_or(Ok(()), Err)
}

/// On a thread of its own; nothing if there is none to be had.
fn beside(progress: Option<&Py<PyAny>>, task: Watched<'_>) -> Option<PyResult<()>> {
    let monitor = &Monitor::new();
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        let run = move || {
            let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| task(monitor)));
            let _ = sender.send(ended);
        };
        std::thread::Builder::new().spawn_scoped(scope, run).ok()?;
        let mut trouble = None;
        loop {
            match receiver.recv_timeout(PERIOD) {
                Ok(Ok(())) => return Some(trouble.map_or(Ok(()), Err)),
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                Err(RecvTimeoutError::Disconnected) => unreachable!("the work always says that it ended"),
                Err(RecvTimeoutError::Timeout) if trouble.is_none() => {
                    if let Err(error) = Python::attach(|py| tell(py, monitor.fraction(), progress)) {
                        monitor.cancel();
                        trouble = Some(error);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    })
}

fn tell(py: Python<'_>, done: f64, progress: Option<&Py<PyAny>>) -> PyResult<()> {
    py.check_signals()?;
    match progress {
        Some(progress) => progress.call1(py, (done,)).map(|_| ()),
        None => Ok(()),
    }
}

/// A row update written in Python; `failure` keeps the exception it raised.
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
