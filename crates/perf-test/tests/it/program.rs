//! A running `perf_test`: its output line by line, its worker processes, and its own shared-memory folder.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// The time between two checks of a process. It is much shorter than any wait, but lets other tests run.
const POLL: Duration = Duration::from_millis(1);

/// The shared-memory folder of one test, under /dev/shm as in real use.
pub struct Memory(TempDir);

impl Memory {
    pub fn new() -> Memory {
        Memory(tempfile::Builder::new().prefix("perf_test_it_").tempdir_in("/dev/shm").unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The files that are left in the folder.
    pub fn files(&self) -> Vec<String> {
        fn walk(folder: &Path, files: &mut Vec<String>) {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                if entry.file_type().unwrap().is_dir() {
                    walk(&entry.path(), files);
                } else {
                    files.push(entry.path().display().to_string());
                }
            }
        }
        let mut files = Vec::new();
        walk(self.path(), &mut files);
        files
    }

    /// Asserts that the folder has no file left.
    pub fn assert_empty(&self) {
        assert_eq!(self.files(), Vec::<String>::new());
    }

    pub fn command(&self, options: &str) -> Command {
        self.command_of(env!("CARGO_BIN_EXE_perf_test"), options)
    }

    /// The command of a worker for this middleware.
    pub fn worker(&self, communicator: &str) -> Command {
        let programs = [env!("CARGO_BIN_EXE_perf_test_gantry"), env!("CARGO_BIN_EXE_perf_test_mock")];
        let [gantry, mock] = programs;
        self.command_of(if communicator == "Gantry" { gantry } else { mock }, "worker plans")
    }

    pub fn command_of(&self, program: impl AsRef<OsStr>, options: &str) -> Command {
        let mut command = Command::new(program);
        command.args(options.split_whitespace());
        command.env("GANTRY_SHM_DIR", self.path()).env_remove("ROS_DOMAIN_ID").env("RUST_BACKTRACE", "1");
        // The mock keeps its sockets in this folder.
        command.env("XDG_RUNTIME_DIR", self.path());
        command
    }

    /// The command of a shell script that uses this shared memory folder.
    pub fn shell(&self, script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).env("GANTRY_SHM_DIR", self.path());
        command
    }

    /// Runs `perf_test` to its end.
    pub fn run(&self, options: &str) -> Finished {
        self.start(options).finish()
    }

    /// Runs several commands at the same time.
    pub fn run_all<const N: usize>(&self, options: [&str; N]) -> [Finished; N] {
        options.map(|options| self.start(options)).map(Running::finish)
    }

    pub fn start(&self, options: &str) -> Running {
        let command = &mut self.command(options);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Running { child, lines, said: String::new() }
    }
}

/// The exit status and the output of a command as one text.
pub fn said(output: &Output) -> String {
    let [stdout, stderr] = [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said));
    format!("{}\n{stdout}\n{stderr}", output.status)
}

/// The output and the exit status of a run.
pub struct Finished {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Finished {
    pub fn everything(&self) -> String {
        format!("{}\n{}\n{}", self.status, self.stdout, self.stderr)
    }

    #[track_caller]
    pub fn assert_good(&self) {
        assert_eq!(self.status.code(), Some(0), "{}", self.everything());
    }

    /// The number after the first occurrence of `words` in the summary.
    #[track_caller]
    pub fn number(&self, words: &str) -> u64 {
        let summary = self.stdout.split_once("summary of").unwrap_or_else(|| panic!("{}", self.everything())).1;
        let after = summary.split_once(words).unwrap_or_else(|| panic!("no {words:?} in\n{summary}")).1;
        let digits: String = after.trim_start().chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap_or_else(|_| panic!("no number after {words:?} in\n{summary}"))
    }

    /// The number of printed tables of a whole second.
    pub fn rows(&self) -> usize {
        self.stdout.matches("| T_loop | 1.000000 |").count()
    }

