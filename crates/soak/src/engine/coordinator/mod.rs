//! The coordinator of the run. It starts worker processes, and kills, stops and ends them at random. It checks them all
//! the time, and checks at the end that no file, mapping or descriptor is left.

mod process;
mod report;
mod survivor;

use crate::{
    accounts::{
        counts::{Count, Counts, KINDS, add, here},
        usage::Usage,
    },
    endpoint::forked,
    options::Run,
    outcome::Result,
};
use fastrand::Rng;
use gantry_shm::Participant;
use process::{Process, State};
use report::{Actions, Progress};
use rustix::process::{Pid, Signal, getpid, set_child_subreaper};
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};
use survivor::Survivor;

/// The time between two checks.
const TICK: Duration = Duration::from_millis(10);
/// The longest time for which a worker is stopped (SIGSTOP). It is longer than the time limit for the registry lock,
/// the lock under which processes join and leave.
const LONGEST_STALL_MS: u64 = 7000;
/// The longest wait for a state that the processes must reach by themselves.
const SETTLE_LIMIT: Duration = Duration::from_secs(60);
/// The time after a stop in which the error "registry busy" is allowed. A process gives up 5 s after the holder of the
/// registry lock was stopped, and may report the error late.
const BUSY_AFTER_STOP: Duration = Duration::from_secs(15);

/// The state of the run.
struct Soak<'a> {
    run: &'a Run,
    root: &'a Path,
    rng: Rng,
    survivor: Survivor,
    workers: Vec<Process>,
    /// Forked children whose parents, the workers, have died. They are children of the coordinator now.
    orphans: Vec<Pid>,
    /// The sum of the counts of all workers that have exited.
    counts: Counts,
    actions: Actions,
    /// The time of the last SIGSTOP to a worker.
    last_stop: Instant,
    registry_busy: u64,
    interrupted: Arc<AtomicBool>,
}

/// Executes the run and prints the results. Removes the run's directory if no error was found.
pub fn run(run: &Run) -> Result<()> {
    let (seed, seconds) = (run.seed, run.duration.as_secs());
    report::line(&format!("soak: seed {seed}, {seconds} s, at most {} workers", run.processes));
    let directory = tempfile::Builder::new().prefix("gantry-soak-").tempdir_in(&run.directory);
    let directory = directory.map_err(|e| format!("cannot make a directory in {}: {e}", run.directory.display()))?;
    let outcome = soak(run, directory.path());
    outcome.map_err(|why| {
        let kept = directory.keep();
        format!("FAILED, seed {seed}: {why}; the shared memory is kept in {}", kept.display())
    })
}

fn soak(run: &Run, root: &Path) -> Result<()> {
    set_child_subreaper(Some(getpid())).map_err(|e| format!("cannot adopt workers' children: {e}"))?;
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [Signal::INT, Signal::TERM] {
        let registered = signal_hook::flag::register(signal.as_raw(), interrupted.clone());
        registered.map_err(|e| format!("cannot wait for {signal:?}: {e}"))?;
    }
    let mut rng = Rng::with_seed(run.seed);
    let (began, before) = (Instant::now(), Usage::now(root)?);
    let survivor = Survivor::start(root, &mut rng)?;
    let mut soak = Soak {
        run,
        root,
        rng,
        survivor,
        workers: Vec::new(),
        orphans: Vec::new(),
        counts: [0; KINDS],
        actions: Actions::default(),
        last_stop: Instant::now(),
        registry_busy: 0,
        interrupted,
    };
    soak.until("the survivor to take its own samples", |soak| Ok(soak.survivor.has_taken_from_all()))?;
    let alone = Usage::now(root)?;
    soak.act_at_random(began)?;
    soak.end_all()?;
    soak.until("the workers' resources to be given back", |_| Ok(Usage::now(root)?.is_back_at(&alone))).map_err(
        |why| format!("{why}: before there were workers the survivor had {alone}; now {}", usage_sentence(root)),
    )?;
    let alone_again = Usage::now(root)?;
    let (counts, actions, pauses_ms) = (soak.all_counts(), soak.actions, soak.survivor.longest_pauses_ms());
    soak.survivor.stop()?;
    // A process that joins any domain removes the files of dead processes in all other domains. The last process that
    // leaves a domain removes the domain's files.
    drop(Participant::join_under(root, 0).map_err(|error| error.to_string())?);
    let after = Usage::now(root)?;
    if !after.is_back_at(&before) {
        return Err(format!("the survivor began with {before}, and ends with {after}"));
    }
    let left = files(root)?;
    if !left.is_empty() {
        return Err(format!("this stayed in shared memory: {left:?}"));
    }
    let usages = [("before", before), ("alone", alone), ("alone again", alone_again), ("after", after)];
    report::table(run, began.elapsed(), &actions, &counts, pauses_ms, &usages);
    Ok(())
}

fn usage_sentence(root: &Path) -> String {
    Usage::now(root).map_or_else(|why| why, |usage| usage.to_string())
}

