//! The middleware that `-c` selects: a back end in this program, or a separate worker program that contains one.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::{
    backend::BUILT_IN,
    common::answer::Answer,
    common::warning::{Warning, WarningKind},
};
use perf_worker::{
    backend::{Backend, Capabilities, DaemonCommand, Description},
    run_spec::RunSpec,
    worker::protocol::PROTOCOL,
};

/// The hint for a missing worker program: the commands that build it.
const HOW_TO_BUILD: &str = "`cargo build --release` and `cargo install` make it, and `cargo run` does not";
/// The prefix of the names of worker programs.
const PREFIX: &str = "perf_test_";
/// The name of the mock in logs. The mock is a middleware that injects faults, for tests of `perf_test` itself.
pub const MOCK: &str = "Mock";

/// A name of a middleware whose back end is not in this program. The name is in lower case.
#[derive(Clone, Copy, Debug)]
pub struct Foreign {
    /// The name that performance_test, its forks or users give to the middleware.
    pub name: &'static str,
    /// The middleware's folder in `contestants`, which is also the name of its worker program; `None` if this
    /// repository has no worker program for the middleware.
    pub program: Option<&'static str>,
    /// The setting that the name implies, as name and value: `rclcpp-events-executor` implies `executor` = `events`.
    pub setting: Option<(&'static str, &'static str)>,
    /// The description of the middleware.
    pub description: &'static str,
}

const fn foreign(name: &'static str, program: &'static str, description: &'static str) -> Foreign {
    Foreign { name, program: if program.is_empty() { None } else { Some(program) }, setting: None, description }
}

/// An entry for rclcpp with the given executor.
const fn rclcpp(name: &'static str, executor: &'static str, description: &'static str) -> Foreign {
    Foreign { setting: Some(("executor", executor)), ..foreign(name, "rclcpp", description) }
}

/// The first word in the description of a baseline. A baseline is no middleware; its costs are a lower bound for
/// middlewares.
const BASELINE: &str = "baseline: ";

/// The name of a contestant in tables. The name of a baseline is marked, as in `memcpy (baseline)`.
#[must_use]
pub fn shown_contestant(contestant: &str) -> String {
    if is_baseline(contestant) { format!("{contestant} (baseline)") } else { contestant.to_owned() }
}

/// Whether a contestant, spelt as on the command line, is a baseline instead of a middleware.
#[must_use]
pub fn is_baseline(contestant: &str) -> bool {
    let middleware = contestant.split(':').next().unwrap_or_default();
    Foreign::find(middleware).is_some_and(|foreign| foreign.description.starts_with(BASELINE))
}

/// All names of middlewares that are not in this program. Several names may refer to one worker program, each with its
/// own `setting`.
pub const FOREIGN: [Foreign; 28] = [
    foreign("iceoryx2", "iceoryx2", "Eclipse iceoryx2"),
    foreign("iceoryx", "iceoryx", "Eclipse iceoryx"),
    foreign("zenoh", "zenoh", "Eclipse Zenoh"),
    foreign("cyclonedds", "cyclonedds", "Eclipse Cyclone DDS"),
    foreign("fastdds", "fastdds", "eProsima's Fast DDS"),
    foreign("fastrtps", "fastdds", "eProsima's Fast DDS, by its older name"),
    foreign("ecal", "ecal", "Eclipse eCAL"),
    foreign("python", "python", "Gantry by its package for Python"),
    foreign("rclcpp", "rclcpp", "ROS 2's rclcpp over the RMW implementation that RMW_IMPLEMENTATION names"),
    foreign("ros2", "rclcpp", "ROS 2's rclcpp, by its older name in performance_test"),
    foreign("memcpy", "memcpy", "baseline: a copy through shared memory that is polled"),
    foreign("pipe", "pipe", "baseline: a pipe of the kernel"),
    foreign("unix-socket", "unix-socket", "baseline: a Unix socket"),
    foreign("udp", "udp", "baseline: UDP over the loopback"),
    foreign("tcp", "tcp", "baseline: TCP over the loopback"),
    foreign("shm-futex", "shm-futex", "baseline: shared memory, and a futex that wakes the reader"),
    rclcpp("rclcpp-single-threaded-executor", "single", "ROS 2's rclcpp with its SingleThreadedExecutor"),
    foreign("rclcpp-static-single-threaded-executor", "", "ROS 2's rclcpp with its StaticSingleThreadedExecutor"),
    rclcpp("rclcpp-events-executor", "events", "ROS 2's rclcpp with its EventsExecutor"),
    foreign("rclcpp-waitset", "", "ROS 2's rclcpp with its WaitSet"),
    foreign("ros2pollingsubscription", "", "Apex.AI's polling subscriptions for ROS 2"),
    foreign("apexospollingsubscription", "", "Apex.OS"),
    foreign("cyclonedds-cxx", "", "Eclipse Cyclone DDS by its C++ interface; -c cyclonedds has the C interface"),
    foreign("opendds", "", "OpenDDS"),
    foreign("connextdds", "", "RTI Connext DDS"),
    foreign("connextddsmicro", "", "RTI Connext DDS Micro"),
    foreign("ecal-raw", "", "Eclipse eCAL with bytes, which -c ecal sends"),
    foreign("ecal-proto", "", "Eclipse eCAL with protobuf"),
];

