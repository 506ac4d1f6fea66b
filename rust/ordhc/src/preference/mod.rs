//! Linkages that need no similarities: 3-AL and 4-AL prefer pairs of clusters by the answers
//! themselves (Ghoshdastidar, Perrot & von Luxburg 2019), 4-SL and 4-CL by a complete set of them.

mod complete;
mod dense;
mod linkage;
mod sides;
mod slots;
mod sparse;

pub use complete::pairs_beaten;
pub use linkage::preference_linkage;
