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

/// Makes room for so many more values, or [`Error::OutOfMemory`].
pub(crate) fn reserve<T>(what: &'static str, values: &mut Vec<T>, more: usize) -> Result<()> {
    let bytes = (more as u64).saturating_mul(size_of::<T>() as u64);
    check(what, bytes)?;
    values.try_reserve_exact(more).map_err(|_| Error::OutOfMemory { what, bytes })
}

/// Zeroed values, in huge pages where there are many and the system has them.
#[derive(Debug)]
pub(crate) struct Buffer {
    memory: Memory,
    len: usize,
}

#[derive(Debug)]
enum Memory {
    Small(Vec<f64>),
    Large(memmap2::MmapMut),
}

/// From this many bytes on pages are asked for directly.
const LARGE: usize = 4 << 20;

impl Buffer {
    /// `len` zeros, or [`Error::OutOfMemory`].
    pub(crate) fn zeros(what: &'static str, len: usize) -> Result<Self> {
        let bytes = (len as u64).saturating_mul(size_of::<f64>() as u64);
        check(what, bytes)?;
        let out_of_memory = Error::OutOfMemory { what, bytes };
        if bytes < LARGE as u64 {
            return Ok(Self { memory: Memory::Small(vec![0.0; len]), len });
        }
        let bytes = isize::try_from(bytes).map_err(|_| out_of_memory.clone())? as usize;
        let map = memmap2::MmapMut::map_anon(bytes).map_err(|_| out_of_memory)?;
        #[cfg(target_os = "linux")]
        {
            // Only advice: without huge pages everything works, a little slower.
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        Ok(Self { memory: Memory::Large(map), len })
    }

    /// Forgets all but the first `len` values.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }
}

impl std::ops::Deref for Buffer {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        match &self.memory {
            Memory::Small(values) => &values[..self.len],
            Memory::Large(map) => &bytemuck::cast_slice(map)[..self.len],
        }
    }
}

impl std::ops::DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f64] {
        match &mut self.memory {
            Memory::Small(values) => &mut values[..self.len],
            Memory::Large(map) => &mut bytemuck::cast_slice_mut(map)[..self.len],
        }
    }
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
