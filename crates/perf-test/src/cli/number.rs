//! Numbers on the command line: whole, within a range, and refused in one sentence that says the range.
//!
//! Used by the options in `cli`.

use std::ops::RangeInclusive;

/// A parser of whole numbers within `range`.
pub fn within(range: RangeInclusive<u32>) -> impl Fn(&str) -> Result<u32, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("give a whole number from {} to {}", range.start(), range.end()))
    }
}
