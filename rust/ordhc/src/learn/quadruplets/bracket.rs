//! A tournament that keeps the results of its matches.

/// A knockout tournament that finds the cluster which is most similar to a given cluster. Each
/// match compares two clusters, and its winner plays the next match. Similarities to the given
/// cluster never increase. So the loser of a match cannot become the winner, and a match must be
/// repeated only if the winner's similarity decreases.
#[derive(Debug, Clone)]
pub(super) struct Bracket {
    /// The winner of each match: a cluster, [`EMPTY`] if no cluster is left in the match, or [`OPEN`] if the match must
    /// be played. The winners of matches 2m and 2m + 1 play match m. Index n + c has the cluster c, or [`EMPTY`] if c
    /// does not take part.
    winners: Vec<u32>,
}

const EMPTY: u32 = u32::MAX;
const OPEN: u32 = u32::MAX - 1;

impl Bracket {
    /// The ids in `clusters` must be below `n`. `n` must be at least 2.
    pub(super) fn new(n: usize, clusters: impl Iterator<Item = u32>) -> Self {
        let mut winners = vec![OPEN; n];
        winners.resize(2 * n, EMPTY);
        clusters.for_each(|cluster| winners[n + cluster as usize] = cluster);
        Self { winners }
    }

    /// Takes over results from the tournament of one of two merged clusters. Similarities can only decrease, so a
    /// winner still wins if its own similarity is unchanged (`is_same`).
    pub(super) fn inherit(&mut self, parent: &Self, is_same: impl Fn(u32) -> bool) {
        let n = self.winners.len() / 2;
        for at in 1..n {
            let winner = parent.winners[at];
            if self.winners[at] == OPEN && winner < OPEN && is_same(winner) {
                self.winners[at] = winner;
            }
        }
    }

    pub(super) fn winner(&self) -> Option<u32> {
        Some(self.winners[1]).filter(|&winner| winner < OPEN)
    }

    pub(super) fn matches(&mut self) -> Vec<u32> {
        let mut matches = Vec::new();
        self.close(1, &mut matches);
        matches
    }

    fn close(&mut self, at: u32, matches: &mut Vec<u32>) -> bool {
        if self.winners[at as usize] != OPEN {
            return true;
        }
        let closed = [2 * at, 2 * at + 1].map(|child| self.close(child, matches));
        if closed != [true; 2] {
            return false;
        }
        let [a, b] = self.players(at);
        if a == EMPTY || b == EMPTY {
            self.winners[at as usize] = a.min(b);
            return true;
        }
        matches.push(at);
        false
    }

    pub(super) fn players(&self, at: u32) -> [u32; 2] {
        [2 * at, 2 * at + 1].map(|child| self.winners[child as usize])
    }

    pub(super) fn decide(&mut self, at: u32, is_first: bool) {
        self.winners[at as usize] = self.players(at)[usize::from(!is_first)];
    }

    pub(super) fn decrease(&mut self, cluster: u32) {
        let mut at = (self.winners.len() / 2 + cluster as usize) / 2;
        // Go up to the root, even past a match that the cluster lost. After contradictory answers,
        // the cluster may also have won a later match.
        while at > 0 {
            if self.winners[at] == cluster {
                self.winners[at] = OPEN;
            }
            at /= 2;
        }
    }

    pub(super) fn leave(&mut self, cluster: u32) {
        self.decrease(cluster);
        let n = self.winners.len() / 2;
        self.winners[n + cluster as usize] = EMPTY;
    }
}
