//! Texts that the user adds to every log by the environment variable `APEX_PERFORMANCE_TEST`, as in performance_test.

use std::collections::BTreeMap;
use std::ffi::OsStr;

const VARIABLE: &str = "APEX_PERFORMANCE_TEST";

/// The texts, sorted by name.
pub type ExternalInfo = BTreeMap<String, String>;

/// Reads the texts from the environment variable.
///
/// # Errors
/// The reason, as a sentence: the variable is not a JSON object whose values are texts.
pub fn from_environment() -> Result<ExternalInfo, String> {
    std::env::var_os(VARIABLE)
        .filter(|text| !text.is_empty())
        .map_or_else(|| Ok(ExternalInfo::new()), |text| parse(&text))
}

fn parse(text: &OsStr) -> Result<ExternalInfo, String> {
    let refused = |why: String| {
        format!(
            "the environment variable {VARIABLE} is {text:?}: {why}. It is copied into the logs and must be one JSON object of \
             texts, like {{\"Branch\": \"main\"}}; unset it or change it"
        )
    };
    let valid = text.to_str().ok_or_else(|| refused("it is not UTF-8".to_owned()))?;
    serde_json::from_str(valid).map_err(|error| refused(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flat_object_of_texts_is_taken_and_nothing_else() {
        let info = parse(OsStr::new(r#"{"Githash": "a1", "CI": "true", "empty": ""}"#)).unwrap();
        let pairs: Vec<(&str, &str)> = info.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        assert_eq!(pairs, [("CI", "true"), ("Githash", "a1"), ("empty", "")]);
        for wrong in ["CI=true", "[]", "\"a\"", r#"{"CI": true}"#, r#"{"a": {"b": "c"}}"#, "{"] {
            let sentence = parse(OsStr::new(wrong)).unwrap_err();
            assert!(sentence.contains(VARIABLE) && sentence.contains(&format!("{wrong:?}")), "{sentence}");
        }
    }
}
