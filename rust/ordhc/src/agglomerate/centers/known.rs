//! Similarities in twice the precision, of the few pairs of clusters whose keys are in doubt.

use super::super::matrix::Matrix;
use super::super::precise_matrix::{NOTHING, VAGUE, key_of};
use super::Means;
use super::rows::Rows;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::precise::Precise;
use crate::tree::RawMerge;

/// Whether to go on is asked once for so many members.
const LOOK: usize = 64;

pub(super) struct Known<'a> {
    matrix: &'a Matrix<'a>,
    means: Means,
    /// Sums are exact: members are not needed.
    whole: bool,
    /// How many merges are in what follows: it is brought up to date when it is needed.
    n_seen: usize,
    /// By cluster.
    members: Vec<Vec<u32>>,
    /// By leaf: its weight in the mean of its cluster (median).
    weights: Vec<f64>,
    /// By cluster: the weighted sum over pairs of its own members, where it is known.
    inside: Vec<Option<Precise>>,
    /// Whether any was needed: from then on they are kept up to date.
    needed: bool,
    /// What cancels to nothing but an error below this is zero.
    zero: Option<f64>,
    monitor: &'a Monitor,
}

impl<'a> Known<'a> {
    pub(super) fn new(matrix: &'a Matrix<'a>, means: Means, whole: bool, monitor: &'a Monitor) -> Self {
        Self {
            matrix,
            means,
            whole,
            n_seen: 0,
            members: Vec::new(),
            weights: Vec::new(),
            inside: Vec::new(),
            needed: false,
            zero: None,
            monitor,
        }
    }

    fn bring_up_to_date(&mut self, merges: &[RawMerge]) -> Result<()> {
        if self.members.is_empty() {
            let n = self.matrix.n_leaves();
            self.members = (0..n as u32).map(|leaf| vec![leaf]).collect();
            self.weights = vec![1.0; n];
            self.inside = vec![Some(Precise::from(0.0)); n];
        }
        while let Some(&RawMerge { i, j, .. }) = merges.get(self.n_seen) {
            self.join(i, j)?;
            self.n_seen += 1;
        }
        Ok(())
    }

    /// Merges cluster `j` into cluster `i`.
    fn join(&mut self, i: usize, j: usize) -> Result<()> {
        self.inside[i] = match (self.inside[i], self.inside[j]) {
            (Some(a), Some(b)) if self.needed => {
                let all = a + b + self.between(i, j)?;
                Some(if self.means == Means::Median { all * Precise::from(0.25) } else { all })
            }
            _ => None,
        };
        let gone = std::mem::take(&mut self.members[j]);
        self.members[i].extend(gone);
        if self.means == Means::Median {
            self.members[i].iter().for_each(|&leaf| self.weights[leaf as usize] *= 0.5);
        }
        Ok(())
    }

    /// The key of the similarity of the clusters at two positions, the first of which is up to date, after all merges.
    pub(super) fn key(&mut self, rows: &Rows<'_>, merges: &[RawMerge], i: usize, k: usize) -> Result<f64> {
        let [n_i, n_k] = [i, k].map(|at| Precise::from(rows.sizes[at]));
        let (between, inside) = if self.whole {
            (Precise::from(rows.sum(i, k)), [i, k].map(|at| Precise::from(rows.sums[at])))
        } else {
            self.bring_up_to_date(merges)?;
            let [i, k] = [i, k].map(|at| rows.names[at] as usize);
            (self.between(i, k)?, [self.inside(i)?, self.inside(k)?])
        };
        let similarity = match self.means {
            Means::Centroid => between / (n_i * n_k) - inside[0] / (n_i * n_i) - inside[1] / (n_k * n_k),
            Means::Median => between - inside[0] - inside[1],
        };
        let nothing = similarity.float().abs() <= similarity.error() && similarity.error() < self.zero()?;
        let similarity = if nothing { Precise::from(0.0) } else { similarity };
        let (key, certain) = key_of(similarity);
        if !certain && similarity.error() > VAGUE * similarity.float().abs() {
            self.monitor.doubt();
        }
        Ok(key)
    }

    /// The weighted sum over the pairs between two clusters.
    fn between(&self, i: usize, k: usize) -> Result<Precise> {
        let mut sum = Precise::from(0.0);
        for (at, &a) in self.members[i].iter().enumerate() {
            for &b in &self.members[k] {
                sum = sum + self.pair(a, b);
            }
            if at % LOOK == 0 {
                self.monitor.advance(0)?;
            }
        }
        Ok(sum)
    }

    fn inside(&mut self, i: usize) -> Result<Precise> {
        self.needed = true;
        if let Some(sum) = self.inside[i] {
            return Ok(sum);
        }
        let mut sum = Precise::from(0.0);
        for (at, &a) in self.members[i].iter().enumerate() {
            for &b in &self.members[i][..at] {
                sum = sum + self.pair(a, b);
            }
            if at % LOOK == 0 {
                self.monitor.advance(0)?;
            }
        }
        self.inside[i] = Some(sum);
        Ok(sum)
    }

    fn pair(&self, a: u32, b: u32) -> Precise {
        let x = Precise::from(self.matrix.similarity(a, b) * self.matrix.unit);
        let x = if self.matrix.is_dissimilarity() { -(x * x) } else { x };
        match self.means {
            Means::Centroid => x,
            Means::Median => x * Precise::from(self.weights[a as usize]) * Precise::from(self.weights[b as usize]),
        }
    }

    fn zero(&mut self) -> Result<f64> {
        if let Some(zero) = self.zero {
            return Ok(zero);
        }
        let n = self.matrix.n_leaves();
        let (mut row, mut least) = (vec![0.0f64; n], f64::INFINITY);
        for i in 0..n {
            let row = &mut row[..n - i - 1];
            self.matrix.write_row_after(i, true, row);
            least = row.iter().fold(least, |least, &x| if x == 0.0 { least } else { least.min(x.abs()) });
            self.monitor.advance(0)?;
        }
        let zero = least * NOTHING;
        self.zero = Some(zero);
        Ok(zero)
    }
}
