//! Ordinal embeddings: points whose distances agree with triplets.
//!
//! ```
//! use ordhc::{Triplets, embedding::{EmbeddingLoss, Model}};
//!
//! let triplets = Triplets::new(vec![[0, 1, 2], [1, 0, 2]], None)?;
//! let loss = EmbeddingLoss::new(&triplets, Model::TSte { alpha: 1.0 })?;
//! let mut gradient = [0.0; 3];
//! // Points on a line that agree with the triplets, and points that do not.
//! let right = loss.evaluate(&[0.0, 1.0, 5.0], &mut gradient)?;
//! assert!(right < loss.evaluate(&[0.0, 5.0, 1.0], &mut gradient)?);
//! # Ok::<(), ordhc::Error>(())
//! ```
//!
//! * [`Model`]: the probability of an answer, given two distances;
//! * [`EmbeddingLoss`]: the loss of triplets at given points, and its gradient;
//! * `expected_adds3`: the expected AddS3 similarities if a model answers all triplets.
//!
//! The caller minimises the loss.

pub(crate) mod expected;
mod loss;
mod model;
mod prepared;

pub use loss::EmbeddingLoss;
pub use model::Model;

use crate::error::{Error, Position, Result};

fn dimension(points: &[f64], n_leaves: usize) -> Result<usize> {
    let d = points.len() / n_leaves;
    if d == 0 || d * n_leaves != points.len() {
        let found = points.len();
        return Err(Error::Argument(format!(
            "{found} coordinates for {n_leaves} leaves: each leaf needs d coordinates"
        )));
    }
    match points.iter().position(|x| !x.is_finite()) {
        None => Ok(d),
        Some(at) => Err(Error::BadValue {
            what: "point",
            place: Position::Coordinate { leaf: at / d, column: at % d },
            value: points[at],
            limit: "points must be finite",
        }),
    }
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}
