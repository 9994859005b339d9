//! Suggestions for misspelt names: the nearest of the names that there are.

/// The similarity of two names, of 1, from which one counts as a misspelling of the other.
const MIN_SIMILARITY: f64 = 0.85;

/// The one of `names` that `word` is probably a misspelling of, in any mixture of cases.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    names
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&word, &name.to_lowercase()), name))
        .filter(|(likeness, _)| *likeness >= MIN_SIMILARITY)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// The end of a sentence about a word that is no name: the nearest name; empty if none is near.
pub fn or_nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, names).map_or(String::new(), |name| format!("; the nearest is `{name}`"))
}
