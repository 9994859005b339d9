//! ROS arguments: the arguments of a program between `--ros-args` and `--`.
//!
//! The syntax follows the ROS 2 design article "ROS Command Line Arguments" as rcl implements it (`arguments.c`, 9.2).
//! Each list that rcl accepts is accepted, even if one of its arguments has no effect in Gantry.

use super::{
    names,
    remap::{self, misunderstood},
};
use crate::{error::Result, parameter::ParameterArguments};

const BEGIN: &str = "--ros-args";
const END: &str = "--";
/// The flags that a value follows.
const WITH_VALUE: [&str; 10] = [
    "-r",
    "--remap",
    "-p",
    "--param",
    "--params-file",
    "-e",
    "--enclave",
    "--log-level",
    "--log-config-file",
    "--log-file-name",
];
/// The severities of ROS 2.
const LEVELS: [&str; 6] = ["unset", "debug", "info", "warn", "error", "fatal"];

/// The ROS arguments of a program or a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RosArguments {
    /// Remapping rules, `from:=to`. The first rule that matches a name is applied.
    pub(crate) remappings: Vec<String>,
    /// Values of parameters.
    pub(crate) parameters: ParameterArguments,
    /// `--log-level`. A later level for the same logger replaces an earlier one.
    pub(crate) log_levels: Vec<LogLevelArgument>,
    /// `--enable-rosout-logs` or `--disable-rosout-logs`.
    pub(crate) rosout_logs: Option<bool>,
    /// `--enable-stdout-logs` or `--disable-stdout-logs`.
    pub(crate) stdout_logs: Option<bool>,
    /// Accepted arguments without effect, with their values.
    pub(crate) unused: Vec<String>,
    /// The remapping rules outside `--ros-args`. rcl applies such rules but calls them deprecated. `remappings` also
    /// contains them.
    pub(crate) deprecated: Vec<String>,
}

/// `--log-level LEVEL` or `--log-level LOGGER:=LEVEL`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LogLevelArgument {
    /// The logger, such as `ns.node` for a node; `None` for all loggers that have no level of their own.
    pub(crate) logger: Option<String>,
    /// One of ROS 2's severities, in small letters; "unset" stands for the default.
    pub(crate) level: String,
}

