//! QoS profiles in rosbag2's YAML. Policies are written as words, as rosbag2 does since Jazzy (metadata version 9).
//! When they are read, the numbers of older bags are accepted as well.

use gantry::{Durability, History, Liveliness, Qos, Reliability};
use saphyr::{LoadableYamlNode, Yaml};
use std::{fmt::Write, time::Duration};

/// `RMW_DURATION_INFINITE`.
const INFINITE: Duration = Duration::new(9_223_372_036, 854_775_807);

/// Writes the profiles as a YAML list. Each line begins with `indent`.
pub(super) fn to_yaml(profiles: &[Qos], indent: &str) -> String {
    let mut text = String::new();
    for qos in profiles {
        let (history, depth) = match qos.history {
            History::KeepLast => ("keep_last", qos.depth),
            History::KeepAll => ("keep_all", 0),
        };
        let reliability = match qos.reliability {
            Reliability::Reliable => "reliable",
            Reliability::BestEffort => "best_effort",
        };
        let durability = match qos.durability {
            Durability::Volatile => "volatile",
            Durability::TransientLocal => "transient_local",
        };
        let liveliness = match qos.liveliness {
            Liveliness::Automatic => "automatic",
            Liveliness::ManualByTopic => "manual_by_topic",
        };
        let time = |limit: Option<Duration>| {
            let limit = limit.map_or(INFINITE, |limit| limit.min(INFINITE));
            format!("{indent}    sec: {}\n{indent}    nsec: {}\n", limit.as_secs(), limit.subsec_nanos())
        };
        let _ = write!(
            text,
            "{indent}- history: {history}\n{indent}  depth: {depth}\n{indent}  reliability: {reliability}\n\
             {indent}  durability: {durability}\n{indent}  deadline:\n{}{indent}  lifespan:\n{}\
             {indent}  liveliness: {liveliness}\n{indent}  liveliness_lease_duration:\n{}\
             {indent}  avoid_ros_namespace_conventions: {}\n",
            time(qos.deadline),
            time(qos.lifespan),
            time(qos.liveliness_lease_duration),
            qos.avoid_ros_namespace_conventions,
        );
    }
    text
}

/// Reads the profiles of a YAML list. The result is empty if the text is no list. A missing or unknown policy gets its
/// default.
pub(super) fn from_yaml(text: &str) -> Vec<Qos> {
    let documents = Yaml::load_from_str(text).unwrap_or_default();
    let list = documents.first().and_then(Yaml::as_sequence);
    list.map(|list| list.iter().map(profile).collect()).unwrap_or_default()
}

fn profile(node: &Yaml<'_>) -> Qos {
    // The numbers are defined in `rmw/types.h`.
    let is = |key: &str, word: &str, number: i64| {
        let value = node.as_mapping_get(key);
        value.is_some_and(|value| value.as_str() == Some(word) || value.as_integer() == Some(number))
    };
    let time = |key: &str| {
        let part = |part: &str| {
            let number = node.as_mapping_get(key).and_then(|time| time.as_mapping_get(part)).and_then(Yaml::as_integer);
            u64::try_from(number.unwrap_or_default()).unwrap_or_default()
        };
        let limit = Duration::from_secs(part("sec")).saturating_add(Duration::from_nanos(part("nsec")));
        // Infinity has other values in older distributions with Fast DDS or Cyclone DDS. All of them are longer than 68
        // years.
        (!limit.is_zero() && limit < Duration::from_secs(1 << 31).min(INFINITE)).then_some(limit)
    };
    let default = Qos::default();
    let depth = node.as_mapping_get("depth").and_then(Yaml::as_integer).and_then(|depth| u32::try_from(depth).ok());
    Qos {
        history: if is("history", "keep_all", 2) { History::KeepAll } else { History::KeepLast },
        depth: depth.filter(|depth| (1..=gantry_shm::MAX_DEPTH).contains(depth)).unwrap_or(default.depth),
        reliability: match is("reliability", "best_effort", 2) {
            true => Reliability::BestEffort,
            false => Reliability::Reliable,
        },
        durability: match is("durability", "transient_local", 1) {
            true => Durability::TransientLocal,
            false => Durability::Volatile,
        },
        deadline: time("deadline"),
        lifespan: time("lifespan"),
        liveliness: match is("liveliness", "manual_by_topic", 3) {
            true => Liveliness::ManualByTopic,
            false => Liveliness::Automatic,
        },
        liveliness_lease_duration: time("liveliness_lease_duration"),
        avoid_ros_namespace_conventions: node
            .as_mapping_get("avoid_ros_namespace_conventions")
            .and_then(Yaml::as_bool)
            .unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_read_as_they_were_written() {
        let limits = Qos::default().deadline(Duration::from_millis(20)).lifespan(Duration::from_secs(3));
        let manual = Qos::sensor_data().liveliness(Liveliness::ManualByTopic).transient_local();
        let profiles = [limits, manual.liveliness_lease_duration(Duration::new(1, 5)), Qos::default().keep_last(7)];
        assert_eq!(from_yaml(&to_yaml(&profiles, "")), profiles);
        let kept_all = &from_yaml(&to_yaml(&[Qos::default().keep_all()], "  "))[0];
        assert_eq!((kept_all.history, kept_all.deadline), (History::KeepAll, None));
    }

    #[test]
    fn numbers_of_older_bags_are_read() {
        let text = "- history: 3\n  depth: 0\n  reliability: 2\n  durability: 1\n  deadline:\n    sec: 2147483647\n    \
                    nsec: 4294967295\n  lifespan:\n    sec: 0\n    nsec: 0\n  liveliness: 1\n";
        assert_eq!(from_yaml(text), [Qos::default().best_effort().transient_local()]);
        assert_eq!(from_yaml("nothing: here"), []);
        assert_eq!(from_yaml("\"unclosed"), []);
    }
}
