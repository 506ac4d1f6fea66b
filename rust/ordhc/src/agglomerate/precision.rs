//! Similarities of clusters kept in single precision: half the memory.

use super::Tolerance;
use super::engine::Engine;
use super::job::{Input, Job};
use super::matrix::Matrix;
use crate::error::{Error, Result};
use crate::linkage::{Rule, Update};
use crate::tree::RawMerge;

/// What similarities of clusters are kept in while they merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Precision {
    /// 64 bits. Ties are decided by the leaves.
    #[default]
    Double,
    /// 32 bits, in which they are rounded once per merge: heights are good to about 1e-6 of themselves (of Ward's
    /// linkage of similarities, which subtracts: of the largest similarity). Ties are those of rounded numbers.
    Single,
}

named!(Precision, "precision", {
    "double": Self::Double => Self::Double,
    "single": Self::Single => Self::Single,
});

/// What single precision holds with all of its digits, also when it is squared or summed.
const LIMITS: [f64; 2] = [1e-30, 1e30];

impl Job<'_> {
    /// Whether to keep similarities in single precision. Few leaves need no less memory, and single linkage none.
    pub(super) fn is_single(&self) -> bool {
        self.precision == Precision::Single && *self.rule != Rule::Single && self.about.n >= self.condensed_from
    }

    /// Refuses what is not done in single precision.
    pub(super) fn check_precision(&self) -> Result<()> {
        if self.precision == Precision::Double {
            return Ok(());
        }
        let commutes = match self.rule {
            Rule::Centroid | Rule::Median => false,
            Rule::Coefficients(coefficients) => coefficients.commutes(),
            _ => true,
        };
        if !commutes {
            return Err(Error::Argument(
                "precision `single` is for single, complete, average, weighted and ward linkage, and for reducible \
                 coefficients whose gamma is not negative; use `double` for this one"
                    .into(),
            ));
        }
        if self.initial.is_some() || !matches!(self.engine, Engine::Auto | Engine::Chain) {
            return Err(Error::Argument(
                "precision `single` takes no initial clusters, and engine `auto` or `chain`; use `double`".into(),
            ));
        }
        let largest = self.about.facts.largest;
        if largest > 0.0 && !(LIMITS[0]..=LIMITS[1]).contains(&largest) {
            let limits = "1e-30 to 1e30, which single precision holds; rescale, or use precision `double`";
            return Err(Error::out_of_range("the largest value", largest, limits));
        }
        Ok(())
    }

    /// The merges in order, and what similarities were multiplied with.
    pub(super) fn singly<U: Update>(&self, update: &U, matrix: &Matrix<'_>) -> Result<(Vec<RawMerge>, [f64; 2])> {
        entered!(single_precision);
        // Squares of what is near to the largest are near to one.
        let unit = match self.rule.is_squared() && self.about.dissimilarity {
            true => 2f64.powi(-matrix.exponent()),
            false => 1.0,
        };
        let matrix = Matrix { unit, ..*matrix };
        let merges = self.chain::<U, f32>(update, Input::Given(&matrix), Tolerance::EXACT)?;
        Ok((merges, [unit, 1.0]))
    }
}
