//! Overrides: values of parameters in the ROS arguments. They replace the defaults of declarations.

use super::{
    file,
    value::{Parameter, ParameterValue},
    yaml,
};
use crate::error::{Error, Result};
use std::{collections::BTreeMap, path::Path, str::FromStr};

/// The values for each pattern of node names, in the order in which the patterns first occurred.
///
/// As in rcl, a pattern that occurs again keeps its first position. So if a file has `/**` and then `/talker`, the
/// values of `/talker` are applied last, even after a later `-p` for all nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ParameterArguments(Vec<(String, BTreeMap<String, ParameterValue>)>);

impl ParameterArguments {
    /// Adds `-p name:=yaml` (for all nodes) or `-p node:name:=yaml` (for `/node`, as in rclcpp).
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

/// Parses a value as the command line of ROS 2 does (`-p name:=value`): YAML, with YAML 1.1's words for booleans.
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

/// Returns the parameters that a parameter file has for the node with this full name, sorted by name. Node names in the
/// file may have wildcards. The function corresponds to rclcpp's `parameter_map_from_yaml_file`.
///
/// # Errors
/// The file cannot be read, or rcl would refuse it; the error contains the line number.
pub fn parameters_from_yaml_file(path: impl AsRef<Path>, node: &str) -> Result<Vec<Parameter>> {
    let mut arguments = ParameterArguments::default();
    arguments.add_file(path.as_ref())?;
    Ok(arguments.for_node(node).into_iter().map(|(name, value)| Parameter { name, value }).collect())
}
