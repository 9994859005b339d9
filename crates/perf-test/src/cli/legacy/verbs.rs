//! The old names of subcommands ("verbs"), and the subcommands that a user may leave out.

use std::ffi::OsString;

/// The old names of subcommands, each with its new words.
const RENAMED: [(&str, &[&str]); 4] = [
    ("experiment", &["sweep"]),
    ("versus", &["compare", "middlewares"]),
    ("conditions", &["compare", "conditions"]),
    ("conformance", &["check"]),
];
/// The words that may follow `compare`. Any other argument after `compare` is a log.
const OF_COMPARE: [&str; 5] = ["logs", "middlewares", "conditions", "-h", "--help"];

/// Replaces an old subcommand by its new words, and inserts a subcommand that the user left out.
pub fn renamed(mut arguments: Vec<OsString>) -> Vec<OsString> {
    if let Some((_, words)) = earlier(&arguments) {
        arguments.splice(1..2, words.iter().map(OsString::from));
    }
    let word = |index: usize| arguments.get(index).and_then(|word| word.to_str());
    let left_out = match (word(1), word(2)) {
        (Some("compare"), next) if next.is_none_or(|next| !OF_COMPARE.contains(&next)) => Some("logs"),
        (Some("sweep"), Some(next)) if is_of_matrix(next) => Some("matrix"),
        _ => None,
    };
    if let Some(word) = left_out {
        arguments.insert(2, word.into());
    }
    arguments
}

/// Whether the word after `sweep` is an option or a file, so that the subcommand `matrix` must be inserted before it.
/// Any other word is a subcommand, perhaps a misspelt one.
fn is_of_matrix(word: &str) -> bool {
    (word.starts_with('-') && !["-h", "--help"].contains(&word)) || word.contains(['.', '/'])
}

/// The notice that a subcommand has a new name; `None` if the arguments have no old subcommand.
pub fn notice(arguments: &[OsString]) -> Option<String> {
    let (old, words) = earlier(arguments)?;
    Some(format!("`{old}` is now `{}`; the next version does not know the old name", words.join(" ")))
}

fn earlier(arguments: &[OsString]) -> Option<(&'static str, &'static [&'static str])> {
    let verb = arguments.get(1)?.to_str()?;
    RENAMED.into_iter().find(|(old, _)| *old == verb)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_verbs_and_those_that_are_left_out_are_completed() {
        let renamed = |line: &str| {
            let words = renamed(line.split(' ').map(OsString::from).collect());
            words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        for (given, expected) in [
            ("perf_test versus -c all", "perf_test compare middlewares -c all"),
            ("perf_test conditions merge a", "perf_test compare conditions merge a"),
            ("perf_test experiment sizes -r 9", "perf_test sweep sizes -r 9"),
            ("perf_test conformance", "perf_test check"),
            ("perf_test compare a b", "perf_test compare logs a b"),
            ("perf_test compare --base a --new b", "perf_test compare logs --base a --new b"),
            ("perf_test compare", "perf_test compare logs"),
            ("perf_test sweep run.yaml", "perf_test sweep matrix run.yaml"),
            ("perf_test sweep -r 1,2", "perf_test sweep matrix -r 1,2"),
        ] {
            assert_eq!(renamed(given), expected);
        }
        for same in [
            "perf_test",
            "perf_test -m versus",
            "perf_test compare --help",
            "perf_test sweep",
            "perf_test sweep size",
            "perf_test sweep -h",
        ] {
            assert_eq!(renamed(same), same);
        }
        let words = ["perf_test", "versus"].map(OsString::from);
        assert!(notice(&words).unwrap().starts_with("`versus` is now `compare middlewares`;"));
        assert_eq!(notice(&words[..1]), None);
    }
}
