//! The spellings of option names in existing scripts, converted to one spelling with hyphens.
//!
//! performance_test first had `--num_pub_threads`, later `--num-pub-threads`, and for some options a mixture
//! (`--dds-domain_id`). An underscore in the *name* of a long option becomes a hyphen. Values and everything after `--`
//! are not changed.

use std::ffi::OsString;

/// Returns the arguments with hyphens instead of underscores in the names of long options.
pub fn normalise(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut options_ended = false;
    arguments
        .into_iter()
        .map(|argument| {
            options_ended |= argument == "--";
            match argument.to_str() {
                Some(text) if text.starts_with("--") && !options_ended => hyphenated(text).into(),
                _ => argument,
            }
        })
        .collect()
}

fn hyphenated(option: &str) -> String {
    match option.split_once('=') {
        Some((name, value)) => format!("{}={value}", name.replace('_', "-")),
        None => option.replace('_', "-"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_change() {
        let given = ["perf_test", "--keep_last", "--topic=my_topic", "-t", "a_b", "--dds-domain_id", "--", "--x_y"];
        let normal = normalise(given.map(OsString::from));
        let expected = ["perf_test", "--keep-last", "--topic=my_topic", "-t", "a_b", "--dds-domain-id", "--", "--x_y"];
        assert_eq!(normal, expected.map(OsString::from));
    }
}
