//! Triangles that rounds read.

use std::marker::PhantomData;
use std::ops::Range;

use super::matrix::Matrix;
use crate::numbers::{Held, Number};
use crate::similarity::Triangle;

/// A triangle that is only read.
pub(super) trait TriangleRows: Sync {
    /// What similarities are kept in.
    type Value: Held;

    /// The number of slots.
    fn len(&self) -> usize;

    /// The values of slot `i` with the slots after it, maybe written to `scratch`.
    fn row<'s>(&'s self, i: usize, scratch: &'s mut [Self::Value]) -> &'s [Self::Value];

    /// Writes the values of slot `j` with the slots `others`, all before it.
    fn column(&self, j: usize, others: Range<usize>, out: &mut [Self::Value]);

    /// The value of the slots `i < j`.
    fn value(&self, i: usize, j: usize) -> f64 {
        let mut value = [Self::Value::ZERO];
        self.column(j, i..i + 1, &mut value);
        value[0].float()
    }
}

/// The input as it is.
pub(super) struct Given<'m, V> {
    pub(super) matrix: &'m Matrix<'m>,
    pub(super) squared: bool,
    pub(super) held: PhantomData<V>,
}

impl<V: Held> TriangleRows for Given<'_, V> {
    type Value = V;

    fn len(&self) -> usize {
        self.matrix.n_leaves()
    }

    fn row<'s>(&'s self, i: usize, scratch: &'s mut [V]) -> &'s [V] {
        let row = &mut scratch[..self.len() - i - 1];
        self.matrix.write_row_after(i, self.squared, row);
        row
    }

    fn column(&self, j: usize, others: Range<usize>, out: &mut [V]) {
        self.matrix.write_column_before(j, others, self.squared, out);
    }
}

/// Condensed similarities, of which the first ones may be gone.
pub(super) struct Condensed<'v, V> {
    pub(super) values: &'v [V],
    pub(super) k: usize,
    pub(super) n_gone: usize,
}

impl<V: Held> TriangleRows for Condensed<'_, V> {
    type Value = V;

    fn len(&self) -> usize {
        self.k
    }

    fn row<'s>(&'s self, i: usize, _: &'s mut [V]) -> &'s [V] {
        let start = Triangle::new(self.k).before(i) - self.n_gone;
        &self.values[start..start + (self.k - i - 1)]
    }

    fn column(&self, j: usize, others: Range<usize>, out: &mut [V]) {
        for (value, i) in out.iter_mut().zip(others) {
            *value = self.values[Triangle::new(self.k).index(i, j) - self.n_gone];
        }
    }
}
