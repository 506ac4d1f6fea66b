//! What must hold for any bytes: a target panics when it does not.

#![forbid(unsafe_code)]

mod agglomerate;
mod bytes;
mod learners;
mod text;

pub use agglomerate::agglomerate;
pub use learners::{orders, replay};
pub use text::{newick, triplets};

/// A target takes any bytes.
pub type Target = fn(&[u8]);

/// All fuzz targets by name. The folder of inputs (the corpus) of a target has the same name.
pub const TARGETS: [(&str, Target); 5] =
    [("triplets", triplets), ("newick", newick), ("replay", replay), ("orders", orders), ("agglomerate", agglomerate)];
