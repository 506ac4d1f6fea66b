//! Progress and cancellation, shared between a computation and its observer.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// A monitor of one long computation, usable from another thread: it returns the progress, and can cancel the
/// computation.
///
/// The computation only accesses atomic variables, so monitoring costs almost nothing.
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
    stop: Arc<Stop>,
    /// The steps of one part of the computation (see [`Monitor::child`]), or `None` for the whole computation.
    own: Option<Steps>,
    warning: Mutex<Option<String>>,
}

/// Turns the optional monitor `$monitor` into a monitor. Replaces `None` by a new monitor, which has no observer.
macro_rules! watched {
    ($monitor:ident = $given:expr) => {
        let unwatched = $crate::monitor::Monitor::new();
        let $monitor = $given.unwrap_or(&unwatched);
    };
    ($monitor:ident) => {
        watched!($monitor = $monitor)
    };
}

#[derive(Debug, Default)]
struct Steps {
    done: AtomicU64,
    total: AtomicU64,
}

impl Steps {
    fn fraction(&self) -> f64 {
        let total = self.total.load(Ordering::Relaxed);
        let done = self.done.load(Ordering::Relaxed);
        if total == 0 { 0.0 } else { (done as f64 / total as f64).min(1.0) }
    }
}

#[derive(Debug, Default)]
struct Stop {
    whole: Steps,
    cancelled: AtomicBool,
    watcher: Option<Watcher>,
}

/// A callback that decides whether the computation continues. The computation calls it on one thread only.
struct Watcher {
    thread: ThreadId,
    period: Duration,
    last: Mutex<Instant>,
    look: Box<dyn Fn(f64) -> bool + Send + Sync>,
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watcher").field("thread", &self.thread).field("period", &self.period).finish_non_exhaustive()
    }
}

impl Watcher {
    fn is_due(&self) -> bool {
        if std::thread::current().id() != self.thread {
            return false;
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let due = now.duration_since(*last) >= self.period;
        if due {
            *last = now;
        }
        due
    }
}

impl Monitor {
    /// Returns a monitor of a computation that has not started.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a monitor that calls `look` from the computation itself, for computations on the calling thread. When
    /// the computation advances on this thread and `period` has passed, `look` is called with the completed fraction of
    /// the whole computation, in \[0, 1\]. The computation stops if `look` returns false.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let monitor = ordhc::Monitor::watched(Duration::ZERO, |done| done < 0.5);
    /// monitor.start(2);
    /// assert_eq!(monitor.advance(0), Ok(()));
    /// assert_eq!(monitor.advance(1), Err(ordhc::Error::Interrupted));
    /// ```
    pub fn watched(period: Duration, look: impl Fn(f64) -> bool + Send + Sync + 'static) -> Self {
        let thread = std::thread::current().id();
        let watcher = Watcher { thread, period, last: Mutex::new(Instant::now()), look: Box::new(look) };
        let stop = Stop { watcher: Some(watcher), ..Stop::default() };
        Self { stop: Arc::new(stop), ..Self::default() }
    }

    /// Returns a monitor for a part of the computation, with its own progress. The part is cancelled together with the
    /// whole.
    pub fn child(&self) -> Self {
        Self { stop: Arc::clone(&self.stop), own: Some(Steps::default()), ..Self::default() }
    }

    fn steps(&self) -> &Steps {
        self.own.as_ref().unwrap_or(&self.stop.whole)
    }

    /// Cancels the computation, which then returns [`Error::Interrupted`].
    pub fn cancel(&self) {
        self.stop.cancelled.store(true, Ordering::Relaxed);
    }

    /// Returns the completed fraction in \[0, 1\].
    pub fn fraction(&self) -> f64 {
        self.steps().fraction()
    }

    /// Sets the number of steps, and starts counting from 0.
    pub fn start(&self, total: u64) {
        self.steps().done.store(0, Ordering::Relaxed);
        self.steps().total.store(total, Ordering::Relaxed);
    }

    /// Adds completed steps.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if the computation was cancelled.
    pub fn advance(&self, steps: u64) -> Result<()> {
        self.steps().done.fetch_add(steps, Ordering::Relaxed);
        self.check()
    }

    pub(crate) fn warn(&self, text: String) {
        *self.warning.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }

    /// Returns the warning that says why the result is less certain than it seems, or `None`.
    ///
    /// ```
    /// assert_eq!(ordhc::Monitor::new().warning(), None);
    /// ```
    pub fn warning(&self) -> Option<String> {
        self.warning.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Checks for cancellation, without adding a step.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if the computation was cancelled.
    pub fn check(&self) -> Result<()> {
        if let Some(watcher) = &self.stop.watcher
            && watcher.is_due()
            && !(watcher.look)(self.stop.whole.fraction())
        {
            self.cancel();
        }
        if self.stop.cancelled.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_looks_is_told_how_far_the_whole_is() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&told);
        let monitor = Monitor::watched(Duration::ZERO, move |done| {
            kept.lock().unwrap().push(done);
            true
        });
        monitor.start(2);
        let child = monitor.child();
        child.start(1);
        child.advance(1).unwrap();
        assert_eq!(child.fraction(), 1.0);
        monitor.advance(1).unwrap();
        assert_eq!(*told.lock().unwrap(), [0.0, 0.5]);
    }

    #[test]
    fn only_the_thread_that_made_it_looks() {
        let monitor = Monitor::watched(Duration::ZERO, |_| false);
        let elsewhere = std::thread::scope(|scope| scope.spawn(|| monitor.check()).join().unwrap());
        assert_eq!(elsewhere, Ok(()));
        assert_eq!(monitor.child().check(), Err(Error::Interrupted));
        assert_eq!(monitor.check(), Err(Error::Interrupted));
    }

    #[test]
    fn a_watcher_looks_once_in_a_period() {
        let looks = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&looks);
        let monitor = Monitor::watched(Duration::from_secs(3600), move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            true
        });
        for _ in 0..10 {
            monitor.advance(1).unwrap();
        }
        assert_eq!(looks.load(Ordering::Relaxed), 0);
    }
}
