//! Overrides: the values of parameters among the ROS arguments. They replace the defaults of declarations.

use super::{
    file,
    value::{Parameter, ParameterValue},
    yaml,
};
use crate::error::{Error, Result};
use std::{collections::BTreeMap, path::Path, str::FromStr};

/// The values for each pattern of node names, in the order in which the patterns first occurred.
///
/// As in rcl, a pattern that occurs again keeps its place in the order. So if a file has `/**` and then `/talker`,
/// and a later `-p` applies to all nodes, the value of `/talker` is applied last.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ParameterArguments(Vec<(String, BTreeMap<String, ParameterValue>)>);

impl ParameterArguments {
    /// Adds `-p name:=yaml` (without a node: for all nodes) or `-p node:name:=yaml` (rclcpp takes the node as `/node`).
    ///
    /// # Errors
    /// The text is not a value.
    pub(crate) fn add_value(&mut self, node: Option<&str>, name: &str, yaml: &str) -> Result<()> {
        let value =
            yaml::value(yaml).map_err(|why| Error::InvalidParameters { origin: format!("-p {name}:={yaml}"), why })?;
        self.add(node.unwrap_or("/**"), name.to_owned(), value);
        Ok(())
    }

    /// Reads `--params-file path`.
    ///
    /// # Errors
    /// A file that cannot be read, or that rcl refuses.
    pub(crate) fn add_file(&mut self, path: &Path) -> Result<()> {
        let refused = |why| Error::InvalidParameters { origin: path.display().to_string(), why };
        let text = std::fs::read_to_string(path).map_err(|error| refused(format!("it cannot be read: {error}")))?;
        file::read(&text, &mut |pattern, name, value| self.add(pattern, name, value)).map_err(refused)
    }

    fn add(&mut self, pattern: &str, name: String, value: ParameterValue) {
        let index = self.0.iter().position(|(other, _)| other == pattern).unwrap_or_else(|| {
            self.0.push((pattern.to_owned(), BTreeMap::new()));
            self.0.len() - 1
        });
        self.0[index].1.insert(name, value);
    }

    /// The values for the node with this full name.
    pub(crate) fn for_node(&self, node: &str) -> BTreeMap<String, ParameterValue> {
        let meant = self.0.iter().filter(|(pattern, _)| file::is_match(pattern, node));
        meant.flat_map(|(_, values)| values.clone()).collect()
    }
}

/// Reads a value as the command line of ROS 2 does (`-p name:=value`): as YAML, with the words of YAML 1.1
/// for booleans.
///
/// ```
/// let value: gantry::ParameterValue = "[1.5, .inf]".parse()?;
/// assert_eq!(value, gantry::ParameterValue::DoubleArray(vec![1.5, f64::INFINITY]));
/// # Ok::<(), gantry::Error>(())
/// ```
///
/// # Errors
/// The text is not a value.
impl FromStr for ParameterValue {
    type Err = Error;

    fn from_str(text: &str) -> Result<ParameterValue> {
        yaml::value(text).map_err(|why| Error::InvalidParameters { origin: text.to_owned(), why })
    }
}

/// The parameters that a parameter file has for the node with this full name, wildcards included; sorted by name. As
/// rclcpp's `parameter_map_from_yaml_file`.
///
/// # Errors
/// The file cannot be read, or rcl would refuse it; the error names the line.
pub fn parameters_from_yaml_file(path: impl AsRef<Path>, node: &str) -> Result<Vec<Parameter>> {
    let mut arguments = ParameterArguments::default();
    arguments.add_file(path.as_ref())?;
    Ok(arguments.for_node(node).into_iter().map(|(name, value)| Parameter { name, value }).collect())
}
