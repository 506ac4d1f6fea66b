//! Loops that use the widest vector instructions of the processor.
//!
//! The crate is compiled for all processors of an architecture. Code in `wide!` is also compiled for AVX2 and for
//! AVX-512, and the best version for the processor is run. All versions give bit-identical results: the operations are
//! the same, with more SIMD lanes per instruction.
//!
//! Functions that are called inside `wide!` must be `#[inline(always)]`. Other functions are compiled for the baseline
//! instructions only. This is also true for closures that have a name or are passed as arguments: use loops and
//! functions instead.
//!
//! The code compiled for AVX-512 adds a quarter of a megabyte, but saves time. Without this code, average, complete,
//! weighted and Ward's linkage of 2,000 leaves take 1.13 to 1.43 times as long, and single linkage 1.08 to 1.36 times
//! (one thread).

/// Runs a block of code with the widest vector instructions of the current processor. The block is compiled several
/// times, for different instructions. A `return` inside returns from the block only.
///
/// In `wide!(simd => block)`, the block can use `simd`, the processor's instance of `fearless_simd::Simd`, for explicit
/// vector operations. Without explicit operations, the compiler uses wide vectors mostly for loops in which each value
/// is computed independently.
macro_rules! wide {
    ($simd:ident => $work:expr) => {{
        let level = fearless_simd::Level::new();
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        let result = if let Some($simd) = level.as_avx512() {
            $crate::wide::with($simd, #[inline(always)] || $work)
        } else if let Some($simd) = level.as_avx2() {
            $crate::wide::with($simd, #[inline(always)] || $work)
        } else {
            // All processors of this architecture have SSE2.
            let $simd = level.as_sse2().expect("the processor has SSE2");
            $crate::wide::with($simd, #[inline(always)] || $work)
        };
        #[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
        let result = fearless_simd::dispatch!(level, $simd => $work);
        result
    }};
    ($work:expr) => {
        $crate::wide::widely(
            #[inline(always)]
            || $work,
        )
    };
}

#[inline(always)]
pub(crate) fn widely<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    {
        let level = fearless_simd::Level::new();
        if let Some(simd) = level.as_avx512() {
            return with(simd, work);
        }
        if let Some(simd) = level.as_avx2() {
            return with(simd, work);
        }
    }
    work()
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn with<S: fearless_simd::Simd, R>(simd: S, work: impl FnOnce() -> R) -> R {
    simd.vectorize(work)
}