impl Foreign {
    /// The entry of `name`, in upper or lower case.
    #[must_use]
    pub fn find(name: &str) -> Option<Foreign> {
        let name = name.to_lowercase().replace('_', "-");
        FOREIGN.into_iter().find(|foreign| foreign.name == name)
    }

    /// The command that installs the middleware; empty if this repository has no worker program for it.
    #[must_use]
    pub fn how_to_add(&self) -> String {
        self.program.map_or(String::new(), |program| format!("tools/contestants --install {program}"))
    }
}

/// The program that contains the back end of a middleware.
#[derive(Clone)]
pub enum Program {
    /// This program. Its value is the back end.
    This(&'static dyn Backend),
    /// A separate worker program, at this path.
    Other(PathBuf),
}

/// A middleware that can be measured here.
#[derive(Clone)]
pub struct Communicator {
    /// The name of the middleware, as its worker program knows it.
    pub name: String,
    /// The program that contains its back end.
    pub program: Program,
    /// The setting, as name and value, that the name given by the user implies.
    pub setting: Option<(&'static str, &'static str)>,
}

/// The answer of a worker program to `check`, if it supports the options of the run.
#[derive(Deserialize)]
struct Checked {
    daemons: Vec<DaemonCommand>,
}

/// The file name of the worker program of the middleware `name`.
#[must_use]
pub fn worker_file(name: &str) -> String {
    format!("{PREFIX}{}", name.to_lowercase().replace('-', "_"))
}

/// The worker program of a back end that is also in this program, such as `perf_test_gantry`. It must be beside this
/// program, and its file name begins with this program's name. The PATH is not searched, because a worker program there
/// may be from another build.
fn program_of(backend: &dyn Backend) -> Option<PathBuf> {
    let mut path = std::env::current_exe().ok()?.into_os_string();
    path.push(format!("_{}", backend.name().to_lowercase()));
    Some(PathBuf::from(path))
}

/// The name of a middleware as outputs show it: with `-` between its words, where file names have `_`.
fn shown(name: &str) -> String {
    if name.eq_ignore_ascii_case(MOCK) { MOCK.to_owned() } else { name.replace('_', "-") }
}

/// The folders in which worker programs are searched, in order: the folder of this program, then the folders on the
/// PATH.
fn places() -> Vec<PathBuf> {
    let folders = std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    let beside = std::env::current_exe().ok().and_then(|path| Some(path.parent()?.to_owned()));
    beside.into_iter().chain::<Vec<PathBuf>>(folders).collect()
}

impl Communicator {
    /// Finds the middleware `name`, in upper or lower case, with `-` or `_` between its words.
    ///
    /// # Errors
    /// The reason, as a sentence, with the names of the middlewares in this program and a hint.
    pub fn find(name: &str) -> Result<Communicator, String> {
        if let Some(backend) = BUILT_IN.into_iter().find(|backend| backend.name().eq_ignore_ascii_case(name)) {
            return Ok(Communicator {
                name: backend.name().to_owned(),
                program: Program::This(backend),
                setting: None,
            });
        }
        let foreign = Foreign::find(name);
        let (given, name) = (name, shown(foreign.and_then(|foreign| foreign.program).unwrap_or(name)));
        let file = worker_file(&name);
        let found = places().into_iter().map(|folder| folder.join(&file)).find(|path| path.is_file());
        let program = found.filter(|_| !name.contains('/')).ok_or_else(|| {
            let names: Vec<&str> = BUILT_IN.iter().map(|backend| backend.name()).collect();
            let missing = format!(
                "there is no communicator `{given}`: this program has {}, and there is no worker program {file} beside it or on the PATH",
                names.join(" and ")
            );
            match foreign {
                Some(foreign) if foreign.program.is_some() => {
                    format!("{missing}. `{given}` is {}: {}", foreign.description, foreign.how_to_add())
                }
                Some(foreign) => format!("{missing}. `{given}` is {}", foreign.description),
                None if name == MOCK => format!("{missing}. {HOW_TO_BUILD}"),
                None => missing,
            }
        })?;
        let setting = foreign.and_then(|foreign| foreign.setting);
        Ok(Communicator { name, program: Program::Other(program), setting })
    }

    /// Whether this program is also the worker program of the middleware. This is so for Gantry if `perf_test_gantry`
    /// is missing.
    #[must_use]
    pub fn is_in_this_program(&self) -> bool {
        matches!(self.program, Program::This(backend) if program_of(backend).is_none_or(|path| !path.is_file()))
    }

