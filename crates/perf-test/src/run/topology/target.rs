//! Targets: limits of CPU, memory and latency for a topology's run. A target is a file in iRobot's format, or the name
//! of a target that comes with the tool.
//!
//! Source: irobot-ros/ros2-performance (`irobot_benchmark/performance_target`) has the format and the limits. As there,
//! a figure that equals its limit meets the limit.

use std::path::Path;

use serde_json::{Map, Value};

use crate::{
    common::{no_key, verdict::Verdict},
    log::{
        Summary,
        figures::{CPU, Figure, LATE, LATE_COUNT, LOST, LOST_PERCENT, MEAN, PEAK_MEMORY, TOO_LATE, TOO_LATE_COUNT},
    },
    measure::percentiles::MIN_TAIL_SAMPLES,
};
use perf_worker::nearest::nearest;

/// The targets that come with the tool.
const NAMED: [(&str, &str); 2] = [
    ("sierra_nevada", include_str!("../../../targets/sierra_nevada.json")),
    ("mont_blanc", include_str!("../../../targets/mont_blanc.json")),
];
/// The suffix of the file names of iRobot's targets. The user may give the name of a target with or without it.
const PLATFORM: &str = "_rpi3";
/// The keys that only describe a target and set no limit.
const DESCRIPTIONS: [&str; 4] = ["topology_file", "platform", "additional_options", "comments"];
/// The name of the section with limits for messages.
const MESSAGES: &str = "latency_total";
/// The sections of a target with their figures. Each figure has two keys: as in iRobot's old file headers, and as in
/// the new headers.
const SECTIONS: [(&str, &[LimitedFigure]); 2] = [
    (
        "resources",
        &[
            LimitedFigure {
                keys: ["cpu[%]", "cpu_perc"],
                name: "CPU of all processes",
                unit: "% of all cores",
                figure: &CPU,
                divisor: |run| run.cores.max(1) as f64,
            },
            limited(["rss[KB]", "rss_KB"], "peak resident memory of all processes", "KiB", &PEAK_MEMORY),
        ],
    ),
    (
        MESSAGES,
        &[
            LimitedFigure { divisor: |_| 1000.0, ..limited(["mean[us]", "mean_us"], "mean latency", "µs", &MEAN) },
            limited(["late[#]", "late_msgs"], "late messages", "", &LATE_COUNT),
            limited(["late[%]", "late_perc"], "late messages", "%", &LATE),
            limited(["too_late[#]", "too_late_msgs"], "too late messages", "", &TOO_LATE_COUNT),
            limited(["too_late[%]", "too_late_perc"], "too late messages", "%", &TOO_LATE),
            limited(["lost[#]", "lost_msgs"], "lost and overwritten messages", "", &LOST),
            limited(["lost[%]", "lost_perc"], "lost and overwritten messages", "%", &LOST_PERCENT),
        ],
    ),
];

