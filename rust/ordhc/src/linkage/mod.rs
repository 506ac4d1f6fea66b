//! Linkages: definitions of the similarity of two clusters.
//!
//! ```
//! use ordhc::agglomerate::{Agglomeration, Layout, Matrix, Values};
//! use ordhc::linkage::{LanceWilliams, Rule};
//! use ordhc::Kind;
//!
//! // Average linkage, as coefficients.
//! let average = LanceWilliams::new("n_i / (n_i + n_j)", "0", "0", &[])?.reducible(true);
//! let matrix = Matrix::new(Values::F64(&[9.0, 1.0, 4.0]), Layout::Condensed, Kind::Similarity)?;
//! let tree = Agglomeration::new(Rule::Coefficients(average)).run(&matrix)?;
//! assert_eq!(tree, Agglomeration::new(Rule::Average).run(&matrix)?);
//! # Ok::<(), ordhc::Error>(())
//! ```
//!
//! A linkage is defined in one of three ways:
//!
//! * [`Rule`]: one of the seven built-in Lance-Williams linkages, or [`LanceWilliams`] coefficients given as formulas;
//! * a row update ([`Agglomeration::by_rows`](crate::agglomerate::Agglomeration::by_rows)): a function that computes
//!   the merged cluster's row from the two old rows;
//! * the [`crate::agglomerate::Linkage`] trait: a linkage that needs no matrix.

mod formula;
mod lance_williams;
mod rule;

pub use formula::Formula;
pub use lance_williams::LanceWilliams;
pub use rule::Rule;
pub(crate) use rule::{
    Average, AverageOfWhole, Between, Centroid, Complete, Median, Merging, Plain, Single, Stored, Update, Ward,
    Weighted,
};
