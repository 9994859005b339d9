//! The command line: few flags, and what cargo adds. What is not known is an error.

use crate::Result;

/// Measuring time if nothing is asked for: with set-up, the whole run stays under half a minute.
const SECONDS: f64 = 16.0;
/// ... and with `--quick`.
const QUICK_SECONDS: f64 = 5.0;

/// What was asked for.
pub struct Options {
    /// How long to measure, without set-up.
    pub seconds: f64,
}

impl Options {
    /// `None`: help was asked for.
    pub fn parse(arguments: &[String]) -> Result<Option<Options>> {
        let mut options = Options { seconds: SECONDS };
        for argument in arguments {
            match argument.as_str() {
                "--bench" => {} // cargo says this to every benchmark
                "--quick" => options.seconds = QUICK_SECONDS,
                "--help" | "-h" => return Ok(None),
                other => return Err(format!("{other:?} is no option of this benchmark; --help lists them").into()),
            }
        }
        Ok(Some(options))
    }
}
