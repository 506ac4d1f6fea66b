//! Loops in the widest vectors that the processor has.
//!
//! The crate is compiled for all processors of a kind. What runs in `wide!` is compiled for AVX2 and for AVX-512 once
//! more, and the best of what this processor has is taken. All of it gives the same numbers to the bit: operations
//! stay as they are written, only more lanes take part in one.
//!
//! Functions that are called inside must be `#[inline(always)]`: as calls they are what they are elsewhere.

/// Runs a block, compiled for the processor it runs on. What returns early returns from the block.
macro_rules! wide {
    ($work:expr) => {
        $crate::wide::widely(
            #[inline(always)]
            || $work,
        )
    };
}

/// What `wide!` does.
#[inline(always)]
pub(crate) fn widely<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    {
        use fearless_simd::{Level, Simd};

        let level = Level::new();
        if let Some(simd) = level.as_avx512() {
            return simd.vectorize(work);
        }
        if let Some(simd) = level.as_avx2() {
            return simd.vectorize(work);
        }
    }
    work()
}
