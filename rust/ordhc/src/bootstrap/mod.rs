//! How sure a tree is: trees of resampled answers, and what they have in common.

mod adds;
mod clusters;
mod draw;
mod tally;

pub use adds::{Resample, adds};
pub use clusters::support;
pub use draw::Draws;
pub use tally::{Tallies, add_held_out};
