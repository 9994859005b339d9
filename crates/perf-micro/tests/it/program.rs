//! A finished run of `perf_micro`: its output and its exit status. Each test has its own folder of shared memory.

use std::{
    fs,
    path::Path,
    process::{Command, ExitStatus},
};

use tempfile::TempDir;

/// The folder of shared memory of one test, under /dev/shm as in real use.
pub struct Memory(TempDir);

impl Memory {
    pub fn new() -> Memory {
        Memory(tempfile::Builder::new().prefix("perf_micro_").tempdir_in("/dev/shm").unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Asserts that the program left no file. Empty folders of users and domains may stay.
    pub fn assert_empty(&self) {
        let mut folders = vec![self.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                assert!(path.is_dir(), "{} was left", path.display());
                folders.push(path);
            }
        }
    }

    pub fn command(&self, options: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_perf_micro"));
        command.args(options.split_whitespace());
        command.env("GANTRY_SHM_DIR", self.path()).env_remove("ROS_DOMAIN_ID");
        command
    }

    /// Runs the program to its end.
    pub fn run(&self, options: &str) -> Finished {
        Finished::new(&mut self.command(options))
    }
}

/// The output and the exit status of the program.
pub struct Finished {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Finished {
    /// Runs a command to its end.
    pub fn new(command: &mut Command) -> Finished {
        let output = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Finished { status: output.status, stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    pub fn everything(&self) -> String {
        format!("{}\n{}\n{}", self.status, self.stdout, self.stderr)
    }
}
