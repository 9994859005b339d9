//! Suggestions for misspelt names: "did you mean …?"

/// The largest length of a word for which a suggestion is searched. The time of a comparison grows with the lengths of
/// both words.
const LENGTH_LIMIT: usize = 64;

/// The word in `known` that is most similar to `word`, if it is similar enough.
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
