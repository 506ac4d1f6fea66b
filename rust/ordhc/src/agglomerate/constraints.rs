//! Sizes of leaves, and pairs of leaves that must not be in one cluster.

use crate::error::{Error, Result};
use crate::tree::{Partition, RawMerge};

/// Constraints of an agglomeration: sizes of the leaves, and pairs of leaves to keep apart.
///
/// A leaf of size 3 counts as three identical leaves. Two clusters merge only if no pair of leaves to keep apart has a
/// leaf in each of them. When no such clusters are left, the remaining clusters merge as well. The similarity of these
/// last merges is at most that of every earlier merge.
///
/// ```
/// use ordhc::agglomerate::{Agglomeration, Constraints, Layout, Matrix, Values};
/// use ordhc::{Kind, linkage::Rule};
///
/// let pairs = [1.0, 5.0, 3.0]; // (0,1), (0,2), (1,2)
/// let matrix = Matrix::new(Values::F64(&pairs), Layout::Condensed, Kind::Dissimilarity)?;
/// let apart = Constraints::new(3, None, &[[0, 1]])?;
/// let tree = Agglomeration::new(Rule::Average).constraints(&apart).run(&matrix)?;
/// assert_eq!((tree.newick().to_string(), tree.heights()), ("(0,(1,2));".into(), &[3.0, 3.0][..]));
///
/// let sizes = Constraints::new(3, Some(&[1.0, 3.0, 1.0]), &[])?;
/// let tree = Agglomeration::new(Rule::Average).constraints(&sizes).run(&matrix)?;
/// assert_eq!(tree.heights(), [1.0, 3.5]); // (1 * 5 + 3 * 3) / 4
/// # Ok::<(), ordhc::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Constraints {
    n_leaves: usize,
    sizes: Option<Vec<f64>>,
    apart: Vec<[usize; 2]>,
}

impl Constraints {
    /// Returns the constraints of `n_leaves` leaves. Without `sizes`, each leaf has size 1.
    ///
    /// # Errors
    /// A number of sizes other than `n_leaves`; a size that is not positive and finite; a pair with a leaf that does
    /// not exist; a pair of a leaf with itself.
    pub fn new(n_leaves: usize, sizes: Option<&[f64]>, apart: &[[usize; 2]]) -> Result<Self> {
        if let Some(sizes) = sizes {
            if sizes.len() != n_leaves {
                return Err(Error::Argument(format!("{} sizes for {n_leaves} leaves", sizes.len())));
            }
            if let Some(leaf) = sizes.iter().position(|size| !(size.is_finite() && *size > 0.0)) {
                return Err(Error::Argument(format!("size {} of leaf {leaf} is not a positive number", sizes[leaf])));
            }
        }
        for &[a, b] in apart {
            if a >= n_leaves || b >= n_leaves {
                return Err(Error::Argument(format!(
                    "pair ({a}, {b}) has a leaf that is not below {n_leaves}, the number of leaves"
                )));
            }
            if a == b {
                return Err(Error::Argument(format!("leaf {a} can't be kept apart from itself")));
            }
        }
        Ok(Self { n_leaves, sizes: sizes.map(<[f64]>::to_vec), apart: apart.to_vec() })
    }

    pub(super) fn apart(&self) -> &[[usize; 2]] {
        &self.apart
    }

    pub(super) fn sizes(&self) -> Option<&[f64]> {
        self.sizes.as_deref()
    }

    pub(super) fn check(&self, n_leaves: usize, initial: Option<&Partition>) -> Result<()> {
        if self.n_leaves != n_leaves {
            return Err(Error::Argument(format!(
                "the constraints are for {} leaves, but the matrix has {n_leaves}",
                self.n_leaves
            )));
        }
        for cluster in initial.map_or(&[][..], Partition::clusters) {
            let within = |leaf: &usize| cluster.binary_search(leaf).is_ok();
            if let Some([a, b]) = self.apart.iter().find(|pair| pair.iter().all(within)) {
                return Err(Error::Argument(format!("leaves {a} and {b} are kept apart, but in one initial cluster")));
            }
        }
        Ok(())
    }
}

pub(super) fn with_last(mut merges: Vec<RawMerge>, last: Vec<RawMerge>) -> Vec<RawMerge> {
    let smallest = merges.iter().map(|merge| merge.similarity).fold(f64::INFINITY, f64::min);
    merges.extend(last.into_iter().map(|merge| RawMerge { similarity: merge.similarity.min(smallest), ..merge }));
    merges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;
    use crate::agglomerate::{Agglomeration, Layout, Matrix, Missing, SparsePairs, Values};
    use crate::linkage::Rule;

    fn message<T>(result: Result<T>) -> String {
        result.err().expect("an error").to_string()
    }

    #[test]
    fn mistakes_are_named() {
        for (sizes, apart, part) in [
            (Some(&[1.0, 2.0][..]), &[][..], "2 sizes for 3 leaves"),
            (Some(&[1.0, 0.0, 1.0]), &[], "size 0 of leaf 1"),
            (Some(&[1.0, f64::NAN, 1.0]), &[], "size NaN of leaf 1"),
            (None, &[[0, 3]], "not below 3, the number of leaves"),
            (None, &[[1, 1]], "leaf 1 can't be kept apart from itself"),
        ] {
            let message = message(Constraints::new(3, sizes, apart));
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn what_does_not_take_constraints_says_so() {
        let apart = Constraints::new(3, None, &[[0, 1]]).unwrap();
        let by = |rule: Rule| Agglomeration::new(rule).constraints(&apart);
        let pairs = SparsePairs::from_csr(&[0, 1, 2, 2], &[1, 2], &[5.0, 3.0], Kind::Similarity, None).unwrap();
        assert!(message(by(Rule::Average).run_sparse(&pairs, Missing::Zero)).contains("take no constraints"));
        let matrix = Matrix::new(Values::F64(&[1.0]), Layout::Condensed, Kind::Similarity).unwrap();
        assert!(
            message(by(Rule::Average).run(&matrix)).contains("the constraints are for 3 leaves, but the matrix has 2")
        );
        let initial = Partition::new(&[0, 0, 1]).unwrap();
        let matrix = Matrix::new(Values::F64(&[1.0, 2.0, 3.0]), Layout::Condensed, Kind::Similarity).unwrap();
        let both = message(by(Rule::Average).initial(&initial).run(&matrix));
        assert!(both.contains("leaves 0 and 1 are kept apart, but in one initial cluster"), "{both}");
        let sizes = Constraints::new(3, Some(&[1.0; 3]), &[]).unwrap();
        let ward = message(Agglomeration::new(Rule::Ward).constraints(&sizes).run(&matrix));
        assert!(ward.contains("ward takes sizes with dissimilarities only"), "{ward}");
    }
}
