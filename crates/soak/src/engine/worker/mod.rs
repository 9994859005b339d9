//! A worker process. It joins a domain, runs players, leaves, and joins again, until the coordinator kills it or asks
//! it to end.
//!
//! The coordinator asks the worker to end by closing the worker's standard input. The worker writes lines to standard
//! output: its counts (`counts N N …`), a forked child (`forked PID`), or its error (`failed SENTENCE`).

mod pipe;
mod player;

use crate::{
    accounts::{
        beat::{Beat, Beats},
        counts::{self, Count, count},
    },
    endpoint::{
        allowed,
        holder::{self, HeldItem},
    },
    outcome::Result,
};
use fastrand::Rng;
use gantry_shm::Participant;
use pipe::{must_end, say, watch_end};
use player::Player;
use rustix::process::{Signal, set_parent_process_death_signal};
use std::{
    path::Path,
    sync::{
        Arc,
        mpsc::{Sender, channel},
    },
    time::Duration,
};

const CHECK_PERIOD: Duration = Duration::from_millis(100);
/// The domains that workers join, by probability. No process stays in domain 1, so this domain is often removed and
/// created again.
const DOMAINS: [u32; 8] = [0, 0, 0, 0, 0, 0, 0, 1];
const MOST_PLAYERS: usize = 3;

fn fail(why: &str) -> ! {
    say(&format!("failed {}", why.replace('\n', " ")));
    std::process::exit(1);
}

/// Joins and leaves domains until the coordinator asks the worker to end.
pub fn run(root: &Path, seed: u64) -> Result<()> {
    std::panic::set_hook(Box::new(|panic| fail(&panic.to_string())));
    // The kernel sends SIGKILL to this process if the coordinator dies, which ends the process even while it is
    // stopped.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|e| format!("cannot ask for a signal: {e}"))?;
    let mut rng = Rng::with_seed(seed);
    let beats = Arc::new(Beats::default());
    let (beat, holder_beat, holder_rng) = (beats.add(), beats.add(), rng.fork());
    let (holder, things) = channel();
    watch_end();
    let watched = beats.clone();
    std::thread::spawn(move || watch(&watched));
    let holding = std::thread::spawn(move || or_fail(holder::run(&things, holder_rng, &holder_beat)));
    while !must_end() {
        or_fail(membership(root, &mut rng, &holder, &beat, &beats));
    }
    drop(holder);
    let _ = holding.join(); // a panic there ends the process
    say_counts();
    Ok(())
}

fn or_fail<T>(result: Result<T>) -> T {
    result.unwrap_or_else(|why| fail(&why))
}

/// Sends the counts, and checks that all threads make progress.
fn watch(beats: &Beats) {
    loop {
        std::thread::sleep(CHECK_PERIOD);
        or_fail(beats.check_all());
        say_counts();
    }
}

fn say_counts() {
    let counts: Vec<String> = counts::here().iter().map(u64::to_string).collect();
    say(&format!("counts {}", counts.join(" ")));
}

/// Joins a domain, runs some players, and leaves.
fn membership(root: &Path, rng: &mut Rng, holder: &Sender<HeldItem>, beat: &Beat, beats: &Beats) -> Result<()> {
    beat.at("joining");
    let domain_id = DOMAINS[rng.usize(..DOMAINS.len())];
    let Some(participant) = allowed(Participant::join_under(root, domain_id))? else { return Ok(()) };
    count(Count::Joins, 1);
    std::thread::scope(|scope| {
        for _ in 0..rng.usize(1..=MOST_PLAYERS) {
            let (participant, rng, holder, beat) = (participant.clone(), rng.fork(), holder.clone(), beats.add());
            scope.spawn(move || or_fail(Player::new(participant, rng, holder, &beat).play()));
        }
        beat.rest();
    });
    beat.at("leaving");
    drop(participant);
    count(Count::Leaves, 1);
    Ok(())
}
