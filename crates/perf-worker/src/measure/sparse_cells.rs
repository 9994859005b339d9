//! The non-empty cells of a log-linear histogram, sorted by key. They need little memory if the distribution has few
//! distinct values.
//!
//! Each power of two is divided into 128 cells, as in an HDR histogram with two digits, so the values in a cell differ
//! by at most 1 %. The memory grows with the largest number of cells that were non-empty at one time, and never
//! shrinks.

/// The number of cells for each power of two.
const CELLS: u64 = 128;
/// The number of cells in the first allocation.
const FIRST_CELLS: usize = 16;

/// The cells, as (key, count).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseCells(Vec<(u32, u32)>);

impl SparseCells {
    /// Adds the value `n` times. Allocates only if the number of non-empty cells exceeds its former maximum.
    pub fn add(&mut self, value: u64, n: u64) {
        let (key, n) = (key(value), u32::try_from(n).unwrap_or(u32::MAX));
        match self.0.binary_search_by_key(&key, |(key, _)| *key) {
            Ok(index) => {
                if let Some((_, count)) = self.0.get_mut(index) {
                    *count = count.saturating_add(n);
                }
            }
            Err(index) => {
                if self.0.capacity() == 0 {
                    self.0.reserve_exact(FIRST_CELLS);
                }
                self.0.insert(index, (key, n));
            }
        }
    }

    /// The number of values.
    pub fn n(&self) -> u64 {
        self.0.iter().map(|(_, n)| u64::from(*n)).sum()
    }

    /// The largest value of each cell and its count, in order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter().map(|(key, n)| (largest(*key), u64::from(*n)))
    }

    /// The largest value of the cell that contains the quantile; 0 if there are no values.
    pub fn quantile_ns(&self, quantile: f64) -> u64 {
        let rank = ((quantile * self.n() as f64).ceil() as u64).max(1);
        let mut before = 0;
        let found = self.iter().find(|(_, n)| {
            before += n;
            before >= rank
        });
        found.map_or(0, |(value, _)| value)
    }

    /// The memory of the cells, bytes.
    pub fn memory_bytes(&self) -> usize {
        self.0.capacity() * size_of::<(u32, u32)>()
    }

    /// Empties all cells.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// The key of the cell of `value`. The high bits count the halvings until the value is below 2 · CELLS, and the low 8
/// bits are the halved value. Keys have the order of the values.
fn key(value: u64) -> u32 {
    let halvings = value.checked_ilog2().unwrap_or(0).saturating_sub(CELLS.ilog2());
    // There are at most 57 halvings, and the halved value is below 256.
    (halvings << 8) | (value >> halvings) as u32
}

/// The largest value in the cell with key `key`.
fn largest(key: u32) -> u64 {
    let (halvings, value) = (key >> 8, u64::from(key & 0xff));
    ((value + 1) << halvings).wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_holds_values_within_one_percent_and_keys_are_in_order() {
        let values =
            (0..64).flat_map(|power| [0, 1, 2, 50, 99].map(|part| (1_u64 << power) + ((1_u64 << power) / 100) * part));
        let mut values: Vec<u64> = values.chain([0, u64::MAX]).collect();
        values.sort_unstable();
        for value in &values {
            let top = largest(key(*value));
            assert!(top >= *value && top - value <= value / 100, "{value}: {top}");
            assert_eq!(key(top), key(*value));
        }
        assert!(values.is_sorted_by_key(|value| key(*value)));
    }
}
