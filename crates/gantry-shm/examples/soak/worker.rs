//! A worker process: joins, lets players do what they like, leaves, and joins again, until it is told to end, or killed.
//!
//! Its standard input is open as long as it should go on; on its standard output it says, a line each, what it counted so far
//! (`counts N N …`), that it forked (`forked PID`), and why it fails (`failed SENTENCE`).

use crate::{
    Result,
    beat::{Beat, Beats},
    counts::{self, Count, count},
    endpoint::allowed,
    holder::{self, Thing},
    player::Player,
};
use fastrand::Rng;
use gantry_shm::Participant;
use rustix::process::{Signal, set_parent_process_death_signal};
use std::{
    io::{Read, Write},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc::{Sender, channel},
    },
    time::Duration,
};

const LOOK_PERIOD: Duration = Duration::from_millis(100);
/// The second domain is nobody's home: it comes and goes.
const DOMAINS: [u32; 8] = [0, 0, 0, 0, 0, 0, 0, 1];
const MOST_PLAYERS: usize = 3;

static HAS_TO_END: AtomicBool = AtomicBool::new(false);

/// Whether the coordinator told it to end.
pub fn has_to_end() -> bool {
    HAS_TO_END.load(Relaxed)
}

/// Tells the coordinator; if that is gone, ends.
pub fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
        std::process::exit(1);
    }
}

fn fail(why: &str) -> ! {
    say(&format!("failed {}", why.replace('\n', " ")));
    std::process::exit(1);
}

/// Works until it is told to end.
pub fn run(root: &Path, seed: u64) -> Result<()> {
    std::panic::set_hook(Box::new(|panic| fail(&panic.to_string())));
    // Also if it is stopped just then.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|e| format!("cannot ask for a signal: {e}"))?;
    let mut rng = Rng::with_seed(seed);
    let beats = Arc::new(Beats::default());
    let (beat, holder_beat, holder_rng) = (beats.add(), beats.add(), rng.fork());
    let (holder, things) = channel();
    std::thread::spawn(|| {
        let _ = std::io::stdin().lock().read_to_end(&mut Vec::new());
        HAS_TO_END.store(true, Relaxed);
    });
    let watched = beats.clone();
    std::thread::spawn(move || watch(&watched));
    let holding = std::thread::spawn(move || or_fail(holder::run(&things, holder_rng, &holder_beat)));
    while !has_to_end() {
        or_fail(scene(root, &mut rng, &holder, &beat, &beats));
    }
    drop(holder);
    let _ = holding.join(); // a panic there has ended us
    say_counts();
    Ok(())
}

fn or_fail<T>(result: Result<T>) -> T {
    result.unwrap_or_else(|why| fail(&why))
}

/// Says that it is there, and looks whether all threads get on.
fn watch(beats: &Beats) {
    loop {
        std::thread::sleep(LOOK_PERIOD);
        or_fail(beats.look());
        say_counts();
    }
}

fn say_counts() {
    let counts: Vec<String> = counts::here().iter().map(u64::to_string).collect();
    say(&format!("counts {}", counts.join(" ")));
}

/// One membership.
fn scene(root: &Path, rng: &mut Rng, holder: &Sender<Thing>, beat: &Beat, beats: &Beats) -> Result<()> {
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
