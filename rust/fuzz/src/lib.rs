//! Fuzz targets: checks that must hold for any input. A target panics if a check fails.

#![forbid(unsafe_code)]

mod agglomerate;
mod bytes;
mod learners;
mod text;

pub use agglomerate::agglomerate;
pub use learners::{orders, replay};
pub use text::{newick, triplets};

/// A fuzz target, which takes any bytes.
pub type Target = fn(&[u8]);

/// All fuzz targets by name. The folder of inputs (the corpus) of a target has the same name.
pub const TARGETS: [(&str, Target); 5] =
    [("triplets", triplets), ("newick", newick), ("replay", replay), ("orders", orders), ("agglomerate", agglomerate)];
