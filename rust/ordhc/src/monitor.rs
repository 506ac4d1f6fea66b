//! Progress and cancellation, shared between the work and whoever watches it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Result};

/// Watches one long computation from another thread: how far it is, and whether it should stop.
///
/// The work only touches atomics, so watching costs next to nothing.
///
/// ```
/// use ordhc::Monitor;
///
/// let monitor = Monitor::new();
/// monitor.start(200);
/// monitor.advance(50)?;
/// assert_eq!(monitor.fraction(), 0.25);
/// monitor.cancel();
/// assert_eq!(monitor.advance(1), Err(ordhc::Error::Interrupted));
/// # Ok::<(), ordhc::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Monitor {
    cancelled: Arc<AtomicBool>,
    done: AtomicU64,
    total: AtomicU64,
    doubtful: AtomicBool,
    warning: Mutex<Option<String>>,
}

impl Monitor {
    /// A monitor of work that has not started.
    pub fn new() -> Self {
        Self::default()
    }

    /// A monitor for a part of the work: it counts on its own and stops with the whole.
    pub fn child(&self) -> Self {
        Self { cancelled: Arc::clone(&self.cancelled), ..Self::default() }
    }

    /// Asks the work to stop; it then returns [`Error::Interrupted`].
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// The share of the work that is done, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        let total = self.total.load(Ordering::Relaxed);
        let done = self.done.load(Ordering::Relaxed);
        if total == 0 { 0.0 } else { (done as f64 / total as f64).min(1.0) }
    }

    /// Declares how many steps the work has, and starts counting again.
    pub fn start(&self, total: u64) {
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    /// Counts steps as done.
    ///
    /// # Errors
    /// [`Error::Interrupted`] when the work was asked to stop.
    pub fn advance(&self, steps: u64) -> Result<()> {
        self.done.fetch_add(steps, Ordering::Relaxed);
        if self.cancelled.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Takes note that rounding may have decided something.
    pub(crate) fn doubt(&self) {
        self.doubtful.store(true, Ordering::Relaxed);
    }

    /// Whether there were doubts since the last call.
    pub(crate) fn take_doubt(&self) -> bool {
        self.doubtful.swap(false, Ordering::Relaxed)
    }

    /// Says why the result is less certain than it looks.
    pub(crate) fn warn(&self, text: String) {
        *self.warning.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }

    /// Why the result is less certain than it looks, if it is.
    ///
    /// ```
    /// assert_eq!(ordhc::Monitor::new().warning(), None);
    /// ```
    pub fn warning(&self) -> Option<String> {
        self.warning.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
