//! The command line: few flags, and what cargo adds. What is not known is an error.

use crate::Result;
use std::time::Duration;

/// What was asked for.
pub struct Options {
    /// How long to measure messages, without set-up.
    pub seconds: f64,
    /// How long each executor is looked at while nothing happens.
    pub idle: Duration,
    /// What a turn is divided by.
    pub shorter: u32,
    /// Only what has one of these, with commas between them, in its name.
    pub only: String,
}

impl Options {
    /// `None`: help was asked for.
    pub fn parse(arguments: &[String]) -> Result<Option<Options>> {
        let mut options = Options { seconds: 150.0, idle: Duration::from_secs(3), shorter: 1, only: String::new() };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--bench" => {} // cargo says this to every benchmark
                "--quick" => {
                    (options.seconds, options.idle, options.shorter) = (11.0, Duration::from_millis(500), 2);
                }
                "--only" => options.only = rest.next().ok_or("--only needs a name, as in --only events@100")?.clone(),
                "--help" | "-h" => return Ok(None),
                other => return Err(format!("{other:?} is no option of this benchmark; --help lists them").into()),
            }
        }
        Ok(Some(options))
    }
}
