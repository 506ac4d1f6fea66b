//! Large allocations that return an error instead of exhausting the machine's memory.

use crate::error::{Error, Result};
use crate::numbers::Held;

/// Checks that `bytes` of memory are available before anything is allocated.
///
/// On Linux, the limits are the memory that is available now, the limit of the control group, and the limit of the
/// process (`ulimit -v`). On other systems, only the allocator decides.
///
/// # Errors
/// [`Error::OutOfMemory`] with `what` and the number of bytes.
///
/// ```
/// assert!(ordhc::memory::check("a matrix", 1 << 60).is_err());
/// assert!(ordhc::memory::check("a matrix", 8).is_ok());
/// ```
pub fn check(what: &'static str, bytes: u64) -> Result<()> {
    const ALWAYS_FINE: u64 = 1 << 20;
    if bytes > ALWAYS_FINE && available().is_some_and(|available| bytes > available) {
        return Err(Error::OutOfMemory { what, bytes });
    }
    Ok(())
}

pub(crate) fn room<T>(what: &'static str, len: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    reserve(what, &mut values, len)?;
    Ok(values)
}

pub(crate) fn filled<T: Clone>(what: &'static str, value: T, len: usize) -> Result<Vec<T>> {
    let mut values = room(what, len)?;
    values.resize(len, value);
    Ok(values)
}

pub(crate) fn collected<T>(what: &'static str, most: usize, values: impl Iterator<Item = T>) -> Result<Vec<T>> {
    let mut all = room(what, most)?;
    all.extend(values);
    Ok(all)
}

#[inline]
pub(crate) fn push<T>(what: &'static str, values: &mut Vec<T>, value: T) -> Result<()> {
    if values.len() == values.capacity() {
        let more = values.len().max(16);
        let bytes = (more as u64).saturating_mul(2 * size_of::<T>() as u64);
        check(what, bytes)?;
        values.try_reserve(more).map_err(|_| Error::OutOfMemory { what, bytes })?;
    }
    values.push(value);
    Ok(())
}

pub(crate) fn reserve<T>(what: &'static str, values: &mut Vec<T>, more: usize) -> Result<()> {
    let bytes = (more as u64).saturating_mul(size_of::<T>() as u64);
    check(what, bytes)?;
    values.try_reserve_exact(more).map_err(|_| Error::OutOfMemory { what, bytes })
}

/// A buffer of numbers, initially zeros. Large buffers use huge pages if the system has them.
#[derive(Debug)]
pub(crate) struct Buffer<V = f64> {
    memory: Memory<V>,
    len: usize,
}

#[derive(Debug)]
enum Memory<V> {
    Small(Vec<V>),
    Large(memmap2::MmapMut),
}

/// Buffers of at least this number of bytes get new memory pages directly from the operating system. Smaller buffers
/// come from the allocator, which mostly reuses memory.
const LARGE: usize = 20 << 20;

impl<V: Held> Buffer<V> {
    pub(crate) fn zeros(what: &'static str, len: usize) -> Result<Self> {
        let bytes = (len as u64).saturating_mul(size_of::<V>() as u64);
        check(what, bytes)?;
        let out_of_memory = Error::OutOfMemory { what, bytes };
        if bytes < LARGE as u64 {
            return Ok(Self { memory: Memory::Small(vec![V::ZERO; len]), len });
        }
        let bytes = isize::try_from(bytes).map_err(|_| out_of_memory.clone())? as usize;
        let map = memmap2::MmapMut::map_anon(bytes).map_err(|_| out_of_memory)?;
        #[cfg(target_os = "linux")]
        {
            // This is only advice. Without huge pages the computation is slightly slower.
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        Ok(Self { memory: Memory::Large(map), len })
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }
}

impl<V: Held> std::ops::Deref for Buffer<V> {
    type Target = [V];

    fn deref(&self) -> &[V] {
        match &self.memory {
            Memory::Small(values) => &values[..self.len],
            Memory::Large(map) => &bytemuck::cast_slice(map)[..self.len],
        }
    }
}

impl<V: Held> std::ops::DerefMut for Buffer<V> {
    fn deref_mut(&mut self) -> &mut [V] {
        match &mut self.memory {
            Memory::Small(values) => &mut values[..self.len],
            Memory::Large(map) => &mut bytemuck::cast_slice_mut(map)[..self.len],
        }
    }
}

fn available() -> Option<u64> {
    let system = system_room()?;
    Some(address_room().map_or(system, |room| room.min(system)))
}

/// Returns the number of bytes by which the address space of the process can grow, or `None` if it has no limit. Some
/// bytes are set aside for allocators and threads.
fn address_room() -> Option<u64> {
    const THREAD: u64 = 72 << 20;
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    // Without a limit, the first word is "unlimited", which is not a number.
    let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
    let kilobytes: u64 = size.split_whitespace().next()?.parse().ok()?;
    let threads = crate::parallel::n_threads().min(4) as u64;
    Some(limit.saturating_sub(1024 * kilobytes).saturating_sub(threads * THREAD))
}

fn system_room() -> Option<u64> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_had_is_an_error_with_the_bytes() {
        let bytes = |result: Result<Vec<u64>>| match result {
            Err(Error::OutOfMemory { what: "it", bytes }) => bytes,
            other => panic!("{other:?}"),
        };
        let len = 1 << 57;
        assert_eq!(bytes(room("it", len)), 1 << 60);
        assert_eq!(bytes(filled("it", 7, len)), 1 << 60);
        assert_eq!(bytes(collected("it", len, 0..3)), 1 << 60);
        assert_eq!(bytes(room("it", usize::MAX)), u64::MAX);
    }

    #[test]
    fn what_can_be_had_is_there() {
        assert_eq!(filled("it", 7u8, 3), Ok(vec![7, 7, 7]));
        assert_eq!(collected("it", 5, 0..3), Ok(vec![0, 1, 2]));
        let mut values = Vec::new();
        (0..100).for_each(|x| push("it", &mut values, x).unwrap());
        assert_eq!(values, (0..100).collect::<Vec<_>>());
    }
}