/// An argument of a program.
enum Argument<'a> {
    Ros(&'a str, Option<&'a str>),
    /// A remapping rule outside `--ros-args`.
    Rule(&'a str),
    Other(&'a str),
}

impl RosArguments {
    /// Finds the ROS arguments among a program's arguments.
    ///
    /// # Errors
    /// rcl does not accept a ROS argument; a parameter file cannot be read.
    pub(crate) fn parse(arguments: &[String]) -> Result<RosArguments> {
        let mut parsed = RosArguments::default();
        for argument in read(arguments) {
            match argument {
                Argument::Ros(flag, value) => parsed.add(flag, value)?,
                Argument::Rule(rule) => {
                    parsed.remappings.push(rule.to_owned());
                    parsed.deprecated.push(rule.to_owned());
                }
                Argument::Other(_) => {}
            }
        }
        Ok(parsed)
    }

    fn add(&mut self, flag: &str, value: Option<&str>) -> Result<()> {
        let value_of = |what: &str| value.ok_or_else(|| misunderstood(flag, &format!("{what} must follow it")));
        match flag {
            "-r" | "--remap" => {
                let rule = value_of("a rule, as from:=to,")?;
                remap::parse(rule)?;
                self.remappings.push(rule.to_owned());
            }
            "-p" | "--param" => self.add_parameter(value_of("a parameter, as name:=value,")?)?,
            "--params-file" => self.parameters.add_file(value_of("a path")?.as_ref())?,
            "--log-level" => self.log_levels.push(log_level(value_of("a level, as info or logger:=info,")?)?),
            "-e" | "--enclave" => {
                let enclave = value_of("the name of an enclave")?;
                check_enclave(enclave)?;
                self.unused.push(format!("{flag} {enclave}"));
            }
            "--log-config-file" | "--log-file-name" => self.unused.push(format!("{flag} {}", value_of("a name")?)),
            "--enable-rosout-logs" => self.rosout_logs = Some(true),
            "--disable-rosout-logs" => self.rosout_logs = Some(false),
            "--enable-stdout-logs" => self.stdout_logs = Some(true),
            "--disable-stdout-logs" => self.stdout_logs = Some(false),
            "--enable-external-lib-logs" | "--disable-external-lib-logs" => self.unused.push(flag.to_owned()),
            _ => {
                let why = format!(
                    "ROS 2 has no such argument; the arguments between {BEGIN} and {END} are -r (--remap), -p \
                     (--param), --params-file, -e (--enclave), --log-level, --log-config-file, --log-file-name, and \
                     --enable- and --disable- of rosout-logs, stdout-logs and external-lib-logs; put the program's own \
                     arguments before {BEGIN}"
                );
                return Err(misunderstood(flag, &why));
            }
        }
        Ok(())
    }

    fn add_parameter(&mut self, text: &str) -> Result<()> {
        let broken = |why: &str| misunderstood(text, why);
        let Some((name, yaml)) = text.split_once(":=") else {
            return Err(broken("a parameter is name:=value or node:name:=value"));
        };
        let (node, name) = name.split_once(':').map_or((None, name), |(node, name)| (Some(node), name));
        if node.is_some_and(|node| !remap::is_rule_word(node)) {
            return Err(broken("the text before the colon must be the name of a node, without a namespace"));
        }
        // As in rcl's lexer, a part between dots may contain slashes. No piece between slashes may begin with `__`,
        // which is reserved for names such as `__node`.
        let is_piece = |piece: &str| piece.is_empty() || names::is_word(piece) && !piece.starts_with("__");
        let is_part = |part: &str| !part.is_empty() && part.split('/').all(is_piece);
        if !name.split('.').all(is_part) {
            return Err(broken(
                "the parameter's name has letters, digits, underscores and slashes, no digit first, and dots \
                               between its parts",
            ));
        }
        if yaml.is_empty() {
            return Err(broken("the parameter has no value"));
        }
        self.parameters.add_value(node, name, yaml)
    }
}

/// Returns the arguments for the program's own parser: without the arguments from `--ros-args` to `--`, and without
/// remapping rules elsewhere (as `rclcpp::remove_ros_arguments`).
///
/// ```
/// let all = ["talker", "--rate", "5", "--ros-args", "-r", "chatter:=news"].map(str::to_owned);
/// assert_eq!(gantry::remove_ros_arguments(all), ["talker", "--rate", "5"]);
/// ```
#[must_use]
pub fn remove_ros_arguments(arguments: impl IntoIterator<Item = String>) -> Vec<String> {
    let arguments: Vec<String> = arguments.into_iter().collect();
    let others = read(&arguments).filter_map(|argument| match argument {
        Argument::Other(other) => Some(other.to_owned()),
        Argument::Ros(..) | Argument::Rule(_) => None,
    });
    others.collect()
}

fn read(arguments: &[String]) -> impl Iterator<Item = Argument<'_>> {
    let (mut arguments, mut is_ros) = (arguments.iter().map(String::as_str), false);
    std::iter::from_fn(move || {
        loop {
            return Some(match arguments.next()? {
                BEGIN => {
                    is_ros = true;
                    continue;
                }
                END if is_ros => {
                    is_ros = false;
                    continue;
                }
                flag if is_ros => Argument::Ros(flag, WITH_VALUE.contains(&flag).then(|| arguments.next()).flatten()),
                rule if remap::parse(rule).is_ok() => Argument::Rule(rule),
                other => Argument::Other(other),
            });
        }
    })
}

fn log_level(text: &str) -> Result<LogLevelArgument> {
    let (logger, level) = text.split_once(":=").map_or((None, text), |(logger, level)| (Some(logger), level));
    if logger == Some("") {
        return Err(misunderstood(text, "the logger's name is empty"));
    }
    let level = level.to_ascii_lowercase();
    if !LEVELS.contains(&level.as_str()) {
        return Err(misunderstood(text, &format!("a level is {}", LEVELS.join(", "))));
    }
    Ok(LogLevelArgument { logger: logger.map(str::to_owned), level })
}

