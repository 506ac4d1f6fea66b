//! A tournament whose matches are kept.

/// The nearest cluster of a cluster, by matches of the others. Similarities never grow: a match that a
/// cluster has lost stays lost, one that it has won is open again when its similarity becomes less.
#[derive(Debug, Clone)]
pub(super) struct Bracket {
    /// The children of match m are 2m and 2m + 1, cluster c stands at n + c.
    winners: Vec<u32>,
}

/// A match that nobody takes part in, and one that is to be played.
const EMPTY: u32 = u32::MAX;
const OPEN: u32 = u32::MAX - 1;

impl Bracket {
    /// Some of the clusters below `n`, at least 2.
    pub(super) fn new(n: usize, clusters: impl Iterator<Item = u32>) -> Self {
        let mut winners = vec![OPEN; n];
        winners.resize(2 * n, EMPTY);
        clusters.for_each(|cluster| winners[n + cluster as usize] = cluster);
        Self { winners }
    }

    /// The brackets of two clusters become that of their union: a winner against similarities that are
    /// less now still wins if its own is the same.
    pub(super) fn inherit(&mut self, parent: &Self, is_same: impl Fn(u32) -> bool) {
        let n = self.winners.len() / 2;
        for at in 1..n {
            let winner = parent.winners[at];
            if self.winners[at] == OPEN && winner < OPEN && is_same(winner) {
                self.winners[at] = winner;
            }
        }
    }

    /// The winner, if all matches that matter are played.
    pub(super) fn winner(&self) -> Option<u32> {
        Some(self.winners[1]).filter(|&winner| winner < OPEN)
    }

    /// Matches that must be played and can be.
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

    /// The two clusters of a match.
    pub(super) fn players(&self, at: u32) -> [u32; 2] {
        [2 * at, 2 * at + 1].map(|child| self.winners[child as usize])
    }

    /// The first player of a match has won, or the second.
    pub(super) fn decide(&mut self, at: u32, is_first: bool) {
        self.winners[at as usize] = self.players(at)[usize::from(!is_first)];
    }

    /// The similarity of a cluster has become less.
    pub(super) fn lessen(&mut self, cluster: u32) {
        let mut at = (self.winners.len() / 2 + cluster as usize) / 2;
        // All the way up: after contradictions it may have won above a match that it has lost.
        while at > 0 {
            if self.winners[at] == cluster {
                self.winners[at] = OPEN;
            }
            at /= 2;
        }
    }

    /// A cluster is there no more.
    pub(super) fn leave(&mut self, cluster: u32) {
        self.lessen(cluster);
        let n = self.winners.len() / 2;
        self.winners[n + cluster as usize] = EMPTY;
    }
}
