//! The heights of leaves in a tree of similarities.

use crate::error::{Error, Position, Result, check_len};
use crate::tree::Dendrogram;

/// Returns the height of every leaf: the height of the leaf's merge, or the leaf's similarity with itself (`own`) if
/// this is larger.
///
/// For dot products, `own` is the squared norm of the leaf's vector, scaled like the heights (J. Gray et al.,
/// "Hierarchical clustering with dot products recovers hidden tree structure").
///
/// # Errors
/// Heights that are dissimilarities; a number of values that differs from the number of leaves; a value that is not
/// finite.
///
/// ```
/// use ordhc::bindings::leaf_heights;
/// use ordhc::{Dendrogram, Kind};
///
/// let tree = Dendrogram::new(vec![[0, 1], [2, 3]], vec![6.0, 1.0], Kind::Similarity)?;
/// assert_eq!(leaf_heights(&tree, &[9.0, 4.0, 2.0])?, [9.0, 6.0, 2.0]);
/// # Ok::<(), ordhc::Error>(())
/// ```
pub fn leaf_heights(tree: &Dendrogram, own: &[f64]) -> Result<Vec<f64>> {
    entered!(vectors_leaf_heights);
    let n = tree.n_leaves();
    check_len("own similarities", own.len(), "leaves", n)?;
    if tree.is_dissimilarity() {
        return Err(Error::Argument("leaf heights need a dendrogram of similarities".into()));
    }
    if let Some(leaf) = own.iter().position(|x| !x.is_finite()) {
        let (place, limit) = (Position::Leaf(leaf), "similarities must be finite");
        return Err(Error::BadValue { what: "the own similarity", place, value: own[leaf], limit });
    }
    let mut heights = own.to_vec();
    for (pair, &height) in tree.merges().iter().zip(tree.merge_heights().iter()) {
        for &leaf in pair.iter().filter(|&&part| (part as usize) < n) {
            heights[leaf as usize] = heights[leaf as usize].max(height);
        }
    }
    Ok(heights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::Kind;

    #[test]
    fn mistakes_are_errors() {
        let tree = |dissimilarity| Dendrogram::new(vec![[0, 1]], vec![1.0], dissimilarity).unwrap();
        assert!(
            leaf_heights(&tree(Kind::Similarity), &[1.0]).unwrap_err().to_string().contains("1 own similarities for 2")
        );
        assert!(leaf_heights(&tree(Kind::Dissimilarity), &[1.0; 2]).unwrap_err().to_string().contains("similarities"));
        let error = leaf_heights(&tree(Kind::Similarity), &[1.0, f64::NAN]).unwrap_err();
        assert!(error.to_string().contains("leaf 1 is NaN"));
        assert_eq!(leaf_heights(&Dendrogram::new(vec![], vec![], Kind::Similarity).unwrap(), &[3.0]).unwrap(), [3.0]);
    }
}
