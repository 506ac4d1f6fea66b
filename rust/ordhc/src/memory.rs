//! Large allocations that fail with a message instead of taking the machine down.

use crate::error::{Error, Result};

/// Checks that `bytes` can be had before anything is allocated.
///
/// On Linux the memory that is available now (and a control group's limit) is asked; elsewhere only
/// the allocator decides.
///
/// # Errors
/// [`Error::OutOfMemory`] naming `what` and the bytes.
///
/// ```
/// assert!(ordhc::memory::check("a matrix", 1 << 60).is_err());
/// assert!(ordhc::memory::check("a matrix", 8).is_ok());
/// ```
pub fn check(what: &'static str, bytes: u64) -> Result<()> {
    const ALWAYS_FINE: u64 = 64 << 20;
    if bytes > ALWAYS_FINE && available().is_some_and(|available| bytes > available) {
        return Err(Error::OutOfMemory { what, bytes });
    }
    Ok(())
}

/// A zeroed vector of `len` values, or [`Error::OutOfMemory`].
pub(crate) fn zeros<T: Copy + Default>(what: &'static str, len: usize) -> Result<Vec<T>> {
    let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
    check(what, bytes)?;
    if isize::try_from(bytes).is_err() {
        return Err(Error::OutOfMemory { what, bytes });
    }
    Ok(vec![T::default(); len])
}

fn available() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let free = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?
        .trim()
        .trim_end_matches("kB")
        .trim()
        .parse::<u64>()
        .ok()?
        * 1024;
    Some(control_group_room().map_or(free, |room| room.min(free)))
}

fn control_group_room() -> Option<u64> {
    let read = |path| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let limit = read("/sys/fs/cgroup/memory.max")?;
    let used = read("/sys/fs/cgroup/memory.current")?;
    let cache = std::fs::read_to_string("/sys/fs/cgroup/memory.stat")
        .ok()
        .and_then(|stat| stat.lines().find_map(|line| line.strip_prefix("inactive_file ")?.trim().parse().ok()))
        .unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(cache)))
}
