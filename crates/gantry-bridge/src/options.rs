//! The command-line options that all bridges have.

use crate::policy::{Policy, PolicyError};
use std::path::PathBuf;

/// The domain, its network, the policy.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Options {
    /// The domain of Gantry, 0 to 232 [default: ROS_DOMAIN_ID, or 0]
    #[arg(long, value_name = "ID")]
    pub domain_id: Option<u32>,
    /// A JSON file with rules: names that are carried or not, rates, priorities [default: all is carried, stops come
    /// first, logs last]
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// Show this network the nodes that other bridges brought, too, so that two networks meet here. The other bridge
    /// needs the option, too
    #[arg(long)]
    pub hub: bool,
    /// The name of this network, for a domain with several networks of one kind, as `--network lab`. It has the same
    /// name on all hosts [default: zenoh, or the name of the RMW]
    #[arg(long, value_name = "NAME", value_parser = network_name)]
    pub network: Option<String>,
}

impl Options {
    /// The domain.
    ///
    /// # Errors
    /// `ROS_DOMAIN_ID` is not a domain id.
    pub fn domain_id(&self) -> gantry::Result<u32> {
        self.domain_id.map_or_else(gantry::default_domain_id, Ok)
    }

    /// The rules.
    ///
    /// # Errors
    /// The same as for [`Policy::from_file`].
    pub fn policy(&self) -> Result<Policy, PolicyError> {
        self.policy.as_deref().map_or_else(|| Ok(Policy::default()), Policy::from_file)
    }
}

/// Parses a network's name, which may contain only characters that a node's name may contain.
fn network_name(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(is_plain) {
        return Ok(text.to_owned());
    }
    Err("it begins with a letter, and has letters, digits and underscores".to_owned())
}
