//! Runs a child process of a test with a small file system.

use crate::peer::this_program;
use std::{
    path::Path,
    process::{Command, Output},
};

/// Returns a command that runs this program with these arguments in a new mount namespace. There, a tmpfs of 64 MB is
/// mounted at `directory`.
#[must_use]
pub fn in_small_tmpfs(directory: &Path, arguments: &[&str]) -> Command {
    let mut program = this_program();
    program.extend(arguments.iter().map(|&argument| argument.to_owned()));
    run_in_small_tmpfs(directory, &program)
}

fn run_in_small_tmpfs(directory: &Path, program: &[String]) -> Command {
    let mount = format!("mount -t tmpfs -o size=64m,mode=1777,nr_inodes=64 tmpfs '{}'", directory.display());
    let mut command = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    command.args(["--mount", "sh", "-c", &format!("{mount} && exec \"$@\""), "sh"]).args(program);
    command
}

/// Returns the reason why this machine does not allow the small tmpfs, such as missing mount namespaces; `None` if it
/// does. `directory` stays empty.
#[must_use]
pub fn why_no_small_tmpfs(directory: &Path) -> Option<String> {
    let why = match run_in_small_tmpfs(directory, &["true".to_owned()]).output() {
        Ok(output) if output.status.success() => return None,
        Ok(Output { stderr, .. }) => String::from_utf8_lossy(&stderr).trim().to_owned(),
        Err(error) => format!("unshare: {error}"),
    };
    Some(format!("this machine allows no small tmpfs: {why}"))
}
