//! The support of inner nodes by answers.

use crate::tree::Topology;

/// Returns, for each inner node, the share of the relevant answers that agree with it. The share is NaN if no answer is
/// relevant.
///
/// An answer about three leaves is relevant for the nodes that are above two of the leaves but not
/// above the third. The answer agrees if the third leaf is the odd one out.
pub(super) fn support<'a>(answers: impl Iterator<Item = &'a ([u32; 3], i8)>, tree: &Topology) -> Vec<f64> {
    let (n, m) = (tree.n_leaves(), tree.n_inner());
    let mut above: Vec<usize> = tree.parents().iter().map(|&node| node as usize).collect();
    above[tree.root()] = usize::MAX;
    let mut votes = vec![[0u64; 2]; m];
    // For each node: the index of the last question with a leaf below the node, and a bit for each leaf of
    // that question: 1 if the leaf is below the node.
    let mut held = vec![(usize::MAX, 0u8); m];
    for (number, (leaves, answer)) in answers.enumerate() {
        for (at, &leaf) in leaves.iter().enumerate() {
            let mut node = above[leaf as usize];
            while node != usize::MAX {
                let entry = &mut held[node - n];
                if entry.0 != number {
                    *entry = (number, 0);
                }
                entry.1 |= 1 << at;
                if entry.1 == 0b111 {
                    break;
                }
                node = above[node];
            }
        }
        // Every node above two of the leaves is above the first or the second leaf.
        for first in 0..2 {
            let mut node = above[leaves[first] as usize];
            while node != usize::MAX && held[node - n].1 != 0b111 {
                let mask = held[node - n].1;
                if mask.count_ones() == 2 && mask.trailing_zeros() as usize == first {
                    let odd = (!mask & 0b111).trailing_zeros() as i8;
                    votes[node - n][0] += u64::from(*answer == odd);
                    votes[node - n][1] += 1;
                }
                node = above[node];
            }
        }
    }
    votes.iter().map(|&[agree, all]| if all == 0 { f64::NAN } else { agree as f64 / all as f64 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_bear_on_what_they_hold_together() {
        let tree = Topology::from_merges(vec![[0, 1], [2, 3], [4, 5]]).unwrap();
        let shares = |answers: &[([u32; 3], i8)]| support(answers.iter(), &tree);
        assert!(shares(&[]).iter().all(|share| share.is_nan()));
        let found = shares(&[([0, 1, 2], 2), ([3, 1, 0], 1), ([2, 0, 1], 0), ([1, 0, 3], -1)]);
        assert_eq!(found[0], 0.5);
        assert!(found[1].is_nan() && found[2].is_nan());
        assert_eq!(shares(&[([0, 3, 2], 0)])[1], 1.0);
    }
}
