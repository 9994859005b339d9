//! The options of the RMW session, read from the same environment variables as in ROS 2 programs.

use rmw_abi::bindings::*;
use std::{env, path::PathBuf};

/// The options of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    pub domain_id: u32,
    pub enclave: String,
    /// The folder with the enclave's keys; `None` without security.
    pub security_root: Option<PathBuf>,
    pub is_security_enforced: bool,
    pub range: rmw_automatic_discovery_range_t,
    pub static_peers: Vec<String>,
}

impl Options {
    /// Reads the options that rcl would read from the environment.
    ///
    /// # Errors
    /// The error is a sentence with the reason: a variable has an unknown value, or security is enforced but there are
    /// no keys.
    pub fn from_environment(domain_id: u32) -> Result<Options, String> {
        Options::from_variables(domain_id, |name| env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn from_variables(domain_id: u32, variable: impl Fn(&str) -> Option<String>) -> Result<Options, String> {
        let enclave = variable("ROS_SECURITY_ENCLAVE_OVERRIDE").unwrap_or_else(|| "/".to_owned());
        let is_secure = variable("ROS_SECURITY_ENABLE").as_deref() == Some("true");
        let is_security_enforced = is_secure && variable("ROS_SECURITY_STRATEGY").as_deref() == Some("Enforce");
        let security_root = if is_secure { security_root(&enclave, &variable, is_security_enforced)? } else { None };
        let mut static_peers: Vec<String> = variable("ROS_STATIC_PEERS")
            .map(|peers| peers.split(';').filter(|peer| !peer.is_empty()).map(str::to_owned).collect())
            .unwrap_or_default();
        let mut range = match variable("ROS_AUTOMATIC_DISCOVERY_RANGE").as_deref() {
            None | Some("SUBNET") => RMW_AUTOMATIC_DISCOVERY_RANGE_SUBNET,
            Some("LOCALHOST") => RMW_AUTOMATIC_DISCOVERY_RANGE_LOCALHOST,
            Some("OFF") => RMW_AUTOMATIC_DISCOVERY_RANGE_OFF,
            Some("SYSTEM_DEFAULT") => RMW_AUTOMATIC_DISCOVERY_RANGE_SYSTEM_DEFAULT,
            Some(other) => {
                return Err(format!(
                    "ROS_AUTOMATIC_DISCOVERY_RANGE is {other:?}; it may be SUBNET, LOCALHOST, OFF or SYSTEM_DEFAULT"
                ));
            }
        };
        if variable("ROS_LOCALHOST_ONLY").as_deref() == Some("1") {
            range = RMW_AUTOMATIC_DISCOVERY_RANGE_LOCALHOST;
            static_peers.clear();
        }
        Ok(Options { domain_id, enclave, security_root, is_security_enforced, range, static_peers })
    }
}

/// Returns the folder with the enclave's keys; `None` if there is none and security is not enforced.
fn security_root(
    enclave: &str,
    variable: impl Fn(&str) -> Option<String>,
    is_enforced: bool,
) -> Result<Option<PathBuf>, String> {
    let keystore = variable("ROS_SECURITY_KEYSTORE");
    let root = keystore.map(|keystore| PathBuf::from(keystore).join("enclaves").join(enclave.trim_start_matches('/')));
    match root {
        Some(root) if root.is_dir() => Ok(Some(root)),
        Some(root) if is_enforced => Err(format!(
            "ROS_SECURITY_STRATEGY is Enforce, and the bridge has no keys: {} is not a folder; create the keys with \
             `ros2 security create_enclave`, and name the enclave in ROS_SECURITY_ENCLAVE_OVERRIDE",
            root.display()
        )),
        None if is_enforced => {
            Err("ROS_SECURITY_STRATEGY is Enforce, and ROS_SECURITY_KEYSTORE names no folder with keys".to_owned())
        }
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn options(variables: &[(&str, &str)]) -> Result<Options, String> {
        let variables: HashMap<&str, &str> = variables.iter().copied().collect();
        Options::from_variables(3, |name| variables.get(name).map(|value| (*value).to_owned()))
    }

    #[test]
    fn the_variables_of_rcl_are_the_bridges() {
        let plain = options(&[]).unwrap();
        assert_eq!((plain.enclave.as_str(), plain.range), ("/", RMW_AUTOMATIC_DISCOVERY_RANGE_SUBNET));
        assert_eq!((plain.security_root, plain.static_peers.len()), (None, 0));
        let peers = [("ROS_STATIC_PEERS", "10.0.0.1;;robot"), ("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF")];
        let given = options(&peers).unwrap();
        assert_eq!((given.range, given.static_peers), (1, vec!["10.0.0.1".to_owned(), "robot".to_owned()]));
        let local = options(&[peers[0], ("ROS_LOCALHOST_ONLY", "1")]).unwrap();
        assert_eq!((local.range, local.static_peers.len()), (RMW_AUTOMATIC_DISCOVERY_RANGE_LOCALHOST, 0));
    }

    #[test]
    fn enforced_security_needs_keys() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("enclaves/bridge")).unwrap();
        let keystore = ("ROS_SECURITY_KEYSTORE", folder.path().to_str().unwrap());
        let (on, enforce) = (("ROS_SECURITY_ENABLE", "true"), ("ROS_SECURITY_STRATEGY", "Enforce"));
        let enclave = ("ROS_SECURITY_ENCLAVE_OVERRIDE", "/bridge");
        let secure = options(&[keystore, on, enforce, enclave]).unwrap();
        assert_eq!((secure.is_security_enforced, secure.security_root.is_some()), (true, true));
        assert!(options(&[keystore, on, enforce, ("ROS_SECURITY_ENCLAVE_OVERRIDE", "/other")]).is_err());
        assert!(options(&[on, enforce]).unwrap_err().contains("ROS_SECURITY_KEYSTORE"));
        assert_eq!(options(&[on]).unwrap().security_root, None);
        assert!(options(&[("ROS_AUTOMATIC_DISCOVERY_RANGE", "WIDE")]).unwrap_err().contains("WIDE"));
    }
}
