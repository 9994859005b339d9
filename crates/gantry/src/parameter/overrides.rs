//! Overrides: the values of parameters among the ROS arguments. They replace the defaults of declarations.

use super::{
    file,
    value::{Parameter, ParameterValue},
    yaml,
};
use crate::error::{Error, Result};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    str::FromStr,
};

/// Values of parameters among the ROS arguments.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ParameterArgument {
    /// `-p name:=yaml` or `-p node:name:=yaml`.
    Value {
        /// The node that it is for: a name without a namespace, which rclcpp takes as `/node`. `None`: all nodes.
        node: Option<String>,
        /// The parameter's name: one or more parts with dots between them.
        name: String,
        /// The value, in YAML; not checked here.
        yaml: String,
    },
    /// `--params-file path`; not opened here.
    File(PathBuf),
}

/// The values by the patterns of nodes, in the order in which the patterns first occurred.
///
/// As in rcl, a pattern keeps its place when it occurs again. So of `/**` in a file, `/talker` below it and a later `-p` for all
/// nodes, `/talker` has the last word.
#[derive(Default)]
struct Patterns(Vec<(String, BTreeMap<String, ParameterValue>)>);

impl Patterns {
    fn add(&mut self, pattern: &str, name: String, value: ParameterValue) {
        let index = self.0.iter().position(|(other, _)| other == pattern).unwrap_or_else(|| {
            self.0.push((pattern.to_owned(), BTreeMap::new()));
            self.0.len() - 1
        });
        self.0[index].1.insert(name, value);
    }
}

/// The values for the node of that full name. A later list of arguments replaces values of an earlier one.
///
/// # Errors
/// A file that cannot be read, or that rcl refuses; a value that is none.
pub(crate) fn overrides_of(node: &str, lists: &[&[ParameterArgument]]) -> Result<BTreeMap<String, ParameterValue>> {
    let mut overrides = BTreeMap::new();
    for arguments in lists {
        let mut patterns = Patterns::default();
        for argument in *arguments {
            add(&mut patterns, argument)?;
        }
        let meant = patterns.0.into_iter().filter(|(pattern, _)| file::is_match(pattern, node));
        overrides.extend(meant.flat_map(|(_, values)| values));
    }
    Ok(overrides)
}

/// Reads a value as the command line of ROS 2 does (`-p name:=value`): YAML, with its words for booleans.
///
/// ```
/// let value: gantry::ParameterValue = "[1.5, .inf]".parse()?;
/// assert_eq!(value, gantry::ParameterValue::DoubleArray(vec![1.5, f64::INFINITY]));
/// # Ok::<(), gantry::Error>(())
/// ```
///
/// # Errors
/// The text is no value.
impl FromStr for ParameterValue {
    type Err = Error;

    fn from_str(text: &str) -> Result<ParameterValue> {
        yaml::value(text).map_err(|why| Error::InvalidParameters { origin: text.to_owned(), why })
    }
}

/// The parameters that a parameter file has for the node of that full name, wildcards included; sorted by name. As rclcpp's
/// `parameter_map_from_yaml_file`.
///
/// # Errors
/// The file cannot be read, or rcl would refuse it; the sentence has the line.
pub fn parameters_from_yaml_file(path: impl AsRef<Path>, node: &str) -> Result<Vec<Parameter>> {
    let values = overrides_of(node, &[&[ParameterArgument::File(path.as_ref().to_owned())]])?;
    Ok(values.into_iter().map(|(name, value)| Parameter { name, value }).collect())
}

fn add(patterns: &mut Patterns, argument: &ParameterArgument) -> Result<()> {
    match argument {
        ParameterArgument::Value { node, name, yaml } => {
            let value = yaml::value(yaml)
                .map_err(|why| Error::InvalidParameters { origin: format!("-p {name}:={yaml}"), why })?;
            patterns.add(node.as_deref().unwrap_or("/**"), name.clone(), value);
        }
        ParameterArgument::File(path) => {
            let refused = |why| Error::InvalidParameters { origin: path.display().to_string(), why };
            let text = std::fs::read_to_string(path).map_err(|error| refused(format!("it cannot be read: {error}")))?;
            file::read(&text, &mut |pattern, name, value| patterns.add(pattern, name, value)).map_err(refused)?;
        }
    }
    Ok(())
}
