//! Data with a known answer.

mod planted;

pub use planted::{Planted, PlantedModel};
