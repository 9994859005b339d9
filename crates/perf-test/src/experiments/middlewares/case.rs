//! A case of the comparison: a message and a rate, with the options that all contestants share.

use crate::cli::{self, RunOptions};
use crate::experiments::batch::{Options, with_defaults};
use perf_worker::run_spec::RunSpec;

/// The cases if the user gives neither `-m` nor `-r`: name, message, rate in Hz.
const CASES: [(&str, &str, u32); 2] = [("4MB", "Array4m", 100), ("256B", "Array256", 2000)];
/// The default seconds of warm-up and of measurement of each run.
const WARMUP_S: u32 = 1;
const MEASURED_S: u32 = 3;

/// A message and a rate in which all contestants are measured.
#[derive(Clone, Debug)]
pub struct Case {
    /// The name of the case, such as `4MB`.
    pub name: String,
    /// The options of all runs in the case.
    pub options: RunOptions,
}

/// The cases that the options describe: one case with the given message and rate, or the two default cases.
pub fn cases(options: &RunOptions) -> Vec<Case> {
    let options = with_defaults(options, WARMUP_S, MEASURED_S);
    let (message, rate_hz) = (options.messages.msg.as_deref(), options.time.rate);
    let case = |name: &str, message: &str, rate_hz: u32| {
        let mut options = options.clone();
        options.messages.msg = Some(message.to_owned());
        options.time.rate = Some(rate_hz);
        Case { name: name.to_owned(), options }
    };
    let is_asked = |(_, name, rate): &&(&str, &str, u32)| {
        message.is_none_or(|message| message.eq_ignore_ascii_case(name)) && rate_hz.is_none_or(|given| given == *rate)
    };
    let known = CASES.iter().filter(is_asked).map(|(name, message, rate_hz)| case(name, message, *rate_hz));
    let known: Vec<Case> = known.collect();
    let (first_name, first_message, first_hz) = CASES[0];
    match message {
        _ if !known.is_empty() => known,
        Some(message) => {
            let size = options.messages.unbounded_msg_size.map_or(String::new(), |bytes| bytes.to_string());
            vec![case(&format!("{message}{size}"), message, rate_hz.unwrap_or(100))]
        }
        None => vec![case(first_name, first_message, rate_hz.unwrap_or(first_hz))],
    }
}

impl Case {
    /// The name, message and rate of the case, as options for tables and results files.
    pub fn shown_options(&self, spec: Option<&RunSpec>) -> Options {
        let of_run = spec.map(|spec| [("msg", spec.message.name.clone()), ("rate", spec.rate_hz.to_string())]);
        let options = [("case", self.name.clone())].into_iter().chain(of_run.into_iter().flatten());
        options.map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The quality of service that the user requested, as text.
    pub fn qos(&self) -> String {
        cli::qos(&self.options.qos, false).map_or_else(|why| why, |qos| qos.to_string())
    }
}
