//! The other processes: this program again, each in a role.

use super::{Result, publisher, subscription};
use bench_support::Process;
use gantry_shm::Participant;
use std::{
    io::Write,
    path::Path,
    time::{Duration, Instant},
};

/// Topics of each process among many: 200 processes have 1000.
const TOPICS_EACH: usize = 5;

/// A process that plays a role.
pub struct Player(Process);

impl Player {
    /// Starts it; it waits for [`Player::go`].
    pub fn start(role: &str, root: &Path, number: usize) -> Result<Player> {
        let mut process = Process::start([role, &root.to_string_lossy(), &number.to_string()])?;
        process.line()?;
        Ok(Player(process))
    }

    /// Lets it join.
    pub fn go(&mut self) -> Result<()> {
        self.0.say("go")
    }

    /// Waits until it joined and has its endpoints; how long that took it.
    pub fn ready_ms(&mut self) -> Result<f64> {
        let line = self.0.line()?;
        line.parse().map_err(|_| format!("a child says {line:?} and not how long it took").into())
    }

    /// Lets it leave in an orderly way.
    pub fn leave(&mut self) -> Result<()> {
        self.0.end()
    }
}

/// A child's side.
pub fn play(words: &[String]) -> Result<()> {
    let [role, root, number] = words else { return Err(format!("there is no role {words:?}").into()) };
    let root: &Path = root.as_ref();
    say("here")?;
    let until_told = || std::io::stdin().lines().next();
    until_told();
    let start = Instant::now();
    let participant = Participant::join_under(root, 0)?;
    let took = || say(&format!("{}", start.elapsed().as_secs_f64() * 1e3));
    match &**role {
        // One of many in a domain: talks on some topics, and listens to its neighbour's.
        "neighbour" => {
            let first = number.parse::<usize>()? * TOPICS_EACH;
            let mut endpoints = Vec::new();
            for topic in first..first + TOPICS_EACH {
                let publisher = publisher(&participant, &format!("/topic_{topic}"))?;
                let subscription = subscription(&participant, &format!("/topic_{}", topic + TOPICS_EACH))?;
                endpoints.push((publisher, subscription));
            }
            took()?;
            until_told();
        }
        // One of many readers of a topic, which does not sleep there: waking it would be all that a publish costs.
        "reader" => {
            let mut subscription = subscription(&participant, "/popular")?;
            subscription.publisher_count()?;
            took()?;
            until_told();
        }
        // Joins and leaves all the time.
        "restless" => {
            took()?;
            drop(participant);
            let (told, tell) = std::sync::mpsc::channel();
            std::thread::spawn(move || {
                until_told();
                told.send(())
            });
            while tell.recv_timeout(Duration::ZERO).is_err() {
                let participant = Participant::join_under(root, 0)?;
                let _publisher = publisher(&participant, "/fleeting")?;
                let _subscription = subscription(&participant, "/popular")?;
            }
        }
        _ => return Err(format!("there is no role {role}").into()),
    }
    Ok(())
}

fn say(line: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}
