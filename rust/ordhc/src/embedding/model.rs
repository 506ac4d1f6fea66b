//! Models of answers.

use crate::error::{Error, Result};

/// A model of how answers depend on squared distances D.
///
/// Each model gives a pair of leaves a score that decreases with the distance. The loss of "i is nearer to j than to k"
/// is a function of the difference score(i, k) - score(i, j). For models with probabilities (see [`Model::chooses`]),
/// the loss is -log(P) with P = 1 / (1 + exp(difference)). For the other models, the loss is a hinge.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Model {
    /// Stochastic triplet embedding: the score of a pair is -D, where D is the squared distance
    /// (van der Maaten & Weinberger 2012).
    Ste,
    /// t-distributed stochastic triplet embedding (t-STE): the score of a pair with the squared
    /// distance D is -(alpha + 1)/2 log(1 + D/alpha) (van der Maaten & Weinberger 2012).
    TSte {
        /// The degrees of freedom of the t distribution, greater than 0.
        alpha: f64,
    },
    /// Crowd kernel learning: the score of a pair with the squared distance D is -log(D + mu)
    /// (Tamuz et al. 2011).
    Ckl {
        /// A constant that keeps probabilities away from 0 and 1, greater than 0.
        mu: f64,
    },
    /// Generalised non-metric multidimensional scaling: the score of a pair with the squared
    /// distance D is -D. The loss is max(0, 1 + difference of scores) (Agarwal et al. 2007).
    Gnmds,
    /// Soft ordinal embedding: the score of a pair with the squared distance D is -sqrt(D). The
    /// loss is max(0, margin + difference of scores)^2 (Terada & von Luxburg 2014).
    Soe {
        /// The amount by which the near leaf should be nearer than the far leaf, greater than 0.
        margin: f64,
    },
}

named!(Model, "model", {
    "ste": Self::Ste => Self::Ste,
    "tste": Self::TSte { .. } => Self::TSte { alpha: 1.0 },
    "ckl": Self::Ckl { .. } => Self::Ckl { mu: 0.05 },
    "gnmds": Self::Gnmds => Self::Gnmds,
    "soe": Self::Soe { .. } => Self::Soe { margin: 1.0 },
});

impl Model {
    /// Returns the model with a name (`ste`, `tste`, `ckl`, `gnmds`, `soe`) and its parameter. By default, `alpha` is
    /// 1, `mu` is 0.05, and `margin` is 1.
    ///
    /// # Errors
    /// An unknown name; a parameter that is not above 0 and finite; a parameter for a model that has none.
    ///
    /// ```
    /// use ordhc::embedding::Model;
    ///
    /// assert_eq!(Model::named("tste", None)?, Model::TSte { alpha: 1.0 });
    /// assert_eq!(Model::named("ckl", Some(0.0)).unwrap_err().to_string(), "mu = 0 is outside the positive, finite numbers");
    /// # Ok::<(), ordhc::Error>(())
    /// ```
    pub fn named(name: &str, parameter: Option<f64>) -> Result<Self> {
        let model: Self = name.parse()?;
        let Some(value) = parameter else { return Ok(model) };
        let (what, model) = match model {
            Self::TSte { .. } => ("alpha", Self::TSte { alpha: value }),
            Self::Ckl { .. } => ("mu", Self::Ckl { mu: value }),
            Self::Soe { .. } => ("margin", Self::Soe { margin: value }),
            Self::Ste | Self::Gnmds => {
                return Err(Error::Argument(format!("{name} has no parameter, but {value} is given")));
            }
        };
        if !(value > 0.0 && value.is_finite()) {
            return Err(Error::out_of_range(what, value, "the positive, finite numbers"));
        }
        Ok(model)
    }

    /// Returns true if the model gives probabilities. The probability that i is nearer to j than to
    /// k is `P = K_ij / (K_ij + K_ik)`, where K is the exponential of the score of a pair.
    pub fn chooses(&self) -> bool {
        matches!(self, Self::Ste | Self::TSte { .. } | Self::Ckl { .. })
    }

    pub(super) fn score(&self, squared: f64) -> f64 {
        match *self {
            Self::Ste | Self::Gnmds => -squared,
            Self::TSte { alpha } => -(alpha + 1.0) / 2.0 * (squared / alpha).ln_1p(),
            Self::Ckl { mu } => -(squared + mu).ln(),
            Self::Soe { .. } => -squared.sqrt(),
        }
    }