    /// The program that the workers run.
    #[must_use]
    pub fn worker(&self) -> PathBuf {
        let own = match &self.program {
            Program::Other(path) => Some(path.clone()),
            Program::This(backend) => program_of(*backend).filter(|path| path.is_file()),
        };
        // `/proc/self/exe` is the running program, even if its file has been replaced since the start.
        own.unwrap_or_else(|| PathBuf::from("/proc/self/exe"))
    }

    /// The warning that this program was the worker program, because the separate one is missing.
    #[must_use]
    pub fn warning(&self) -> Option<Warning> {
        let Program::This(backend) = self.program else { return None };
        let missing = program_of(backend).filter(|path| !path.is_file())?;
        Some(Warning::new(
            WarningKind::WorkerProgram,
            format!(
                "the workers were perf_test itself, so their memory includes its other parts: there is no {}",
                missing.display()
            ),
            HOW_TO_BUILD,
        ))
    }

    /// The middlewares in this program and the installed worker programs.
    pub fn all() -> impl Iterator<Item = Communicator> {
        let built_in = BUILT_IN.into_iter().map(|backend| (backend.name().to_owned(), Program::This(backend)));
        let installed = Communicator::installed().into_iter().map(|(name, path)| (name, Program::Other(path)));
        built_in.chain(installed).map(|(name, program)| Communicator { name, program, setting: None })
    }

    /// The worker programs that [`find`](Self::find) finds. The key is the name of the middleware, with `-` between its
    /// words.
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
                let name = name.filter(|name| !BUILT_IN.iter().any(|own| own.name().eq_ignore_ascii_case(name)));
                // `find` derives the file name from the middleware's name, so it never finds a file with another
                // spelling.
                if let Some(name) = name.filter(|name| file == *worker_file(name) && is_executable(&path)) {
                    programs.entry(shown(name)).or_insert(path);
                }
            }
        }
        programs
    }

    /// The description of the middleware: its version, settings and capabilities. A worker program prints it for
    /// `describe`.
    ///
    /// # Errors
    /// The reason, as a sentence: the program does not start or does not describe itself.
    pub fn describe(&self) -> Result<Description, String> {
        let path = match &self.program {
            Program::This(backend) => return Ok(backend.describe()),
            Program::Other(path) => path,
        };
        let output = Answer::from_command(Command::new(path).arg("describe"))?;
        let failed = |why: &dyn std::fmt::Display| {
            format!(
                "{} does not describe itself ({why}): it must speak version {PROTOCOL} of the worker protocol",
                path.display()
            )
        };
        if !output.status.success() {
            return Err(failed(&output.error()));
        }
        serde_json::from_slice(&output.stdout).map_err(|error| failed(&error))
    }

    /// Checks that the middleware supports the options of the run: by its declared capabilities, then by its back end
    /// or worker program. Returns the daemons that the run must start.
    ///
    /// # Errors
    /// The reason, as a sentence: the unsupported option with an alternative, or the fault of a worker program that
    /// does not start or gives no valid answer.
    pub fn check(&self, spec: &RunSpec) -> Result<Vec<DaemonCommand>, String> {
        spec.capabilities.check(spec)?;
        let path = match &self.program {
            Program::This(backend) => return backend.check(spec),
            Program::Other(path) => path,
        };
        let checked: Checked = serde_json::from_slice(&ask(path, "check", spec)?).map_err(|error| {
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

    /// Checks whether the middleware has executors.
    ///
    /// # Errors
    /// The reason, as a sentence with the names of the middlewares that have executors.
    pub fn check_executors(&self, capabilities: &Capabilities) -> Result<(), String> {
        if !capabilities.executors.is_empty() {
            return Ok(());
        }
        let executes = |of: &Communicator| of.describe().is_ok_and(|of| !of.capabilities.executors.is_empty());
        let others: Vec<String> =
            Communicator::all().filter(executes).map(|other| format!("-c {}", other.name)).collect();
        let (name, others) = (&self.name, others.join(" or "));
        Err(format!("{name} has no executors, in which the nodes of a topology run: give {others}"))
    }

    /// Removes the files that dead workers of the run left behind.
    ///
    /// # Errors
    /// The reason, as a sentence: the middleware does not work on this machine, or files could not be removed.
    pub fn clean_up(&self, spec: &RunSpec) -> Result<(), String> {
        match &self.program {
            Program::This(backend) => backend.clean_up(spec),
            Program::Other(path) => ask(path, "clean-up", spec).map(drop),
        }
    }
}

/// Runs a worker program with the argument `order` and the options of a run as JSON. Returns its output.
fn ask(path: &Path, order: &str, spec: &RunSpec) -> Result<Vec<u8>, String> {
    let spec = serde_json::to_string(spec).map_err(|error| error.to_string())?;
    let output = Answer::from_command(Command::new(path).args([order, &spec]))?;
    // The sentence has only the file name of the program, because tables and folders of results show this sentence.
    let program = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    if output.status.success() { Ok(output.stdout) } else { Err(format!("{program} {order}: {}", output.error())) }
}
