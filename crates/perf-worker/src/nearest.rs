//! Suggestions for misspelt names: the nearest of the existing names.

/// The similarity, at most 1, from which one name counts as a misspelling of another.
const MIN_SIMILARITY: f64 = 0.85;

/// The name of which `word` is probably a misspelling; `None` if no name is near. Upper and lower case count as equal.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    names
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&word, &name.to_lowercase()), name))
        .filter(|(likeness, _)| *likeness >= MIN_SIMILARITY)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// The end of a sentence about an unknown name: the nearest known name; empty if no name is near.
pub fn or_nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, names).map_or(String::new(), |name| format!("; the nearest is `{name}`"))
}
