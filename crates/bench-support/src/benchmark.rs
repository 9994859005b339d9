//! The `main` function of a benchmark: its command line and its measuring time.

use crate::{Result, process::CHILD};
use std::{
    io::Write,
    process::ExitCode,
    time::{Duration, Instant},
};

/// The least number of cycles for a median.
const MIN_CYCLES: usize = 3;

/// The description of a benchmark.
pub struct Benchmark {
    /// The name of the benchmark, printed before its errors.
    pub name: &'static str,
    /// The text for `--help`. An option that is not in this text is an error.
    pub help: &'static str,
    /// Measuring time in seconds, without set-up.
    pub seconds: f64,
    /// Measuring time with `--quick`.
    pub quick_seconds: f64,
}

/// The options of a benchmark's command line.
pub struct Options {
    /// Measuring time in seconds, without set-up.
    pub seconds: f64,
    /// True if `--quick` was given.
    pub is_quick: bool,
    /// The argument of `--only`: the names of the rows to measure, separated by commas; empty for all rows.
    pub only: String,
}

impl Benchmark {
    /// Runs the benchmark. Calls `measure` with the options of the command line. If a [`Process`](crate::Process) of
    /// the benchmark has started this program, calls `play` with its role instead.
    pub fn main(&self, play: fn(&[String]) -> Result<()>, measure: fn(&Options) -> Result<()>) -> ExitCode {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let outcome = match arguments.split_first() {
            Some((first, role)) if first == CHILD => play(role),
            _ => self.measure(&arguments, measure),
        };
        match outcome {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{}: {error}", self.name);
                ExitCode::FAILURE
            }
        }
    }

    fn measure(&self, arguments: &[String], measure: fn(&Options) -> Result<()>) -> Result<()> {
        let mut output = std::io::stdout().lock();
        let Some(options) = self.parse(arguments)? else { return Ok(output.write_all(self.help.as_bytes())?) };
        if cfg!(debug_assertions) {
            // A build without optimisation gives useless figures.
            let name = self.name;
            writeln!(output, "{name}: nothing is measured in a build without optimisation; use cargo bench")?;
            return Ok(());
        }
        drop(output);
        measure(&options)
    }

    /// Parses the options. Returns `None` if the user asked for help.
    fn parse(&self, arguments: &[String]) -> Result<Option<Options>> {
        let mut options = Options { seconds: self.seconds, is_quick: false, only: String::new() };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let is_listed = self.help.split_whitespace().any(|word| word == argument);
            match argument.as_str() {
                "--bench" => {} // cargo passes this to every benchmark
                "--help" | "-h" => return Ok(None),
                "--quick" if is_listed => (options.seconds, options.is_quick) = (self.quick_seconds, true),
                "--seconds" if is_listed => {
                    let value = rest.next().ok_or("--seconds needs a number of seconds, as in --seconds 30")?;
                    let seconds = value.parse().ok().filter(|seconds| (0.5..=86_400.0).contains(seconds));
                    let error = || format!("--seconds takes a number from 0.5 to 86400, not {value:?}");
                    options.seconds = seconds.ok_or_else(error)?;
                }
                "--only" if is_listed => {
                    options.only.clone_from(rest.next().ok_or("--only needs a name, as in --only events@100")?);
                }
                other => {
                    return Err(
                        format!("{other:?} is not an option of this benchmark; --help lists the options").into()
                    );
                }
            }
        }
        Ok(Some(options))
    }
}

impl Options {
    /// Calls `cycle` with 0, 1, 2, … until the measuring time is over, but at least `MIN_CYCLES` times. Returns the
    /// number of calls.
    pub fn cycles(&self, mut cycle: impl FnMut(usize) -> Result<()>) -> Result<usize> {
        let (start, mut cycles) = (Instant::now(), 0);
        while cycles < MIN_CYCLES || start.elapsed() < Duration::from_secs_f64(self.seconds) {
            cycle(cycles)?;
            cycles += 1;
        }
        Ok(cycles)
    }
}

/// The `play` function of a benchmark with a single process: every role is an error.
pub fn no_role(role: &[String]) -> Result<()> {
    Err(format!("this benchmark has no role {role:?}").into())
}
