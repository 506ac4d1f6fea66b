//! Loops that use wide vector instructions of the processor.
//!
//! The crate is compiled for all processors of an architecture. Code in `wide!` is also compiled for AVX2, and code in
//! `widest!` also for AVX-512. The best version for the processor is run. All versions give bit-identical results: the
//! operations are the same, with more SIMD lanes per instruction.
//!
//! Functions that are called inside `wide!` must be `#[inline(always)]`. Other functions are compiled for the baseline
//! instructions only. This is also true for closures that have a name or are passed as arguments: use loops and
//! functions instead.
//!
//! `widest!` is for the loops in which linkage spends its time. With AVX2 only, average, complete, weighted and Ward's
//! linkage of 2,000 leaves take 1.13 to 1.43 times as long, and single linkage 1.08 to 1.36 times (one thread). For other
//! loops, AVX-512 would add 120 kilobytes to the extension, and no measurement shows that it saves time.

/// Runs a block of code with the vector instructions of AVX2, if the processor has them. The block is compiled several
/// times, for different instructions. A `return` inside returns from the block only.
///
/// In `wide!(simd => block)`, the block can use `simd`, the processor's instance of `fearless_simd::Simd`, for explicit
/// vector operations. Without explicit operations, the compiler uses wide vectors mostly for loops in which each value
/// is computed independently.
macro_rules! wide {
    ($simd:ident => $work:expr) => {
        $crate::wide::by_level!([as_avx2, as_sse2] $simd => $work, else unreachable!("the processor has SSE2"))
    };
    ($work:expr) => {
        $crate::wide::widely::<false, _>(
            #[inline(always)]
            || $work,
        )
    };
}

/// Does what `wide!` does, but also with the vector instructions of AVX-512.
///
/// In `widest!(simd => block, else other)`, a processor of x86 with neither AVX-512 nor AVX2 runs `other`, which must
/// give the same result.
macro_rules! widest {
    ($simd:ident => $work:expr) => {
        $crate::wide::by_level!(
            [as_avx512, as_avx2, as_sse2] $simd => $work, else unreachable!("the processor has SSE2")
        )
    };
    ($simd:ident => $work:expr, else $other:expr) => {
        $crate::wide::by_level!([as_avx512, as_avx2] $simd => $work, else $other)
    };
    ($work:expr) => {
        $crate::wide::widely::<true, _>(
            #[inline(always)]
            || $work,
        )
    };
}

/// Runs a block with the first of the levels of instructions that the processor has, or else `other`. Architectures
/// other than x86 have one level.
macro_rules! by_level {
    ([$($level:ident),+] $simd:ident => $work:expr, else $other:expr) => {{
        let level = fearless_simd::Level::new();
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        let result = 'done: {
            $(if let Some($simd) = level.$level() {
                break 'done $crate::wide::with($simd, #[inline(always)] || $work);
            })+
            $other
        };
        #[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
        let result = fearless_simd::dispatch!(level, $simd => $work);
        result
    }};
}

pub(crate) use by_level;

#[inline(always)]
pub(crate) fn widely<const WIDEST: bool, R>(work: impl FnOnce() -> R) -> R {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    {
        let level = fearless_simd::Level::new();
        if WIDEST && let Some(simd) = level.as_avx512() {
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