    /// Returns the derivative of the score by the squared distance, or 0 for `Soe` if points coincide.
    pub(super) fn slope(&self, squared: f64) -> f64 {
        match *self {
            Self::Ste | Self::Gnmds => -1.0,
            Self::TSte { alpha } => -(alpha + 1.0) / (2.0 * (alpha + squared)),
            Self::Ckl { mu } => -1.0 / (squared + mu),
            Self::Soe { .. } if squared > 0.0 => -0.5 / squared.sqrt(),
            Self::Soe { .. } => 0.0,
        }
    }

    pub(super) fn kernel(&self, squared: f64) -> f64 {
        match *self {
            Self::TSte { alpha } => power(1.0 + squared / alpha, alpha + 1.0),
            Self::Ckl { mu } => 1.0 / (squared + mu),
            _ => self.score(squared).exp(),
        }
    }

    /// Returns the loss of "i is nearer to j than to k", and the derivative of the loss with
    /// respect to `difference`, which is score(i, k) - score(i, j).
    pub(super) fn loss(&self, difference: f64) -> (f64, f64) {
        match *self {
            Self::Gnmds => ((1.0 + difference).max(0.0), f64::from(difference > -1.0)),
            Self::Soe { margin } => {
                let short = (margin + difference).max(0.0);
                (short * short, 2.0 * short)
            }
            _ => {
                let small = (-difference.abs()).exp();
                let wrong = if difference > 0.0 { 1.0 / (1.0 + small) } else { small / (1.0 + small) };
                (difference.max(0.0) + small.ln_1p(), wrong)
            }
        }
    }
}

/// Returns `base` to the power of -`twice`/2. Common powers have special cases, which are much faster than `powf`.
#[inline]
fn power(base: f64, twice: f64) -> f64 {
    if twice == 2.0 {
        1.0 / base
    } else if twice == 3.0 {
        1.0 / (base * base.sqrt())
    } else if twice == 4.0 {
        1.0 / (base * base)
    } else {
        base.powf(-twice / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODELS: [Model; 8] = [
        Model::Ste,
        Model::TSte { alpha: 1.0 },
        Model::TSte { alpha: 2.0 },
        Model::TSte { alpha: 3.0 },
        Model::TSte { alpha: 0.7 },
        Model::Ckl { mu: 0.05 },
        Model::Gnmds,
        Model::Soe { margin: 1.0 },
    ];

    #[test]
    fn kernels_and_slopes_belong_to_scores() {
        for model in MODELS {
            for squared in [0.3, 1.0, 4.5, 20.0] {
                let score = model.score(squared);
                assert!((model.kernel(squared) / score.exp() - 1.0).abs() < 1e-12, "{model:?} at {squared}");
                let step = 1e-6 * squared;
                let slope = (model.score(squared + step) - model.score(squared - step)) / (2.0 * step);
                assert!((model.slope(squared) - slope).abs() < 1e-7, "{model:?} at {squared}");
            }
        }
        assert_eq!(Model::Soe { margin: 1.0 }.slope(0.0), 0.0);
    }

    #[test]
    fn derivatives_belong_to_losses() {
        for model in MODELS {
            for difference in [-700.0, -2.5, -0.4, 0.0, 0.3, 3.0, 700.0] {
                let (value, derivative) = model.loss(difference);
                assert!(value >= 0.0 && value.is_finite());
                let step = 1e-5;
                let slope = (model.loss(difference + step).0 - model.loss(difference - step).0) / (2.0 * step);
                assert!((derivative - slope).abs() < 1e-5 * (1.0 + slope.abs()), "{model:?} at {difference}");
            }
        }
    }

    #[test]
    fn names_and_parameters_are_checked() {
        let text = |name, parameter| Model::named(name, parameter).unwrap_err().to_string();
        assert_eq!(text("tsne", None), "unknown model `tsne`; there are ste, tste, ckl, gnmds, soe");
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            for name in ["tste", "ckl", "soe"] {
                assert!(text(name, Some(bad)).ends_with("outside the positive, finite numbers"), "{name} {bad}");
            }
        }
        assert_eq!(text("gnmds", Some(2.0)), "gnmds has no parameter, but 2 is given");
        assert_eq!(Model::named("soe", Some(0.5)), Ok(Model::Soe { margin: 0.5 }));
    }
}
