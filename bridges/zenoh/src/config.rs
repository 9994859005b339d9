//! The configuration of the session: read from rmw_zenoh's variables and files, so that the bridge uses the same
//! set-up as ROS 2's programs.

use std::{env, fmt::Display};
use zenoh::Config;

const SESSION_FILE: &str = "ZENOH_SESSION_CONFIG_URI";
const ROUTER_FILE: &str = "ZENOH_ROUTER_CONFIG_URI";
const OVERRIDE: &str = "ZENOH_CONFIG_OVERRIDE";

/// rmw_zenoh's default settings of a session, which apply if the user gives no configuration file.
const OF_SESSION: &[(&str, &str)] = &[
    ("mode", r#""peer""#),
    ("connect/endpoints", r#"["tcp/localhost:7447"]"#),
    ("listen/endpoints", r#"["tcp/localhost:0"]"#),
    ("scouting/multicast/enabled", "false"),
    ("queries_default_timeout", "600000"),
];
/// rmw_zenoh's settings of a router.
const OF_ROUTER: &[(&str, &str)] = &[
    ("mode", r#""router""#),
    ("listen/endpoints", r#"["tcp/[::]:7447"]"#),
    ("scouting/multicast/enabled", "false"),
    ("queries_default_timeout", "600000"),
];
/// Settings without which the bridge does not work: caches of latched topics need timestamps; and a message of a
/// low priority may wait for so long that Zenoh would close the connection by default.
const ALWAYS: &[(&str, &str)] = &[
    ("timestamping/enabled", "true"),
    ("transport/link/tx/queue/congestion_control/block/wait_before_close", "60000000"),
];

/// The endpoints and the mode of the command line.
#[derive(Clone, Debug, Default)]
pub struct Endpoints {
    /// Addresses to connect to; if the list is empty, the addresses of the configuration apply.
    pub connect: Vec<String>,
    /// Addresses to listen on; if the list is empty, the addresses of the configuration apply.
    pub listen: Vec<String>,
    /// Whether the bridge is a router.
    pub is_router: bool,
}

/// The configuration: the file in rmw_zenoh's variable, or else rmw_zenoh's defaults; `ZENOH_CONFIG_OVERRIDE` and
/// then the command line replace single settings. The error is the reason, as a sentence.
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