/// A figure that can have a limit, with iRobot's keys and unit.
#[derive(Debug)]
struct LimitedFigure {
    keys: [&'static str; 2],
    name: &'static str,
    unit: &'static str,
    figure: &'static Figure,
    /// The divisor that converts the figure's value into `unit`.
    divisor: fn(&Summary) -> f64,
}

const fn limited(
    keys: [&'static str; 2],
    name: &'static str,
    unit: &'static str,
    figure: &'static Figure,
) -> LimitedFigure {
    LimitedFigure { keys, name, unit, figure, divisor: |_| 1.0 }
}

/// The limits of one target.
#[derive(Clone, Debug)]
pub struct Target {
    /// The file or name that the user gave.
    name: String,
    /// The machine for which the limits are meant; empty if the file does not mention one.
    platform: String,
    /// The topology for which the limits are meant, without folder and extension; empty if the file does not mention
    /// one.
    topology: String,
    limits: Vec<Limit>,
}

/// A limit: the largest value of a figure that meets the target.
#[derive(Clone, Debug)]
struct Limit {
    figure: &'static LimitedFigure,
    value: f64,
    /// Whether the figure counts messages. The figure is incomplete if a subscription ended before it reported all
    /// messages.
    of_messages: bool,
}

impl Target {
    /// Reads a target from the file `source`. If there is no such file, `source` is the name of a target.
    ///
    /// # Errors
    /// The reason, as a sentence, with the file and the faulty key or position.
    pub fn read(source: &str) -> Result<Target, String> {
        match std::fs::read_to_string(source) {
            Ok(text) => Target::of_text(source, &text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let asked = source.strip_suffix(PLATFORM).unwrap_or(source);
                let found = NAMED.iter().find(|(name, _)| *name == asked);
                let (name, text) = found.ok_or_else(|| {
                    let near = nearest(asked, NAMED.iter().map(|(name, _)| *name));
                    let near = near.map_or(String::new(), |name| format!("; the nearest name is `{name}`"));
                    let names = NAMED.map(|(name, _)| name).join(" and ");
                    format!(
                        "there is neither a file nor a target `{source}`{near}. Targets come with the tool for {names}"
                    )
                })?;
                Target::of_text(name, text)
            }
            Err(error) => Err(format!("{source}: it cannot be read: {error}")),
        }
    }

    /// Parses the text of the target file `name`.
    ///
    /// # Errors
    /// See [`Target::read`].
    fn of_text(name: &str, text: &str) -> Result<Target, String> {
        let value: Map<String, Value> = serde_json::from_str(text).map_err(|error| format!("{name}: {error}"))?;
        let of = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
        let topology = Path::new(of("topology_file")).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (platform, mut limits) = (of("platform").to_owned(), Vec::new());
        for (key, section) in &value {
            match SECTIONS.iter().find(|(name, _)| name == key) {
                Some((_, figures)) => limits.extend(limits_of(name, key, section, figures)?),
                None if DESCRIPTIONS.contains(&key.as_str()) => {}
                None => return Err(unknown(name, key, SECTIONS.iter().map(|(name, _)| *name).chain(DESCRIPTIONS))),
            }
        }
        if limits.is_empty() {
            return Err(format!("{name}: it has no limit: give `resources` or `latency_total` with at least one"));
        }
        Ok(Target { name: name.to_owned(), platform, topology, limits })
    }

    /// Judges a summary: one verdict for each limit.
    #[must_use]
    pub fn judge(&self, summary: &Summary) -> Vec<Verdict> {
        let unreported = summary.unreported();
        let verdict =
            |Limit { figure: LimitedFigure { name, unit, figure, divisor, .. }, value: limit, of_messages }: &Limit| {
                let found = figure.value(summary).map(|value| value / divisor(summary));
                let with_unit = |value: f64| format!("{} {unit}", plain(value)).trim_end().to_owned();
                let missing = if *of_messages { unreported } else { 0 };
                let note = if missing > 0 { format!(", {missing} unreported") } else { String::new() };
                Verdict {
                    requirement: format!("{name} <= {}", with_unit(*limit)),
                    met: summary.failure.is_none() && missing == 0 && found.is_some_and(|found| found <= *limit),
                    found: found.map_or_else(|| "not known".to_owned(), with_unit) + &note,
                }
            };
        self.limits.iter().map(verdict).collect()
    }

    /// The table of verdicts as lines of text.
    #[must_use]
    pub fn lines(&self, topology: &str, summary: &Summary) -> Vec<String> {
        let verdicts = &summary.requirements;
        let platform = if self.platform.is_empty() { String::new() } else { format!(", limits for {}", self.platform) };
        let mut lines = vec![String::new(), format!("target {}{platform}:", self.name)];
        let of = |which: fn(&Verdict) -> &String| verdicts.iter().map(|verdict| which(verdict).chars().count()).max();
        let (wide, found) =
            (of(|verdict| &verdict.requirement).unwrap_or(0), of(|verdict| &verdict.found).unwrap_or(0));
        lines.extend(verdicts.iter().map(|Verdict { requirement, met, found: value }| {
            format!("  {requirement:<wide$}  {value:>found$}  {}", if *met { "met" } else { "NOT met" })
        }));
        if !self.topology.is_empty() && self.topology != topology {
            lines.push(format!("  these limits are meant for the topology {}", self.topology));
        }
        let few = summary.total.received.samples as f64 * self.smallest_part() < MIN_TAIL_SAMPLES;
        if few {
            lines.push("  a percentage of so few messages is decided by single ones: run longer (-t)".to_owned());
        }
        lines
    }

    /// The smallest limit that is a percentage, as a fraction from 0 to 1; 1 if there is no such limit.
    fn smallest_part(&self) -> f64 {
        let parts = self.limits.iter().filter(|limit| limit.figure.unit == "%" && limit.value > 0.0);
        parts.map(|limit| limit.value / 100.0).fold(1.0, f64::min)
    }
}

fn limits_of(
    name: &str,
    section_key: &str,
    section: &Value,
    figures: &'static [LimitedFigure],
) -> Result<Vec<Limit>, String> {
    let place = format!("{name}: {section_key}");
    let Value::Object(section) = section else { return Err(format!("{place}: the value is not an object")) };
    let of_messages = section_key == MESSAGES;
    let mut limits = Vec::new();
    for (key, value) in section {
        let keys = figures.iter().flat_map(|figure| figure.keys);
        let found = figures.iter().find(|figure| figure.keys.contains(&key.as_str()));
        let figure = found.ok_or_else(|| unknown(&place, key, keys))?;
        let limit = value.as_f64().filter(|limit| *limit >= 0.0);
        let limit = limit.ok_or_else(|| format!("{place}: {key}: {value} is not a limit: give a number from 0 on"))?;
        limits.push(Limit { figure, value: limit, of_messages });
    }
    Ok(limits)
}

fn unknown<'a>(place: &str, key: &str, known: impl Iterator<Item = &'a str>) -> String {
    format!("{place}: {}", no_key(key, &known.collect::<Vec<&str>>()))
}

/// A number with at most three digits behind the point.
fn plain(value: f64) -> String {
    ((value * 1000.0).round() / 1000.0).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        log::SubscriptionEntry,
        report::summary::tests::{subscription_entry, summary},
    };

