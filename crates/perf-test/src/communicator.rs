//! The communicator (`-c`): a back end in this program, or another program that contains one.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::backend::BUILT_IN;
use perf_worker::{
    backend::{Backend, DaemonCommand, Description},
    run_spec::RunSpec,
    worker::protocol::PROTOCOL,
};

/// The prefix of the names of worker programs.
const PREFIX: &str = "perf_test_";

/// Other middlewares, by their names in performance_test, its forks and elsewhere, in lower case, with descriptions.
pub const FOREIGN: [(&str, &str); 19] = [
    ("ros2", "ROS 2's rclcpp over the RMW implementation that RMW_IMPLEMENTATION names"),
    ("ros2pollingsubscription", "Apex.AI's polling subscriptions for ROS 2"),
    ("rclcpp-single-threaded-executor", "ROS 2's rclcpp with its SingleThreadedExecutor"),
    ("rclcpp-static-single-threaded-executor", "ROS 2's rclcpp with its StaticSingleThreadedExecutor"),
    ("rclcpp-events-executor", "ROS 2's rclcpp with its EventsExecutor"),
    ("rclcpp-waitset", "ROS 2's rclcpp with its WaitSet"),
    ("apexospollingsubscription", "Apex.OS"),
    ("fastrtps", "eProsima's Fast DDS"),
    ("fastdds", "eProsima's Fast DDS"),
    ("cyclonedds", "Eclipse Cyclone DDS"),
    ("cyclonedds-cxx", "Eclipse Cyclone DDS by its C++ interface"),
    ("iceoryx", "Eclipse iceoryx"),
    ("iceoryx2", "Eclipse iceoryx2"),
    ("opendds", "OpenDDS"),
    ("connextdds", "RTI Connext DDS"),
    ("connextddsmicro", "RTI Connext DDS Micro"),
    ("ecal-raw", "Eclipse eCAL with bytes"),
    ("ecal-proto", "Eclipse eCAL with protobuf"),
    ("zenoh", "Eclipse Zenoh"),
];

/// The program that workers run.
#[derive(Clone)]
pub enum Program {
    /// This program, with the back end of the middleware.
    This(&'static dyn Backend),
    /// A program that contains another middleware.
    Other(PathBuf),
}

/// A middleware that was found.
#[derive(Clone)]
pub struct Communicator {
    /// Its name in the worker.
    pub name: String,
    /// The program of the workers.
    pub program: Program,
}

/// The answer of a worker program that supports the options of a run.
#[derive(Deserialize)]
struct Checked {
    daemons: Vec<DaemonCommand>,
}

/// The file name of the worker program of the middleware `name`.
#[must_use]
pub fn worker_file(name: &str) -> String {
    format!("{PREFIX}{}", name.to_lowercase().replace('-', "_"))
}

/// The folders in which worker programs are, in order: that of this program, and those on the PATH.
fn places() -> Vec<PathBuf> {
    let folders = std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    let beside = std::env::current_exe().ok().and_then(|path| Some(path.parent()?.to_owned()));
    beside.into_iter().chain::<Vec<PathBuf>>(folders).collect()
}

impl Communicator {
    /// The middleware `name`, in any mixture of cases.
    ///
    /// # Errors
    /// A sentence with all names that exist.
    pub fn find(name: &str) -> Result<Communicator, String> {
        if let Some(backend) = BUILT_IN.into_iter().find(|backend| backend.name().eq_ignore_ascii_case(name)) {
            return Ok(Communicator { name: backend.name().to_owned(), program: Program::This(backend) });
        }
        let file = worker_file(name);
        let found = places().into_iter().map(|folder| folder.join(&file)).find(|path| path.is_file());
        let names: Vec<&str> = BUILT_IN.iter().map(|backend| backend.name()).collect();
        let program = found.filter(|_| !name.contains('/')).ok_or_else(|| {
            format!(
                "there is no communicator `{name}`: this program has {}, and there is no worker program {file} beside it or on the PATH",
                names.join(" and ")
            )
        })?;
        Ok(Communicator { name: name.to_owned(), program: Program::Other(program) })
    }

