//! The survivor: the coordinator's own publishers and subscriptions. They live during the whole run, and must always
//! make progress.
//!
//! One thread publishes, and another thread takes. Neither thread may pause for long, even while other processes stall
//! or die.

use crate::{
    endpoint::{Listener, Talker, allowed},
    outcome::Result,
    samples::{
        checker::now_ns,
        topic::{COMMON, SURVIVORS, Topic, any_qos, survivors_qos},
    },
};
use fastrand::Rng;
use gantry_shm::{Participant, PublisherOptions, Subscription, WaitSet};
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread::JoinHandle,
    time::Duration,
};

/// The longest allowed pause, much longer than the pauses on a busy machine.
const PAUSE_LIMIT_MS: u64 = 15_000;
/// The time between two turns of publishing on all topics.
const PERIOD: Duration = Duration::from_micros(500);
const WAIT: Duration = Duration::from_millis(100);
const MOST_HELD: usize = 12;
/// The number of samples that are taken from one topic before the next topic gets its turn.
const TAKES: usize = 64;

/// The time of a thread's last progress on a topic, and the longest pause until now.
#[derive(Default)]
struct Progress {
    last_ns: AtomicU64,
    longest_ns: AtomicU64,
}

impl Progress {
    fn made(&self) {
        let (now, last) = (now_ns(), self.last_ns.load(Relaxed));
        if last > 0 {
            self.longest_ns.fetch_max(now - last, Relaxed);
        }
        self.last_ns.store(now, Relaxed);
    }

    fn pause_ms(&self) -> u64 {
        match self.last_ns.load(Relaxed) {
            0 => 0,
            last => now_ns().saturating_sub(last) / 1_000_000,
        }
    }
}

#[derive(Default)]
struct Shared {
    stops: AtomicBool,
    /// The progress on each of the survivor's topics, in the order of [`SURVIVORS`].
    published: [Progress; SURVIVORS.len()],
    taken: [Progress; SURVIVORS.len()],
}

/// The threads of the survivor.
pub struct Survivor {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<Result<()>>>,
}

impl Survivor {
    /// Joins the domain, and starts the threads.
    pub fn start(root: &Path, rng: &mut Rng) -> Result<Survivor> {
        let participant = Participant::join_under(root, 0).map_err(|error| error.to_string())?;
        let shared = Arc::new(Shared::default());
        let (mut talkers, mut listeners) = (Vec::new(), Vec::new());
        for (topic, qos) in SURVIVORS.iter().zip(survivors_qos()) {
            // The blocking time is short, because a publish call that waits for a stopped reader delays the other
            // topics.
            let options = PublisherOptions { max_blocking_time: Duration::from_millis(2), ..Default::default() };
            talkers.extend(Talker::new(&participant, topic, qos, options)?);
            listeners.extend(Listener::new(&participant, topic, qos)?);
        }
        for topic in &COMMON {
            listeners.extend(Listener::new(&participant, topic, any_qos(rng))?);
        }
        if talkers.len() < SURVIVORS.len() || listeners.len() < SURVIVORS.len() + COMMON.len() {
            return Err("there is not enough room in shared memory to begin".to_owned());
        }
        let (talks, listens, talker_rng, listener_rng) = (shared.clone(), shared.clone(), rng.fork(), rng.fork());
        let wait_set = WaitSet::new(&participant);
        let threads = vec![
            std::thread::spawn(move || talk(talkers, talker_rng, &talks)),
            std::thread::spawn(move || listen(listeners, wait_set, listener_rng, &listens)),
        ];
        Ok(Survivor { shared, threads })
    }

    /// Returns an error if a thread failed or makes no progress.
    pub fn check(&mut self) -> Result<()> {
        if let Some(index) = self.threads.iter().position(JoinHandle::is_finished) {
            return join(self.threads.swap_remove(index));
        }
        for (what, all) in [("published", &self.shared.published), ("took", &self.shared.taken)] {
            let late =
                |&(progress, topic): &(&Progress, &Topic)| !topic.is_gated && progress.pause_ms() > PAUSE_LIMIT_MS;
            if let Some((progress, topic)) = all.iter().zip(&SURVIVORS).find(late) {
                return Err(format!("the survivor {what} nothing on {} for {} ms", topic.name, progress.pause_ms()));
            }
        }
        Ok(())
    }

    /// True if the subscription of each of the survivor's topics has taken a sample.
    pub fn has_taken_from_all(&self) -> bool {
        self.shared.taken.iter().all(|progress| progress.last_ns.load(Relaxed) > 0)
    }

    /// The longest pauses of publishing and of taking, in ms, on topics whose publisher waits for no reader.
    pub fn longest_pauses_ms(&self) -> [u64; 2] {
        [&self.shared.published, &self.shared.taken].map(|all| {
            let longest = all.iter().zip(&SURVIVORS).filter(|(_, topic)| !topic.is_gated);
            longest.map(|(progress, _)| progress.longest_ns.load(Relaxed)).max().unwrap_or(0) / 1_000_000
        })
    }

    /// Ends the threads, and leaves the domain.
    pub fn stop(mut self) -> Result<()> {
        self.shared.stops.store(true, Relaxed);
        std::mem::take(&mut self.threads).into_iter().try_for_each(join)
    }
}

fn join(thread: JoinHandle<Result<()>>) -> Result<()> {
    let ended = thread.join().unwrap_or_else(|_| Err("it panicked".to_owned()));
    ended.map_err(|why| format!("the survivor: {why}"))
}

fn talk(mut talkers: Vec<Talker>, mut rng: Rng, shared: &Shared) -> Result<()> {
    while !shared.stops.load(Relaxed) {
        for (talker, progress) in talkers.iter_mut().zip(&shared.published) {
            if let Some(loan) = talker.loan(&mut rng)?
                && talker.publish(loan)?.is_none()
            {
                progress.made();
            }
        }
        std::thread::sleep(PERIOD);
    }
    Ok(())
}

fn listen(mut listeners: Vec<Listener>, mut wait_set: WaitSet, mut rng: Rng, shared: &Shared) -> Result<()> {
    let mut held = Vec::new();
    while !shared.stops.load(Relaxed) {
        let mut subscriptions: Vec<&mut Subscription> = Vec::new();
        subscriptions.extend(listeners.iter_mut().map(|listener| &mut listener.subscription));
        allowed(wait_set.wait(&mut subscriptions, WAIT))?;
        for (index, listener) in listeners.iter_mut().enumerate() {
            for _ in 0..TAKES {
                let Some(sample) = listener.take()? else { break };
                if let Some(progress) = shared.taken.get(index) {
                    progress.made();
                }
                if rng.u32(..8) > 0 {
                    sample.release()?;
                    continue;
                }
                held.push(sample);
                if held.len() > MOST_HELD {
                    held.swap_remove(rng.usize(..held.len())).release()?;
                }
            }
        }
        // Samples of publishers that have ended must not be held for long, because they keep the publishers' memory.
        if rng.u32(..256) == 0 {
            held.drain(..).try_for_each(|sample| sample.release())?;
        }
    }
    drop(listeners);
    held.into_iter().try_for_each(|sample| sample.release())
}
