//! Suggestions for misspelt names: the existing name that is most similar.

/// The least similarity (0 to 1) at which a word counts as a misspelling of a name.
const MIN_SIMILARITY: f64 = 0.85;

/// The name that `word` probably means; `None` if no name is similar. Case is ignored.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    names
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&word, &name.to_lowercase()), name))
        .filter(|(likeness, _)| *likeness >= MIN_SIMILARITY)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// The end of an error sentence about an unknown name: a suggestion of the most similar name; empty if no name is
/// similar.
pub fn or_nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, names).map_or(String::new(), |name| format!("; the nearest is `{name}`"))
}
