//! The communicator (`-c`): a back end that comes with the tool, or another program that contains one.

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

/// The way to build a program that comes with this one.
const HOW_TO_BUILD: &str = "`cargo build --release` and `cargo install` make it, and `cargo run` does not";
/// The prefix of the names of worker programs.
const PREFIX: &str = "perf_test_";
/// The mock, by the name in logs.
pub const MOCK: &str = "Mock";

/// A middleware that is not in this program, by a name that its users know, in lower case.
#[derive(Clone, Copy, Debug)]
pub struct Foreign {
    /// The name in performance_test, its forks and elsewhere.
    pub name: &'static str,
    /// The middleware's contestant in the folder `contestants`, which is also the name of its worker program; `None` if
    /// there is no contestant.
    pub program: Option<&'static str>,
    /// The setting that the name implies, as name and value: `rclcpp-events-executor` implies `executor` `events`.
    pub setting: Option<(&'static str, &'static str)>,
    /// The description of the middleware.
    pub description: &'static str,
}

const fn foreign(name: &'static str, program: &'static str, description: &'static str) -> Foreign {
    Foreign { name, program: if program.is_empty() { None } else { Some(program) }, setting: None, description }
}

/// rclcpp with one of its executors, under a name of its own.
const fn rclcpp(name: &'static str, executor: &'static str, description: &'static str) -> Foreign {
    Foreign { setting: Some(("executor", executor)), ..foreign(name, "rclcpp", description) }
}

/// The beginning of the description of a contestant that is no middleware, but a lower bound of the costs
/// of middlewares.
const BASELINE: &str = "baseline: ";

/// The name of a contestant in tables. A contestant that is no middleware is marked, as in `memcpy (baseline)`.
#[must_use]
pub fn shown_contestant(contestant: &str) -> String {
    if is_baseline(contestant) { format!("{contestant} (baseline)") } else { contestant.to_owned() }
}

/// Whether a contestant, spelt as on the command line, is a baseline and no middleware.
#[must_use]
pub fn is_baseline(contestant: &str) -> bool {
    let middleware = contestant.split(':').next().unwrap_or_default();
    Foreign::find(middleware).is_some_and(|foreign| foreign.description.starts_with(BASELINE))
}

/// All names of middlewares that are not in this program. A name with a `program` means the contestant of that program,
/// with the `setting` if there is one.
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
    /// The middleware that users know by `name`, in upper or lower case.
    #[must_use]
    pub fn find(name: &str) -> Option<Foreign> {
        let name = name.to_lowercase().replace('_', "-");
        FOREIGN.into_iter().find(|foreign| foreign.name == name)
    }

    /// The command that installs the middleware; empty if it has no contestant.
    #[must_use]
    pub fn how_to_add(&self) -> String {
        self.program.map_or(String::new(), |program| format!("tools/contestants --install {program}"))
    }
}

/// The program that describes the middleware.
#[derive(Clone)]
pub enum Program {
    /// This program, with the back end of the middleware, which comes with the tool.
    This(&'static dyn Backend),
    /// A program that contains another middleware.
    Other(PathBuf),
}

/// A middleware that was found.
#[derive(Clone)]
pub struct Communicator {
    /// The name of the middleware in the worker.
    pub name: String,
    /// The program that describes the middleware.
    pub program: Program,
    /// The setting, as name and value, that is implied by the name by which the middleware was found.
    pub setting: Option<(&'static str, &'static str)>,
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

/// The worker program of a middleware that comes with the tool. The path of the worker program follows from the path of
/// this program, and the PATH is not searched, so that a renamed copy never measures another build.
fn program_of(backend: &dyn Backend) -> Option<PathBuf> {
    let mut path = std::env::current_exe().ok()?.into_os_string();
    path.push(format!("_{}", backend.name().to_lowercase()));
    Some(PathBuf::from(path))
}

/// A name in the form that outputs show: file names and users may write `_` instead of `-` between its words.
fn shown(name: &str) -> String {
    if name.eq_ignore_ascii_case(MOCK) { MOCK.to_owned() } else { name.replace('_', "-") }
}

/// The folders in which worker programs are, in order: the folder of this program, then the folders on the PATH.
fn places() -> Vec<PathBuf> {
    let folders = std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    let beside = std::env::current_exe().ok().and_then(|path| Some(path.parent()?.to_owned()));
    beside.into_iter().chain::<Vec<PathBuf>>(folders).collect()
}

impl Communicator {
    /// The middleware `name`, in upper or lower case, with `-` or `_` between its words.
    ///
    /// # Errors
    /// The reason, as a sentence with all names that exist.
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

    /// Whether the workers of the middleware run this program. Gantry's workers do, if their worker program is missing.
    #[must_use]
    pub fn is_in_this_program(&self) -> bool {
        matches!(self.program, Program::This(backend) if program_of(backend).is_none_or(|path| !path.is_file()))
    }

    /// The program of the workers.
    #[must_use]
    pub fn worker(&self) -> PathBuf {
        let own = match &self.program {
            Program::Other(path) => Some(path.clone()),
            Program::This(backend) => program_of(*backend).filter(|path| path.is_file()),
        };
        // This path names the running program even if its file has been replaced meanwhile.
        own.unwrap_or_else(|| PathBuf::from("/proc/self/exe"))
    }

    /// The warning of a run whose workers run this program, because their worker program is missing.
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

    /// The middlewares in this program, and the worker programs that are installed.
    pub fn all() -> impl Iterator<Item = Communicator> {
        let built_in = BUILT_IN.into_iter().map(|backend| (backend.name().to_owned(), Program::This(backend)));
        let installed = Communicator::installed().into_iter().map(|(name, path)| (name, Program::Other(path)));
        built_in.chain(installed).map(|(name, program)| Communicator { name, program, setting: None })
    }

    /// The worker programs that [`find`](Self::find) finds, by name, with `-` between its words.
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
                // `find` looks only for the file name that it derives from a name, so another spelling is never found.
                if let Some(name) = name.filter(|name| file == *worker_file(name) && is_executable(&path)) {
                    programs.entry(shown(name)).or_insert(path);
                }
            }
        }
        programs
    }

    /// The description of the middleware. Worker programs are asked for it.
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

    /// Checks whether the middleware supports the options of the run, by its capabilities and by asking its program.
    /// Returns the daemons that the run must start.
    ///
    /// # Errors
    /// The reason, as a sentence with the unsupported option and an alternative, or about a worker program that does
    /// not start or whose answer is not valid.
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
    /// The reason, as a sentence that names the middlewares with executors.
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

    /// Removes the files of dead workers.
    ///
    /// # Errors
    /// The reason, as a sentence: the middleware cannot work here, or files could not be removed.
    pub fn clean_up(&self, spec: &RunSpec) -> Result<(), String> {
        match &self.program {
            Program::This(backend) => backend.clean_up(spec),
            Program::Other(path) => ask(path, "clean-up", spec).map(drop),
        }
    }
}

/// The answer of a worker program to `order` about a run.
fn ask(path: &Path, order: &str, spec: &RunSpec) -> Result<Vec<u8>, String> {
    let spec = serde_json::to_string(spec).map_err(|error| error.to_string())?;
    let output = Answer::from_command(Command::new(path).args([order, &spec]))?;
    // The sentence names the program without its folder, because tables and folders of results show this sentence.
    let program = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    if output.status.success() { Ok(output.stdout) } else { Err(format!("{program} {order}: {}", output.error())) }
}
