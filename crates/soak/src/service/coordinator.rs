//! The coordinator. It starts the processes of servers and clients, kills some, adds up the counts, and checks them.

use crate::{
    arguments::{AnyResult, Arguments, CLIENTS_PER_PROCESS, Role, SLOW_IN_FLIGHT},
    counts::Counts,
};
use clap::ValueEnum;
use std::{
    env,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, atomic::Ordering::Relaxed},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

const LOOK_PERIOD: Duration = Duration::from_millis(20);
const REPORT_PERIOD: Duration = Duration::from_secs(10);
/// The time without any answered call after which the run fails.
const PATIENCE: Duration = Duration::from_secs(150);

/// A process of servers or clients, and the thread that reads the counts that it prints.
struct Worker {
    role: Role,
    first: u64,
    child: Child,
    reader: Option<JoinHandle<()>>,
}

/// Runs the test from start to end.
pub fn run(arguments: &Arguments) -> AnyResult<()> {
    let directory = tempfile::Builder::new().prefix("gantry-service-soak-").tempdir_in("/dev/shm")?;
    let counts = Arc::new(Counts::default());
    let starter = Starter { arguments, directory: directory.path(), counts: counts.clone() };
    let mut workers = (0..arguments.servers)
        .map(|_| starter.start(Role::Server, 0))
        .chain((0..arguments.clients).step_by(CLIENTS_PER_PROCESS as usize).map(|n| starter.start(Role::Clients, n)))
        .collect::<AnyResult<Vec<Worker>>>()?;
    let begin = Instant::now();
    let server_kills = starter.run_and_kill(&mut workers)?;
    // Clients end first, because their last requests need servers.
    let (servers, clients): (Vec<_>, Vec<_>) = workers.into_iter().partition(|worker| worker.role == Role::Server);
    clients.into_iter().chain(servers).try_for_each(Worker::finish)?;
    println!("{counts}, {} kills, {server_kills} of them of servers, in {:.0?}", arguments.kills, begin.elapsed());
    let most_gone = server_kills * arguments.clients * SLOW_IN_FLIGHT;
    if counts.failed.load(Relaxed) > 0 {
        return Err("requests failed though a server was there, or had wrong answers".into());
    }
    if counts.server_gone.load(Relaxed) > most_gone {
        return Err(format!("more than {most_gone} requests lost their servers").into());
    }
    let left: Vec<_> = directory.path().read_dir()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    if left.is_empty() { Ok(()) } else { Err(format!("{left:?} is left behind").into()) }
}

struct Starter<'a> {
    arguments: &'a Arguments,
    directory: &'a Path,
    counts: Arc<Counts>,
}

impl Starter<'_> {
    fn start(&self, role: Role, first: u64) -> AnyResult<Worker> {
        let name = role.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
        let mut child = Command::new(env::current_exe()?)
            .args(["--role", &name, "--first", &first.to_string(), "--clients", &self.arguments.clients.to_string()])
            .env("GANTRY_SHM_DIR", self.directory)
            .env_remove("ROS_DOMAIN_ID")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (output, counts) = (child.stdout.take(), self.counts.clone());
        let read = move || {
            let lines = output.into_iter().flat_map(|output| BufReader::new(output).lines().map_while(Result::ok));
            lines.for_each(|line| counts.add_line(&line));
        };
        Ok(Worker { role, first, child, reader: Some(thread::spawn(read)) })
    }

    /// Kills workers while the clients call. Returns the number of killed server processes.
    fn run_and_kill(&self, workers: &mut [Worker]) -> AnyResult<u64> {
        let Arguments { calls, kills, mut seed, .. } = *self.arguments;
        let (mut killed, mut server_kills) = (0, 0);
        let (mut last, mut last_change, mut last_report) = (0, Instant::now(), Instant::now());
        while last < calls || killed < kills {
            thread::sleep(LOOK_PERIOD);
            let answered = self.counts.answered.load(Relaxed);
            if answered > last {
                (last, last_change) = (answered, Instant::now());
            } else if last_change.elapsed() > PATIENCE {
                return Err(format!("no call was answered for {PATIENCE:?}: {}", self.counts).into());
            }
            for worker in workers.iter_mut() {
                if let Some(status) = worker.child.try_wait()? {
                    return Err(format!("a process of role {:?} ended: {status}", worker.role).into());
                }
            }
            if killed < kills && last >= (killed + 1) * calls / (kills + 1) {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let index = (seed >> 33) as usize % workers.len();
                killed += 1;
                server_kills += u64::from(workers[index].role == Role::Server);
                let next = self.start(workers[index].role, workers[index].first)?;
                std::mem::replace(&mut workers[index], next).kill()?;
            }
            if last_report.elapsed() >= REPORT_PERIOD {
                println!("{}", self.counts);
                last_report = Instant::now();
            }
        }
        Ok(server_kills)
    }
}

impl Worker {
    fn kill(mut self) -> AnyResult<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    fn finish(mut self) -> AnyResult<()> {
        drop(self.child.stdin.take()); // asks the worker to end
        let status = self.child.wait()?;
        let was_read = self.reader.take().is_none_or(|reader| reader.join().is_ok());
        if status.success() && was_read {
            Ok(())
        } else {
            Err(format!("a {:?} process ended: {status}", self.role).into())
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Kills the worker after an error, so that no process stays.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
