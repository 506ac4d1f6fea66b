//! A matrix that is handed over: its memory becomes the working matrix.

use super::matrix::{About, Layout};
use super::read::mirror;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::similarity::condensed_len;

impl About {
    pub(crate) fn is_square(&self) -> bool {
        self.layout == Layout::Square
    }

    fn turn(&self, squared: bool) -> impl Fn(f64) -> f64 {
        let (square, sign) = (self.dissimilarity && squared, if self.dissimilarity { -1.0 } else { 1.0 });
        let unit = self.unit;
        move |x| if square { -(x * unit) * (x * unit) } else { sign * x }
    }

    /// The similarity of all leaves, if they are all as near.
    pub(super) fn only_similarity(&self, squared: bool) -> Option<f64> {
        self.facts.all_equal().then(|| self.turn(squared)(self.facts.largest))
    }

    /// Turns values into condensed similarities, which stand at the beginning.
    pub(crate) fn condense(&self, values: &mut [f64], squared: bool, monitor: &Monitor) -> Result<()> {
        let (n, turn) = (self.n, self.turn(squared));
        if !self.is_square() {
            if self.dissimilarity {
                values.iter_mut().for_each(|x| *x = turn(*x));
            }
            return Ok(());
        }
        let mut to = 0;
        for i in 0..n {
            monitor.advance(0)?;
            for j in i + 1..n {
                // The place that is written is that of an earlier pair, or of this one.
                values[to] = turn(self.pair(values, i, j));
                to += 1;
            }
        }
        debug_assert_eq!(to, condensed_len(n));
        Ok(())
    }

    /// Turns square values into square similarities, with minus infinity on the diagonal.
    pub(crate) fn square(&self, values: &mut [f64], squared: bool, monitor: &Monitor) -> Result<()> {
        let (n, turn) = (self.n, self.turn(squared));
        for i in 0..n {
            monitor.advance(0)?;
            values[i * n + i] = f64::NEG_INFINITY;
            for j in i + 1..n {
                values[i * n + j] = turn(self.pair(values, i, j));
            }
        }
        mirror(values, n, monitor)
    }

    fn pair(&self, values: &[f64], i: usize, j: usize) -> f64 {
        let above = values[i * self.n + j];
        if self.facts.symmetric { above } else { 0.5 * above + 0.5 * values[j * self.n + i] }
    }
}
