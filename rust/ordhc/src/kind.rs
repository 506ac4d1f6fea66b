//! Similarities and dissimilarities.

/// Whether larger values mean closer leaves (similarity) or farther leaves (dissimilarity).
///
/// ```
/// use ordhc::{Dendrogram, Kind};
///
/// let tree = Dendrogram::new(vec![[0, 1]], vec![2.5], Kind::Similarity)?;
/// assert_eq!(tree.kind().to_string(), "similarity");
/// # Ok::<(), ordhc::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Larger values mean closer leaves.
    Similarity,
    /// Larger values mean farther leaves.
    Dissimilarity,
}

named!(Kind, "kind", {
    "similarity": Self::Similarity => Self::Similarity,
    "dissimilarity": Self::Dissimilarity => Self::Dissimilarity,
});

impl Kind {
    pub(crate) fn of(dissimilarity: bool) -> Self {
        if dissimilarity { Self::Dissimilarity } else { Self::Similarity }
    }

    pub(crate) fn is_dissimilarity(self) -> bool {
        self == Self::Dissimilarity
    }
}