impl Soak<'_> {
    /// Starts, kills, stops and ends workers at random until the duration of the run is over.
    fn act_at_random(&mut self, began: Instant) -> Result<()> {
        let mut progress = Progress::new();
        let mut next_event = Instant::now();
        while began.elapsed() < self.run.duration && !self.interrupted.load(Relaxed) {
            self.check_all()?;
            if Instant::now() >= next_event {
                next_event = Instant::now() + Duration::from_millis(self.rng.u64(10..250));
                self.event()?;
            }
            progress.say(began.elapsed(), self.run.duration, self.workers.len(), &self.actions, || self.all_counts());
            std::thread::sleep(TICK);
        }
        progress.end();
        Ok(())
    }

    /// Does one random action on a worker.
    fn event(&mut self) -> Result<()> {
        let event = self.rng.u32(..100);
        if event >= 68 || self.workers.is_empty() {
            let room = self.run.processes.saturating_sub(self.workers.len());
            return (0..self.rng.usize(1..=3).min(room)).try_for_each(|_| self.start());
        }
        let chosen = self.rng.usize(..self.workers.len());
        let stop_ms = if self.rng.u32(..12) == 0 { self.rng.u64(..LONGEST_STALL_MS) } else { self.rng.u64(..500) };
        let worker = &mut self.workers[chosen];
        match (event, worker.state) {
            (0..25, State::Runs) => self.actions.kills += 1,
            (0..25, State::StoppedUntil(_)) => {
                self.actions.kills += 1;
                self.actions.kills_of_stopped += 1;
            }
            (25..60, State::Runs) => {
                self.actions.stalls += 1;
                return worker.stop(Instant::now() + Duration::from_millis(stop_ms));
            }
            (60.., State::Runs) => {
                self.actions.orderly_ends += 1;
                worker.ask_to_end();
                return Ok(());
            }
            _ => return Ok(()),
        }
        worker.kill()
    }

    /// Starts a worker. Some workers are killed or stopped while they join, perhaps while they hold the registry lock.
    fn start(&mut self) -> Result<()> {
        self.actions.starts += 1;
        let mut worker = Process::start(self.actions.starts, self.rng.u64(..), self.root)?;
        let chance = self.rng.u32(..12);
        if chance < 4 {
            std::thread::sleep(Duration::from_micros(self.rng.u64(..6000)));
        }
        match chance {
            0..2 => {
                self.actions.kills += 1;
                worker.kill()?;
            }
            2..4 => {
                self.actions.stalls += 1;
                worker.stop(Instant::now() + Duration::from_millis(self.rng.u64(..LONGEST_STALL_MS)))?;
            }
            _ => {}
        }
        self.workers.push(worker);
        Ok(())
    }

    /// Checks all processes, and resumes workers whose stop is over.
    fn check_all(&mut self) -> Result<()> {
        self.survivor.check()?;
        let mut index = 0;
        while index < self.workers.len() {
            let worker = &mut self.workers[index];
            if let State::StoppedUntil(until) = worker.state {
                self.last_stop = Instant::now();
                if Instant::now() >= until {
                    worker.resume()?;
                }
            }
            if worker.has_exited()? {
                let gone = self.workers.swap_remove(index);
                let reports = gone.reports();
                add(&mut self.counts, &reports.counts);
                self.orphans.extend(&reports.forked);
            } else {
                index += 1;
            }
        }
        self.check_orphans()?;
        let registry_busy = self.all_counts()[Count::RegistryBusy as usize];
        if registry_busy > self.registry_busy && self.last_stop.elapsed() > BUSY_AFTER_STOP {
            return Err("the registry was busy for 5 s, though no worker had been stopped for long".to_owned());
        }
        self.registry_busy = registry_busy;
        Ok(())
    }

    fn check_orphans(&mut self) -> Result<()> {
        let mut living = Vec::new();
        for orphan in self.orphans.drain(..) {
            if !forked::orphan_has_ended(orphan)? {
                living.push(orphan);
            }
        }
        self.orphans = living;
        Ok(())
    }

    fn all_counts(&self) -> Counts {
        let mut all = self.counts;
        self.workers.iter().for_each(|worker| add(&mut all, &worker.reports().counts));
        add(&mut all, &here());
        all
    }

    /// Ends all workers. A running worker is killed with probability 1/4, and otherwise asked to end.
    fn end_all(&mut self) -> Result<()> {
        for worker in &mut self.workers {
            if matches!(worker.state, State::StoppedUntil(_)) {
                worker.resume()?;
            }
            if worker.state != State::Runs {
                continue;
            }
            if self.rng.u32(..4) == 0 {
                self.actions.kills += 1;
                worker.kill()?;
            } else {
                self.actions.orderly_ends += 1;
                worker.ask_to_end();
            }
        }
        while !self.workers.is_empty() || !self.orphans.is_empty() {
            self.check_all()?;
            std::thread::sleep(TICK);
        }
        Ok(())
    }

    /// Waits until `is_true` returns true. After the time limit, the error contains `what`.
    fn until(&mut self, what: &str, is_true: impl Fn(&Soak) -> Result<bool>) -> Result<()> {
        let began = Instant::now();
        while !is_true(self)? {
            self.survivor.check()?;
            if began.elapsed() > SETTLE_LIMIT {
                return Err(format!("waited {SETTLE_LIMIT:?} for {what}"));
            }
            std::thread::sleep(TICK);
        }
        Ok(())
    }
}

/// Lists all files and directories under `root`.
fn files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut to_visit = vec![root.to_owned()];
    while let Some(directory) = to_visit.pop() {
        let cannot = |e: std::io::Error| format!("cannot list {}: {e}", directory.display());
        for entry in std::fs::read_dir(&directory).map_err(cannot)? {
            let path = entry.map_err(cannot)?.path();
            if path.is_dir() {
                to_visit.push(path.clone());
            }
            found.push(path);
        }
    }
    Ok(found)
}
