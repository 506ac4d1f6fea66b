//! Fuzz targets: checks that must hold for any input. A target panics if a check fails.

#![forbid(unsafe_code)]

mod agglomerate;
mod bytes;
mod learners;
mod text;

pub use agglomerate::agglomerate;
pub use learners::{orders, replay};
pub use text::{newick, triplets};

pub type Target = fn(&[u8]);

/// All fuzz targets by name. The folder with the example inputs (the corpus) of a target has the name of the target.
pub const TARGETS: [(&str, Target); 5] =
    [("triplets", triplets), ("newick", newick), ("replay", replay), ("orders", orders), ("agglomerate", agglomerate)];
