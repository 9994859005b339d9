//! The configuration of the Zenoh session, from rmw_zenoh's environment variables and files, so that the bridge has the
//! same set-up as ROS 2 programs.

use std::{env, fmt::Display};
use zenoh::Config;

const SESSION_FILE: &str = "ZENOH_SESSION_CONFIG_URI";
const ROUTER_FILE: &str = "ZENOH_ROUTER_CONFIG_URI";
const OVERRIDE: &str = "ZENOH_CONFIG_OVERRIDE";

/// rmw_zenoh's default settings of a session, for users without a configuration file.
const OF_SESSION: &[(&str, &str)] = &[
    ("mode", r#""peer""#),
    ("connect/endpoints", r#"["tcp/localhost:7447"]"#),
    ("listen/endpoints", r#"["tcp/localhost:0"]"#),
    ("scouting/multicast/enabled", "false"),
    ("queries_default_timeout", "600000"),
];
/// rmw_zenoh's default settings of a router.
const OF_ROUTER: &[(&str, &str)] = &[
    ("mode", r#""router""#),
    ("listen/endpoints", r#"["tcp/[::]:7447"]"#),
    ("scouting/multicast/enabled", "false"),
    ("queries_default_timeout", "600000"),
];
/// Settings that the bridge always needs. Caches of latched topics need timestamps. By default, Zenoh would close a
/// connection while a message of low priority waits in its queue for long.
const ALWAYS: &[(&str, &str)] = &[
    ("timestamping/enabled", "true"),
    ("transport/link/tx/queue/congestion_control/block/wait_before_close", "60000000"),
];

/// The addresses and the mode from the command line.
#[derive(Clone, Debug, Default)]
pub struct Endpoints {
    /// Addresses to connect to. If the list is empty, the configuration's addresses apply.
    pub connect: Vec<String>,
    /// Addresses to listen on. If the list is empty, the configuration's addresses apply.
    pub listen: Vec<String>,
    /// True if the bridge is a Zenoh router.
    pub is_router: bool,
}

/// Returns the configuration: the file in rmw_zenoh's variable or, without a file, rmw_zenoh's defaults. Settings in
/// `ZENOH_CONFIG_OVERRIDE` replace these, and the command line replaces both. The error is a sentence with the reason.
pub fn config(endpoints: &Endpoints) -> Result<Config, String> {
    let (variable, defaults) = if endpoints.is_router { (ROUTER_FILE, OF_ROUTER) } else { (SESSION_FILE, OF_SESSION) };
    let mut config = match env::var(variable).ok().filter(|path| !path.is_empty()) {
        Some(path) => {
            let file = path.strip_prefix("file://").unwrap_or(&path);
            Config::from_file(file)
                .map_err(|error| format!("{variable}={path} is not a valid configuration of Zenoh: {error}"))?
        }
        None => {
            let mut config = Config::default();
            set_all(&mut config, defaults.iter().copied(), &"a default")?;
            config
        }
    };
    set_all(&mut config, ALWAYS.iter().copied(), &"a default")?;
    let text = env::var(OVERRIDE).unwrap_or_default();
    for setting in text.split(';').map(str::trim).filter(|setting| !setting.is_empty()) {
        let pair = setting.split_once('=').ok_or_else(|| format!("{OVERRIDE}: {setting:?} is not KEY=VALUE"))?;
        set_all(&mut config, [pair].into_iter(), &OVERRIDE)?;
    }
    let list = |endpoints: &[String]| serde_json::to_string(endpoints).unwrap_or_default();
    let (connect, listen) = (list(&endpoints.connect), list(&endpoints.listen));
    if !endpoints.connect.is_empty() {
        set_all(&mut config, [("connect/endpoints", connect.as_str())].into_iter(), &"--connect")?;
    }
    if !endpoints.listen.is_empty() {
        set_all(&mut config, [("listen/endpoints", listen.as_str())].into_iter(), &"--listen")?;
    }
    Ok(config)
}

fn set_all<'a>(
    config: &mut Config,
    settings: impl Iterator<Item = (&'a str, &'a str)>,
    origin: &dyn Display,
) -> Result<(), String> {
    for (key, value) in settings {
        let named = |error| format!("{origin}: {key}={value} is not a valid setting of Zenoh: {error}");
        config.insert_json5(key.trim(), value.trim()).map_err(named)?;
    }
    Ok(())
}
