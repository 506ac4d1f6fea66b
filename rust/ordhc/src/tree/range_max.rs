//! Maxima of ranges.

#[derive(Debug, Clone)]
pub(crate) struct RangeMax {
    /// `table[l][p]` is the maximum of the values at the indices `p .. p + 2^l`.
    table: Vec<Vec<u32>>,
}

impl RangeMax {
    pub(crate) fn new(values: Vec<u32>) -> Self {
        let n = values.len();
        let mut table = vec![values];
        let mut width = 1;
        while 2 * width <= n {
            let below = &table[table.len() - 1];
            let level = (0..below.len() - width).map(|p| below[p].max(below[p + width])).collect();
            table.push(level);
            width *= 2;
        }
        Self { table }
    }

    pub(crate) fn max(&self, low: usize, high: usize) -> u32 {
        let level = (high - low).ilog2() as usize;
        let row = &self.table[level];
        row[low].max(row[high - (1 << level)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_range() {
        for n in 0..20u32 {
            let values: Vec<u32> = (0..n).map(|x| x * 7 % 11).collect();
            let table = RangeMax::new(values.clone());
            for (low, high) in (0..n as usize).flat_map(|low| (low + 1..=n as usize).map(move |high| (low, high))) {
                assert_eq!(Some(&table.max(low, high)), values[low..high].iter().max());
            }
        }
    }
}
