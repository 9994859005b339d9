//! The description of a middleware: its version, and the settings that its users may choose.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::capabilities::Capabilities;

/// The value of each setting, with the setting's name as the key.
pub type Settings = BTreeMap<String, String>;

/// The description of a middleware; worker programs print it as JSON (`describe`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// The version of the middleware.
    pub version: String,
    /// The capabilities of the middleware.
    pub capabilities: Capabilities,
    /// The settings of the middleware.
    pub settings: Vec<Setting>,
}

/// A setting of a middleware.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// The name of the setting for `--set`.
    pub name: String,
    /// The values of the setting, the default first. A single value is always in effect.
    pub values: Vec<String>,
    /// The value that the middleware's documentation recommends for low latency; `None` if the default is recommended.
    #[serde(default)]
    pub best: Option<String>,
    /// The meaning of the setting, without a full stop.
    pub meaning: String,
}

impl Setting {
    /// Creates a setting with these values, the default first.
    #[must_use]
    pub fn new(name: &str, values: &[&str], meaning: &str) -> Setting {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        Setting { name: name.to_owned(), values, best: None, meaning: meaning.to_owned() }
    }

    /// Adds the value that the middleware's documentation recommends for low latency.
    #[must_use]
    pub fn best(self, value: &str) -> Setting {
        Setting { best: Some(value.to_owned()), ..self }
    }
}

impl Description {
    /// The setting with the name `name`.
    #[must_use]
    pub fn setting(&self, name: &str) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.name == name)
    }

    /// The recommended value of each setting whose recommended value is not the default.
    #[must_use]
    pub fn best(&self) -> Settings {
        let best = |setting: &Setting| Some((setting.name.clone(), setting.best.clone()?));
        self.settings
            .iter()
            .filter(|setting| setting.best.as_ref() != setting.values.first())
            .filter_map(best)
            .collect()
    }

    /// The value of each setting of `middleware`: the requested value, or the default if none was requested.
    ///
    /// # Errors
    /// The reason, as a sentence, if a setting or its value does not exist. The sentence names the settings or
    /// values that exist.
    pub fn resolve(&self, middleware: &str, requested: &Settings) -> Result<Settings, String> {
        for (name, value) in requested {
            let Some(setting) = self.setting(name) else {
                let names: Vec<&str> = self.settings.iter().map(|setting| setting.name.as_str()).collect();
                let there =
                    if names.is_empty() { "it has none".to_owned() } else { format!("it has {}", names.join(", ")) };
                return Err(format!("{middleware} has no setting `{name}`: {there}"));
            };
            if !setting.values.contains(value) {
                let values = setting.values.join(", ");
                return Err(format!("the setting {name} of {middleware} cannot be `{value}`: it has {values}"));
            }
        }
        let value = |setting: &Setting| {
            let value = requested.get(&setting.name).or(setting.values.first());
            Some((setting.name.clone(), value?.clone()))
        };
        Ok(self.settings.iter().filter_map(value).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_have_their_defaults_and_only_declared_values() {
        let description = Description {
            version: "1".to_owned(),
            capabilities: Capabilities::all(),
            settings: vec![Setting::new("transport", &["udp", "shm"], ""), Setting::new("participants", &["one"], "")],
        };
        let of = |pairs: &[(&str, &str)]| -> Settings {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        assert_eq!(description.resolve("X", &of(&[])), Ok(of(&[("participants", "one"), ("transport", "udp")])));
        let shm = of(&[("transport", "shm")]);
        assert_eq!(description.resolve("X", &shm), Ok(of(&[("participants", "one"), ("transport", "shm")])));
        let sentence = description.resolve("X", &of(&[("transport", "tcp")])).unwrap_err();
        assert_eq!(sentence, "the setting transport of X cannot be `tcp`: it has udp, shm");
        let sentence = description.resolve("X", &of(&[("threads", "2")])).unwrap_err();
        assert_eq!(sentence, "X has no setting `threads`: it has transport, participants");
    }
}
