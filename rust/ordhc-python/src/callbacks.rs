//! The only file that calls Python while work is going on.

use std::ffi::CString;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use numpy::{PyArray1, PyArrayMethods};
use ordhc::agglomerate::RowMerge;
use ordhc::{Error, Monitor};
use pyo3::prelude::*;

use crate::error::{OrdhcWarning, to_py};

/// How often signals are looked at and progress is told.
const PERIOD: Duration = Duration::from_millis(50);

/// Runs `work` without the interpreter, so that other Python threads go on.
///
/// Work that may be `long` runs on a thread of its own while this one looks for Ctrl-C and tells
/// `progress` the share that is done; an error in either stops the work.
pub(crate) fn run<R: Send>(
    py: Python<'_>,
    long: bool,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Monitor) -> ordhc::Result<R> + Send,
) -> PyResult<R> {
    let monitor = Monitor::new();
    if !long && progress.is_none() {
        let result = py.detach(|| work(&monitor)).map_err(to_py)?;
        warn(py, &monitor)?;
        return Ok(result);
    }
    let progress = progress.map(|callback| callback.clone().unbind());
    let result = py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, receiver) = channel();
            let monitor = &monitor;
            scope.spawn(move || {
                let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(monitor)));
                let _ = sender.send(result);
            });
            let mut trouble = None;
            loop {
                match receiver.recv_timeout(PERIOD) {
                    Ok(Ok(result)) => return trouble.map_or_else(|| result.map_err(to_py), Err),
                    Ok(Err(panic)) => std::panic::resume_unwind(panic),
                    Err(RecvTimeoutError::Disconnected) => unreachable!("the work always sends its result"),
                    Err(RecvTimeoutError::Timeout) if trouble.is_none() => {
                        if let Err(error) = Python::attach(|py| tell(py, monitor, progress.as_ref())) {
                            monitor.cancel();
                            trouble = Some(error);
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                }
            }
        })
    })?;
    if let Some(progress) = progress {
        progress.call1(py, (1.0,))?;
    }
    warn(py, &monitor)?;
    Ok(result)
}

/// Passes on why a result is less certain than it looks, to whoever has called the function that called this one.
fn warn(py: Python<'_>, monitor: &Monitor) -> PyResult<()> {
    const CALLER: i32 = 3;
    let Some(text) = monitor.warning() else { return Ok(()) };
    PyErr::warn(py, &py.get_type::<OrdhcWarning>(), &CString::new(text)?, CALLER)
}

fn tell(py: Python<'_>, monitor: &Monitor, progress: Option<&Py<PyAny>>) -> PyResult<()> {
    py.check_signals()?;
    match progress {
        Some(progress) => progress.call1(py, (monitor.fraction(),)).map(|_| ()),
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
            return Err(to_py(Error::Shape(format!("the row update gave {found} values for {expected} clusters"))));
        }
        out.copy_from_slice(row);
        Ok(())
    };
    call().map_err(|error| {
        *failure = Some(error);
        Error::Interrupted
    })
}
