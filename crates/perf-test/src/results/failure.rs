//! A run that has no figures: it was refused, or it failed before it had a log.

use std::path::Path;

use serde::Deserialize;

/// The end of the name of the file of such a run.
pub const SUFFIX: &str = ".failed.json";

/// A run without figures.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Failure {
    /// The middleware, with its settings if it was given as `NAME:SETTING=VALUE`.
    #[serde(alias = "communicator", default)]
    pub contestant: String,
    /// The run in words.
    #[serde(default)]
    pub title: String,
    /// The reason.
    #[serde(default)]
    pub sentence: String,
    /// The name of its file in the folder.
    #[serde(skip)]
    pub file: String,
}

impl Failure {
    /// Reads a file; `None` if it is of another kind.
    pub fn read(path: &Path, file: &str) -> Option<Failure> {
        let failure: Failure = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        (!failure.contestant.is_empty()).then(|| Failure { file: file.to_owned(), ..failure })
    }

    /// The middleware without its settings.
    pub fn middleware(&self) -> &str {
        self.contestant.split(':').next().unwrap_or_default()
    }
}
