//! The methods that read declared parameters.

use super::{super::value::ParameterValue, Declared, ParameterStore};
use crate::{
    error::{Error, Result},
    wait::lock,
};
use gantry_msgs::rcl_interfaces::msg::{ListParametersResult, ParameterDescriptor};
use std::collections::{BTreeMap, BTreeSet};

/// The separator of a name's parts.
const SEPARATOR: &str = ".";
/// The largest number of letters in which two similar names may differ.
const MOST_DIFFERENCES: usize = 2;

impl ParameterStore {
    pub(crate) fn has(&self, name: &str) -> bool {
        lock(&self.declared).contains_key(name)
    }

    /// Returns the value of a parameter. A parameter that is not declared has the value `NotSet` if undeclared
    /// parameters are allowed.
    pub(crate) fn get(&self, name: &str) -> Result<ParameterValue> {
        let declared = lock(&self.declared);
        match declared.get(name) {
            Some(Declared { value: ParameterValue::NotSet, descriptor }) if !descriptor.dynamic_typing => {
                Err(Error::ParameterNotSet { name: name.to_owned() })
            }
            Some(parameter) => Ok(parameter.value.clone()),
            None if self.options.allows_undeclared => Ok(ParameterValue::NotSet),
            None => Err(Error::ParameterNotDeclared { name: name.to_owned() }),
        }
    }

    /// The descriptor and the value of a declared parameter.
    pub(crate) fn describe(&self, name: &str) -> Result<(ParameterDescriptor, ParameterValue)> {
        match lock(&self.declared).get(name) {
            Some(parameter) => Ok((parameter.descriptor.clone(), parameter.value.clone())),
            None if self.options.allows_undeclared => {
                let descriptor = ParameterDescriptor { name: name.to_owned(), ..ParameterDescriptor::default() };
                Ok((descriptor, ParameterValue::NotSet))
            }
            None => Err(Error::ParameterNotDeclared { name: name.to_owned() }),
        }
    }

    /// The overrides that no declaration has used, each with a declared parameter that has a similar name and no
    /// override. An override without a similar name is left out, because it may be for another node.
    pub(crate) fn misspelt_overrides(&self) -> Vec<(&str, String)> {
        let declared = lock(&self.declared);
        let untaken = self.overrides.keys().filter(|name| !declared.contains_key(*name));
        let similar = |name: &str| {
            let most = MOST_DIFFERENCES.min(name.len() / 3);
            let free = declared.keys().filter(|candidate| !self.overrides.contains_key(*candidate));
            let near = free.map(|candidate| (strsim::osa_distance(name, candidate), candidate));
            near.filter(|(distance, _)| *distance <= most).min().map(|(_, candidate)| candidate.clone())
        };
        untaken.filter_map(|name| Some((name.as_str(), similar(name)?))).collect()
    }

    /// Lists the parameters below `prefixes` (all parameters if the list is empty), up to `depth` name parts below a
    /// prefix; a depth of 0 means no limit.
    pub(crate) fn list(&self, prefixes: &[String], depth: u64) -> ListParametersResult {
        let is_within = |name: &str| depth == 0 || (name.matches(SEPARATOR).count() as u64) < depth;
        let is_below = |name: &str, prefix: &String| {
            name == prefix
                || name
                    .strip_prefix(prefix.as_str())
                    .and_then(|rest| rest.strip_prefix(SEPARATOR))
                    .is_some_and(is_within)
        };
        let is_meant = |name: &&String| match prefixes {
            [] => is_within(name),
            prefixes => prefixes.iter().any(|prefix| is_below(name, prefix)),
        };
        let names: Vec<String> = lock(&self.declared).keys().filter(is_meant).cloned().collect();
        let prefixes = names.iter().filter_map(|name| Some(name.rsplit_once(SEPARATOR)?.0.to_owned()));
        ListParametersResult { prefixes: prefixes.collect::<BTreeSet<_>>().into_iter().collect(), names }
    }

    /// The parameters below a prefix, without the prefix in their names; all parameters if the prefix is empty.
    pub(crate) fn by_prefix(&self, prefix: &str) -> BTreeMap<String, ParameterValue> {
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}{SEPARATOR}") };
        let declared = lock(&self.declared);
        let below =
            declared.iter().filter_map(|(name, it)| Some((name.strip_prefix(&prefix)?.to_owned(), it.value.clone())));
        below.collect()
    }
}
