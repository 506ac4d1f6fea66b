//! Learners that ask about four leaves: are two of them more similar than the other two?

mod bracket;
mod comparison;
mod complete;
mod four_k;
mod joins;
mod method;
mod once;
mod single;
mod sorting;

pub use method::{Landmarks, QuadrupletMethod, References};

/// Two leaves, the smaller one first.
type Pair = [u32; 2];

fn pair(a: u32, b: u32) -> Pair {
    [a.min(b), a.max(b)]
}