    /// The worker programs that [`find`](Self::find) finds, by name.
    #[must_use]
    pub fn installed() -> BTreeMap<String, PathBuf> {
        let is_executable = |path: &Path| {
            let found = path.metadata();
            found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
        };
        let mut programs = BTreeMap::new();
        for folder in places() {
            for entry in folder.read_dir().into_iter().flatten().flatten() {
                let (path, file) = (entry.path(), entry.file_name());
                let name = file.to_str().and_then(|file| file.strip_prefix(PREFIX)).filter(|name| !name.is_empty());
                // The program of a name with other letters is never looked for.
                if let Some(name) = name.filter(|name| file == *worker_file(name) && is_executable(&path)) {
                    programs.entry(name.to_owned()).or_insert(path);
                }
            }
        }
        programs
    }

    /// The description of the middleware. Worker programs are asked for it.
    ///
    /// # Errors
    /// A sentence: the program does not start or does not describe itself.
    pub fn describe(&self) -> Result<Description, String> {
        let path = match &self.program {
            Program::This(backend) => return Ok(backend.describe()),
            Program::Other(path) => path,
        };
        let output = Command::new(path).arg("describe").stdin(Stdio::null()).output();
        let output = output.map_err(|error| format!("cannot start {}: {error}", path.display()))?;
        let failed = |why: &dyn std::fmt::Display| {
            format!(
                "{} does not describe itself ({why}): it must speak version {PROTOCOL} of the worker protocol",
                path.display()
            )
        };
        if !output.status.success() {
            return Err(failed(&String::from_utf8_lossy(&output.stderr).trim()));
        }
        serde_json::from_slice(&output.stdout).map_err(|error| failed(&error))
    }

    /// Checks whether it supports the options of the run, by its capabilities and by asking it, and returns the daemons that the run
    /// must start.
    ///
    /// # Errors
    /// A sentence with the option and the alternative; or the program does not start, or its answer is not valid.
    pub fn check(&self, spec: &RunSpec) -> Result<Vec<DaemonCommand>, String> {
        spec.capabilities.check(spec)?;
        let path = match &self.program {
            Program::This(backend) => return backend.check(spec),
            Program::Other(path) => path,
        };
        let spec = serde_json::to_string(spec).map_err(|error| error.to_string())?;
        let output = Command::new(path).args(["check", &spec]).stdin(Stdio::null()).output();
        let output = output.map_err(|error| format!("cannot start {}: {error}", path.display()))?;
        if !output.status.success() {
            return Err(format!("{} check: {}", path.display(), String::from_utf8_lossy(&output.stderr).trim()));
        }
        let checked: Checked = serde_json::from_slice(&output.stdout).map_err(|error| {
            format!(
                "{} does not check options as version {PROTOCOL} of the worker protocol demands: {error}",
                path.display()
            )
        })?;
        if let Some(daemon) = checked.daemons.iter().find(|daemon| daemon.command.is_empty()) {
            return Err(format!("{} check: the daemon {} has no command", path.display(), daemon.name));
        }
        Ok(checked.daemons)
    }

    /// Removes the files of dead workers.
    ///
    /// # Errors
    /// A sentence: the middleware cannot work here, or files could not be removed.
    pub fn clean_up(&self, spec: &RunSpec) -> Result<(), String> {
        let path = match &self.program {
            Program::This(backend) => return backend.clean_up(spec),
            Program::Other(path) => path,
        };
        let order = serde_json::to_string(spec).map_err(|error| error.to_string())?;
        let output = Command::new(path).args(["clean-up", &order]).output();
        let output = output.map_err(|error| format!("cannot start {}: {error}", path.display()))?;
        if output.status.success() {
            return Ok(());
        }
        Err(format!("{} clean-up: {}", path.display(), String::from_utf8_lossy(&output.stderr).trim()))
    }
}