    /// The sum of a count over all printed tables. A table has a rate, which is multiplied by the length of its row.
    #[track_caller]
    pub fn sum(&self, column: &str) -> u64 {
        let mut sum = 0.0;
        for set in self.stdout.split("| T_experiment |").skip(1) {
            let length_s: f64 = cell(set.split_once("| T_loop ").unwrap().1, 0).parse().unwrap();
            let mut lines = set.lines().skip_while(|line| !line.starts_with("| recv |"));
            let names = lines.next().unwrap();
            let place = names.split('|').skip(1).position(|name| name.trim() == column).unwrap();
            let rate: f64 = cell(lines.nth(1).unwrap(), place).parse().unwrap();
            sum += (rate * length_s).round();
        }
        sum as u64
    }
}

/// A run that has not ended.
pub struct Running {
    child: Child,
    lines: BufReader<ChildStdout>,
    said: String,
}

impl Running {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Makes the pipe of the console so small that it holds less than a page of unread output.
    pub fn narrow_console(&self) {
        rustix::pipe::fcntl_setpipe_size(self.lines.get_ref(), 4096).unwrap();
    }

    /// Reads until a line contains `words`. Panics if the run ends first.
    #[track_caller]
    pub fn wait_for(&mut self, words: &str) {
        assert!(self.says(words), "{words:?} was never said:\n{}", self.said);
    }

    /// Reads until a line contains `words` or the run has ended. Returns true if a line contained `words`.
    pub fn says(&mut self, words: &str) -> bool {
        let mut line = String::new();
        while !line.contains(words) {
            line.clear();
            if self.lines.read_line(&mut line).unwrap() == 0 {
                return false;
            }
            self.said.push_str(&line);
        }
        true
    }

    /// The process ids and labels of the living workers.
    pub fn workers(&self) -> Vec<(u32, String)> {
        let mut workers: Vec<(u32, String)> = fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| entry.unwrap().file_name().to_str()?.parse::<u32>().ok())
            .filter(|pid| parent_of(*pid) == Some(self.pid()))
            .filter_map(|pid| {
                let command_line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
                let label = command_line.split(|byte| *byte == 0).nth(2)?;
                Some((pid, String::from_utf8_lossy(label).into_owned()))
            })
            .collect();
        workers.sort();
        workers
    }

    #[track_caller]
    pub fn worker(&self, label: &str) -> u32 {
        let workers = self.workers();
        workers.iter().find(|(_, name)| name == label).unwrap_or_else(|| panic!("no {label} in {workers:?}")).0
    }

    /// Waits until this worker exists. The timeout of the test runner ends a wait that lasts too long.
    pub fn wait_for_worker(&self, label: &str) -> u32 {
        loop {
            if let Some((pid, _)) = self.workers().into_iter().find(|(_, name)| name == label) {
                return pid;
            }
            std::thread::sleep(POLL);
        }
    }

    pub fn signal(&self, signal: Signal) {
        send(self.pid(), signal);
    }

    pub fn finish(mut self) -> Finished {
        self.lines.read_to_string(&mut self.said).unwrap();
        let mut stderr = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        Finished { status: self.child.wait().unwrap(), stdout: self.said, stderr }
    }
}

fn cell(line: &str, index: usize) -> &str {
    line.split('|').skip(1).nth(index).unwrap().trim()
}

pub fn send(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal).unwrap();
}

pub fn parent_of(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

/// The fields of the file `stat` of a process or thread, starting with the third field (the state).
pub fn stat_of(path: &str) -> Vec<String> {
    let stat = fs::read_to_string(format!("/proc/{path}/stat")).unwrap();
    stat.rsplit_once(") ").unwrap().1.split_whitespace().map(str::to_owned).collect()
}

/// The number of voluntary context switches of a process, summed over all its threads.
pub fn sleeps_of(pid: u32) -> u64 {
    let slept = |task: fs::DirEntry| -> Option<u64> {
        let status = fs::read_to_string(task.path().join("status")).ok()?;
        status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?.trim().parse().ok()
    };
    fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten().filter_map(slept).sum()
}

/// Waits until a process has a thread whose name begins with `name`.
pub fn wait_for_thread(pid: u32, name: &str) {
    let is_named =
        |task: fs::DirEntry| fs::read_to_string(task.path().join("comm")).is_ok_and(|comm| comm.starts_with(name));
    while !fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten().any(is_named) {
        std::thread::sleep(POLL);
    }
}

/// Waits until a process has slept at least `times` times.
pub fn wait_until_it_has_slept(pid: u32, times: u64) {
    while sleeps_of(pid) < times {
        std::thread::sleep(POLL);
    }
}

/// Waits until a process has exited. The timeout of the test runner ends a wait that lasts too long.
pub fn wait_until_gone(pid: u32) {
    while fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z ")) {
        std::thread::sleep(POLL);
    }
}