fn check_enclave(enclave: &str) -> Result<()> {
    if !enclave.starts_with('/') {
        return Err(misunderstood(enclave, "an enclave's name begins with a slash"));
    }
    names::full_namespace(enclave).map(drop).map_err(|error| misunderstood(enclave, &error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::remap::NameKind;

    /// A parameter file; the path is relative to the crate's directory.
    const FILE: &str = "tests/rcl/parameters.yaml";

    fn list(arguments: &str) -> Vec<String> {
        arguments.split(' ').map(str::to_owned).collect()
    }

    fn parse(arguments: &str) -> std::result::Result<RosArguments, String> {
        RosArguments::parse(&list(arguments)).map_err(|error| error.to_string())
    }

    /// Argument lists that rclpy 7.1 (librcl 9.2.8) accepts. Each entry has the results for a node `talker` in `/ns`:
    /// the node's name, the full names of the topic `chatter`, of the service `chatter` and of the topic `~/chatter`,
    /// and the remaining arguments.
    #[test]
    fn lists_that_rcl_accepts_mean_the_same() {
        for line in include_str!("../../tests/rcl/accepted_arguments.txt").lines() {
            let [arguments, node, topic, service, private, others] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            let parsed = parse(&arguments.replace("p.yaml", FILE)).unwrap_or_else(|why| panic!("{arguments}: {why}"));
            let names = remap::Remapped::new("talker", "/ns", &parsed.remappings).unwrap();
            let resolve = |kind, name| names.resolve(kind, name).unwrap();
            assert_eq!(names.fully_qualified_name(), node, "{arguments}");
            assert_eq!(resolve(NameKind::Topic, "chatter"), topic, "{arguments}");
            assert_eq!(resolve(NameKind::Service, "chatter"), service, "{arguments}");
            assert_eq!(resolve(NameKind::Topic, "~/chatter"), private, "{arguments}");
            assert_eq!(remove_ros_arguments(list(arguments)).join(" "), others, "{arguments}");
        }
    }

    /// Argument lists that rclpy 7.1 (librcl 9.2.8) refuses, among them lists with files that do not exist and
    /// values that are not YAML.
    #[test]
    fn lists_that_rcl_refuses_are_refused() {
        for arguments in include_str!("../../tests/rcl/refused_arguments.txt").lines() {
            assert!(parse(arguments).is_err(), "{arguments}");
        }
    }

    #[test]
    fn arguments_are_kept_in_their_order() {
        let parsed = parse(
            "x --rate 5 --ros-args -p rate:=5 --params-file tests/rcl/parameters.yaml -p talker:a.b/c:='x' --log-level WARN --log-level \
             ns.talker:=info -e /safe --disable-rosout-logs -- -p 5 --ros-args --enable-stdout-logs -p rate:=:=",
        )
        .unwrap();
        let values = parsed.parameters.for_node("/talker");
        let values: Vec<_> = values.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(values, ["a.b/c=\"x\"", "rate=\":=\""]);
        let level = |logger: Option<&str>, level: &str| LogLevelArgument {
            logger: logger.map(str::to_owned),
            level: level.to_owned(),
        };
        assert_eq!(parsed.log_levels, [level(None, "warn"), level(Some("ns.talker"), "info")]);
        assert_eq!((parsed.rosout_logs, parsed.stdout_logs), (Some(false), Some(true)));
        assert_eq!(parsed.unused, ["-e /safe"]);
    }

    #[test]
    fn rules_outside_are_applied_and_called_deprecated() {
        let parsed = parse("x a:=b --ros-args -r c:=d").unwrap();
        assert_eq!((parsed.remappings, parsed.deprecated), (list("a:=b c:=d"), list("a:=b")));
    }

    #[test]
    fn a_refusal_says_what_is_wrong() {
        for (arguments, why) in [
            ("--ros-args -r", "\"-r\" cannot be used: a rule, as from:=to, must follow it"),
            ("--ros-args -p rate=5", "name:=value"),
            ("--ros-args --log-level loud", "a level is unset, debug"),
            ("--ros-args --rate 5", "\"--rate\" cannot be used: ROS 2 has no such argument"),
            ("--ros-args -p x:=[1,", "the parameters of -p x:=[1, cannot be used: "),
            ("--ros-args --params-file missing.yaml", "missing.yaml cannot be used: it cannot be read"),
            ("--ros-args -e safe", "begins with a slash"),
        ] {
            let sentence = parse(arguments).unwrap_err();
            assert!(sentence.contains(why), "{sentence}");
        }
    }

    /// The results are the same as with `rclpy.utilities.remove_ros_args`.
    #[test]
    fn ros_arguments_are_removed() {
        for (arguments, others) in [
            ("x --rate 5", "x --rate 5"),
            ("x --ros-args -r a:=b --log-level info", "x"),
            ("x -a --ros-args -r a:=b -- -r b:=c -z --ros-args -p -- -- --ros-args", "x -a -r -z"),
            ("x chatter:=news x=1 --define=a:=b", "x x=1 --define=a:=b"),
            ("x --ros-args --log-file-name -- -r a:=b -- y", "x y"),
        ] {
            assert_eq!(remove_ros_arguments(list(arguments)), list(others), "{arguments}");
        }
    }
}
