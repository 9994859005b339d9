//! The combinations of a matrix. A matrix has axes (an option with several values each); a combination selects one
//! value of each axis.

use std::path::PathBuf;

use crate::{
    cli::{Axis, Choice},
    experiments::batch::{ALL, Options, contestants, file_name},
};

/// The option whose values are contestants (`-c`).
pub const COMMUNICATOR: &str = "communicator";
/// Switches, each with the option whose value it sets: `--reliable` sets `--reliability`.
const SWITCHES: [(&str, &str); 3] =
    [("reliable", "reliability"), ("transient", "durability"), ("keep-last", "history")];
/// The longest name of a log without its suffix, bytes. File systems allow 255 bytes.
const LONGEST_NAME: usize = 180;

/// A contestant, and one value of each option.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Combination {
    /// The contestant as the user wrote it.
    pub contestant: String,
    choices: Vec<(String, Choice)>,
}

/// The axes of an experiment. An axis from the command line replaces the experiment's axis of the same option. The
/// contestants are the last axis, which varies fastest, so that a slow change of the machine affects them alike.
pub fn axes(experiment: Vec<Axis>, given: &[Axis]) -> Result<Vec<Axis>, String> {
    if let Some(Axis { option, .. }) = given.iter().find(|axis| axis.choices.is_empty()) {
        return Err(format!("--{option} has no value: give one, or several with commas between them"));
    }
    let is_replaced = |axis: &Axis| {
        given.iter().any(|other| {
            other.option == axis.option || SWITCHES.contains(&(other.option.as_str(), axis.option.as_str()))
        })
    };
    let kept = experiment.into_iter().filter(|axis| !is_replaced(axis));
    let (mut last, mut axes): (Vec<Axis>, Vec<Axis>) =
        kept.chain(given.iter().cloned()).partition(|axis| axis.option == COMMUNICATOR);
    let names = last.pop().map_or_else(
        || vec!["Gantry".to_owned()],
        |axis| axis.choices.into_iter().map(|choice| choice.shown).collect(),
    );
    let mut all = Vec::new();
    for name in names {
        if name.eq_ignore_ascii_case(ALL) {
            all.extend(contestants(ALL)?.into_iter().map(|contestant| contestant.label));
        } else {
            all.push(name);
        }
    }
    axes.push(Axis::of_values(COMMUNICATOR, all));
    Ok(axes)
}

/// All combinations with one value from each axis. The last axis varies fastest.
pub fn combinations(axes: &[Axis]) -> Vec<Combination> {
    let mut all = vec![Combination::default()];
    for axis in axes {
        let longer =
            |one| axis.choices.iter().map(move |choice| Combination::chosen(one, &axis.option, choice.clone()));
        all = all.iter().flat_map(longer).collect();
    }
    all
}

impl Combination {
    fn chosen(&self, option: &str, choice: Choice) -> Combination {
        let mut longer = self.clone();
        match option {
            COMMUNICATOR => longer.contestant = choice.shown,
            _ => longer.choices.push((option.to_owned(), choice)),
        }
        longer
    }

    /// A copy of this combination with one more option.
    #[must_use]
    pub fn with(&self, option: &str, value: &str) -> Combination {
        self.chosen(option, Choice { shown: value.to_owned(), arguments: vec![format!("--{option}={value}")] })
    }

    /// The options by their long names, with their values as tables show them.
    pub fn options(&self) -> Options {
        self.choices.iter().map(|(option, choice)| (option.clone(), choice.shown.clone())).collect()
    }

    /// The command-line arguments that repeat this combination as a single run, without `-c`.
    pub fn arguments(&self) -> Vec<String> {
        self.choices.iter().flat_map(|(_, choice)| choice.arguments.clone()).collect()
    }

    /// The name of the run's log. It contains the arguments of the options in `varied`; `None` means all options.
    pub fn log_name(&self, varied: Option<&[&str]>) -> PathBuf {
        let is_named = |option: &str| varied.is_none_or(|varied| varied.contains(&option));
        let named = self.choices.iter().filter(|(option, _)| is_named(option));
        let arguments: Vec<String> = named.flat_map(|(_, choice)| choice.arguments.clone()).collect();
        if arguments.is_empty() { "default".into() } else { log_name(&arguments) }
    }
}

/// The name of a log that contains these arguments. A name that is too long for file systems is shortened.
pub fn log_name(arguments: &[String]) -> PathBuf {
    let words: Vec<String> = arguments.iter().map(|argument| file_name(argument.trim_start_matches('-'))).collect();
    let name = words.join("_");
    if name.len() <= LONGEST_NAME {
        return name.into();
    }
    // FNV-1a gives the same hash in every version, so a later version finds the logs of an earlier one.
    let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{}_{hash:08x}", name.get(..LONGEST_NAME).unwrap_or_default()).into()
}
