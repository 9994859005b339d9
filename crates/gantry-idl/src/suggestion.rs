//! "Did you mean …?"
//!
//! Used for unknown types. Costs time in the lengths of names, so that long ones, which nobody mistypes, are not compared.

const LENGTH_LIMIT: usize = 64;

/// The word of `known` that `word` was probably meant to be.
pub(crate) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let tolerance = (word.len() / 3).min(3);
    if word.len() > LENGTH_LIMIT || tolerance == 0 {
        return None;
    }
    known
        .filter(|candidate| candidate.len().abs_diff(word.len()) <= tolerance)
        .map(|candidate| (strsim::osa_distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= tolerance)
        .min()
        .map(|(_, candidate)| candidate)
}
