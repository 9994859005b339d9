//! The outputs of a run: the console, and the logs with their file names.

use std::path::PathBuf;

use clap::ValueEnum;

/// The suffix of Gantry's own log, if perf_test chooses the name.
pub const FULL_LOG_SUFFIX: &str = "full.json";

/// The version of performance_test whose tables are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Tables {
    /// Tables with the publishers' loop reserve, the time left in each period after publishing.
    #[default]
    #[value(name = "1.x")]
    V1,
    /// Tables without the loop reserve.
    #[value(name = "2.x")]
    V2,
    /// No tables of the single seconds; only the progress is shown.
    #[value(skip)]
    None,
}

/// The outputs of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outputs {
    /// Whether tables are printed on the console.
    pub console: bool,
    /// The version of the tables.
    pub tables: Tables,
    /// The file of the CSV log.
    pub csv: Option<PathBuf>,
    /// The file of the JSON log.
    pub json: Option<PathBuf>,
    /// The file of Gantry's own log.
    pub full: Option<PathBuf>,
    /// Whether a plot is drawn from Gantry's own log.
    pub plot: bool,
    /// Whether perf_test chose the name of a log.
    pub log_named_here: bool,
}

impl Outputs {
    /// The outputs of one of several runs: `suffix` is added to the names of the logs.
    #[must_use]
    pub fn named(&self, suffix: &str) -> Outputs {
        let with_suffix = |path: &PathBuf| -> PathBuf {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let full_at = name.strip_suffix(FULL_LOG_SUFFIX).map(|stem| stem.len().saturating_sub(1));
            let kind_at = full_at.or_else(|| name.rfind('.'));
            let (stem, kind) = name.split_at(kind_at.filter(|at| *at > 0).unwrap_or(name.len()));
            path.with_file_name(format!("{stem}-{suffix}{kind}"))
        };
        let [csv, json, full] = [&self.csv, &self.json, &self.full].map(|path| path.as_ref().map(with_suffix));
        Outputs { csv, json, full, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_runs_of_an_experiment_have_two_logs() {
        let (csv, json) = (Some("a/run.csv".into()), Some("log".into()));
        let outputs = Outputs { csv, json, full: Some("b/run.1.full.json".into()), ..Outputs::default() };
        let named = outputs.named("copy");
        assert_eq!((named.csv, named.json), (Some("a/run-copy.csv".into()), Some("log-copy".into())));
        assert_eq!(named.full, Some("b/run.1-copy.full.json".into()));
    }
}
