//! The combinations of a matrix. Each combination has one choice (one value) of each axis (an option with
//! its values).

use std::path::PathBuf;

use crate::{
    cli::{Axis, Choice},
    experiments::batch::{ALL, Options, contestants, file_name},
};

/// The option whose values are the contestants.
pub const COMMUNICATOR: &str = "communicator";
/// Switches such as `--reliable`, each with the option whose value the switch sets, for example `--reliability`.
const SWITCHES: [(&str, &str); 3] =
    [("reliable", "reliability"), ("transient", "durability"), ("keep-last", "history")];
/// The longest name of a log without its suffix; file systems allow 255 bytes.
const LONGEST_NAME: usize = 180;

/// A combination: the contestant, and one choice from each axis with the axis's option.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Combination {
    /// The contestant as the user wrote it.
    pub contestant: String,
    choices: Vec<(String, Choice)>,
}

/// The axes of an experiment. An axis on the command line replaces the experiment's axis with the same option.
/// Contestants vary fastest, so that a slow change of the machine concerns all of them.
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

/// Every combination of one choice from each axis. The last axis varies fastest.
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

    /// A copy of this combination that also has a value for one more option.
    #[must_use]
    pub fn with(&self, option: &str, value: &str) -> Combination {
        self.chosen(option, Choice { shown: value.to_owned(), arguments: vec![format!("--{option}={value}")] })
    }

    /// The options by their long names, with the values that tables show.
    pub fn options(&self) -> Options {
        self.choices.iter().map(|(option, choice)| (option.clone(), choice.shown.clone())).collect()
    }

    /// The command-line arguments with which a single run repeats this combination, without `-c`.
    pub fn arguments(&self) -> Vec<String> {
        self.choices.iter().flat_map(|(_, choice)| choice.arguments.clone()).collect()
    }

    /// The name of the run's log: all arguments, or only the arguments of the options in `varied`.
    pub fn log_name(&self, varied: Option<&[&str]>) -> PathBuf {
        let is_named = |option: &str| varied.is_none_or(|varied| varied.contains(&option));
        let named = self.choices.iter().filter(|(option, _)| is_named(option));
        let arguments: Vec<String> = named.flat_map(|(_, choice)| choice.arguments.clone()).collect();
        if arguments.is_empty() { "default".into() } else { log_name(&arguments) }
    }
}

/// The name of a log, made of the arguments and shortened to a length that file systems allow.
pub fn log_name(arguments: &[String]) -> PathBuf {
    let words: Vec<String> = arguments.iter().map(|argument| file_name(argument.trim_start_matches('-'))).collect();
    let name = words.join("_");
    if name.len() <= LONGEST_NAME {
        return name.into();
    }
    // The hash is FNV-1a: names must be the same in every version, so that a later version can continue an experiment.
    let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{}_{hash:08x}", name.get(..LONGEST_NAME).unwrap_or_default()).into()
}