    fn verdicts(text: &str, run: &Summary) -> Vec<(String, bool, String)> {
        let verdicts = Target::of_text("target", text).unwrap().judge(run);
        verdicts.into_iter().map(|Verdict { requirement, met, found }| (requirement, met, found)).collect()
    }

    #[test]
    fn each_limit_has_its_verdict_and_its_equal_is_within_it() {
        // CPU: 9 % of one core, with two cores. Memory: 120 000 KiB. Late: 57 of 3000 messages.
        let mut run = summary("", 1_000_000);
        (run.total.received.late, run.lost) = (57, 1);
        let text = r#"{ "resources": { "cpu[%]": 4.5, "rss_KB": 119999 }, "latency_total": { "late[%]": 1.9, "lost[#]": 0, "mean_us": 1000 } }"#;
        let expected = [
            ("CPU of all processes <= 4.5 % of all cores", true, "4.5 % of all cores"),
            ("peak resident memory of all processes <= 119999 KiB", false, "120000 KiB"),
            ("late messages <= 1.9 %", true, "1.9 %"),
            ("lost and overwritten messages <= 0", false, "1"),
            ("mean latency <= 1000 µs", true, "1000 µs"),
        ];
        let mut found = verdicts(text, &run);
        found.sort();
        let mut expected = expected.map(|(name, met, value)| (name.to_owned(), met, value.to_owned())).to_vec();
        expected.sort();
        assert_eq!(found, expected);
        // The process of a subscription was killed, so the number of late or lost messages is unknown.
        let killed = SubscriptionEntry { sent: 1010, ..subscription_entry(0, 0, 0) };
        run.subscriptions = vec![killed];
        (run.total.received.late, run.lost) = (0, 0);
        let of_killed = verdicts(text, &run);
        let met: Vec<&str> = of_killed.iter().filter(|(_, met, _)| *met).map(|(name, ..)| name.as_str()).collect();
        assert_eq!(met, ["CPU of all processes <= 4.5 % of all cores"]);
        assert!(of_killed.contains(&(
            "lost and overwritten messages <= 0".to_owned(),
            false,
            "0, 10 unreported".to_owned()
        )));
        // A failed run meets no limit.
        run.failure = Some("none of the publishers finished the run".to_owned());
        assert!(verdicts(text, &run).iter().all(|(_, met, _)| !met));
    }

    #[test]
    fn the_targets_that_come_with_the_tool_have_irobots_limits() {
        for (name, cpu, rss) in [("sierra_nevada", 15, 10240), ("mont_blanc_rpi3", 20, 20480)] {
            let target = Target::read(name).unwrap();
            let found: Vec<String> =
                target.judge(&summary("", 1000)).into_iter().map(|verdict| verdict.requirement).collect();
            let mut expected = [
                format!("CPU of all processes <= {cpu} % of all cores"),
                format!("peak resident memory of all processes <= {rss} KiB"),
                "late messages <= 1.9 %".to_owned(),
                "too late messages <= 0.1 %".to_owned(),
                "lost and overwritten messages <= 0 %".to_owned(),
            ];
            let mut found = found;
            found.sort();
            expected.sort();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_wrong_target_is_refused_with_its_place() {
        for (text, words) in [
            ("{", "target: EOF"),
            ("{}", "it has no limit"),
            (r#"{ "resource": {} }"#, "there is no key `resource` here; the nearest is `resources`"),
            (r#"{ "resources": { "cpu": 1 } }"#, "target: resources: there is no key `cpu` here"),
            (r#"{ "resources": { "cpu[%]": "much" } }"#, "cpu[%]: \"much\" is not a limit"),
            (r#"{ "latency_total": [] }"#, "target: latency_total: the value is not an object"),
        ] {
            let sentence = Target::of_text("target", text).unwrap_err();
            assert!(sentence.contains(words), "{sentence}");
        }
        let sentence = Target::read("sierra_navada").unwrap_err();
        assert!(sentence.contains("the nearest name is `sierra_nevada`"), "{sentence}");
    }
}
