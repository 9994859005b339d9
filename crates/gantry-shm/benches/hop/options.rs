//! The command line: few flags, and what cargo adds.
//!
//! Used by `main`. What is not known is an error: a misspelled flag must not quietly measure something else.

use crate::Result;

/// Measuring time if nothing is asked for: with set-up, the whole run stays under two minutes.
const SECONDS: f64 = 90.0;
/// ... and with `--quick`.
const QUICK_SECONDS: f64 = 15.0;

/// What was asked for.
pub struct Options {
    /// How long to measure, without set-up.
    pub seconds: f64,
}

impl Options {
    /// `None`: help was asked for.
    pub fn parse(arguments: &[String]) -> Result<Option<Options>> {
        let mut options = Options { seconds: SECONDS };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--bench" => {} // cargo says this to every benchmark
                "--quick" => options.seconds = QUICK_SECONDS,
                "--seconds" => {
                    let value = rest.next().ok_or("--seconds needs a number of seconds, as in --seconds 30")?;
                    options.seconds = value
                        .parse()
                        .ok()
                        .filter(|seconds| (1.0..=86_400.0).contains(seconds))
                        .ok_or_else(|| format!("--seconds takes a number from 1 to 86400, not {value:?}"))?;
                }
                "--help" | "-h" => return Ok(None),
                other => return Err(format!("{other:?} is no option of this benchmark; --help lists them").into()),
            }
        }
        Ok(Some(options))
    }
}
