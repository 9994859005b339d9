//! Commands of `ros2` that `gantry` does not have. An error sentence names the program to use instead.

use clap::error::{ContextKind, ContextValue, Error};

/// The commands, each with a sentence about the missing feature and the program to use.
const COMMANDS: [(&str, &str); 10] = [
    ("action", "Gantry's nodes have no actions yet; `ros2 action` shows the actions of ROS 2 programs over rmw_gantry"),
    ("component", "Gantry has no component containers; a program creates all its nodes itself"),
    ("daemon", "Gantry needs no daemon, because each command reads the graph from shared memory"),
    ("launch", "`gantry` does not start programs; use a shell script, or `ros2 launch` with ExecuteProcess"),
    (
        "lifecycle",
        "Gantry's nodes have no life cycle yet; `ros2 lifecycle` shows the life cycle of ROS 2 nodes over rmw_gantry",
    ),
    (
        "multicast",
        "Gantry uses no multicast: `gantry doctor` looks at the shared memory, and `gantry bridge status` at a network",
    ),
    ("pkg", "programs of Gantry are not ROS packages; `cargo metadata` lists the packages of a Rust program"),
    ("run", "`gantry` does not start programs; start the program itself, or use `cargo run`"),
    ("security", "Gantry has no enclaves; the permissions of the shared memory exclude other users"),
    ("wtf", "use `gantry doctor`, which reports problems"),
];

/// The error sentence for a command of `ros2` that `gantry` does not have; `None` for other errors. `commands` are the
/// existing commands, and `arguments` are the arguments of the program.
pub fn sentence(error: &Error, mut arguments: impl Iterator<Item = String>, commands: &[&str]) -> Option<String> {
    let Some(ContextValue::String(wrong)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let (command, why) = COMMANDS.into_iter().find(|(command, _)| command == wrong)?;
    // In `gantry topic run`, `run` is a wrong command of `topic`, not of `gantry`.
    let first = arguments.find(|argument| argument == wrong || commands.contains(&argument.as_str()))?;
    (first == *wrong).then(|| format!("`gantry` has no command `{command}`: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::Parser;

    fn said(line: &str) -> Option<String> {
        let error = Cli::try_parse_from(line.split(' ')).expect_err(line);
        sentence(&error, line.split(' ').map(str::to_owned), &["topic", "node", "doctor"])
    }

    #[test]
    fn a_command_of_ros_2_that_is_missing_is_named_with_a_remedy() {
        for (line, part) in [
            ("gantry multicast send", "`gantry` has no command `multicast`: Gantry uses no multicast"),
            ("gantry --domain-id 3 action list", "`gantry` has no command `action`: "),
            ("gantry run demo talker", "start the program itself"),
            ("gantry launch robot.py", "a shell script"),
            ("gantry lifecycle nodes", "`ros2 lifecycle`"),
        ] {
            assert!(said(line).is_some_and(|sentence| sentence.contains(part)), "{line}");
        }
        for line in ["gantry topic run", "gantry topics", "gantry topic"] {
            assert_eq!(said(line), None, "{line}");
        }
    }
}
