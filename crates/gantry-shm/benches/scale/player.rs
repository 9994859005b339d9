//! The other processes: this program again, each in a role.

use super::{Result, publisher, subscription};
use gantry_shm::Participant;
use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

/// Topics of each process among many: 200 processes have 1000.
const TOPICS_EACH: usize = 5;

/// How a child is called.
pub const CHILD: &str = "--child";

/// A process that plays a role; killed when dropped.
pub struct Player {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Player {
    /// Starts it; it waits for [`Player::go`].
    pub fn start(role: &str, root: &Path, number: usize) -> Result<Player> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args([CHILD, role]).arg(root).arg(number.to_string());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take().ok_or("a child has no output")?);
        let mut player = Player { child, input, output: BufReader::new(output) };
        player.line()?;
        Ok(player)
    }

    /// Lets it join.
    pub fn go(&mut self) -> Result<()> {
        Ok(self.input.as_mut().ok_or("a child has no input")?.write_all(b"go\n")?)
    }

    /// Waits until it joined and has its endpoints; how long that took it.
    pub fn ready_ms(&mut self) -> Result<f64> {
        let line = self.line()?;
        line.trim().parse().map_err(|_| format!("a child says {line:?} and not how long it took").into())
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        if line.is_empty() { Err(format!("a child ended: {:?}", self.child.wait()?).into()) } else { Ok(line) }
    }

    /// Lets it leave in an orderly way.
    pub fn leave(&mut self) -> Result<()> {
        self.input = None;
        let status = self.child.wait()?;
        if status.success() { Ok(()) } else { Err(format!("a child failed: {status}").into()) }
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        // It may be gone.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A child's side.
pub fn play(role: &str, root: &Path, number: &str) -> Result<()> {
    say("here")?;
    let until_told = || std::io::stdin().lines().next();
    until_told();
    let start = Instant::now();
    let participant = Participant::join_under(root, 0)?;
    let took = || say(&format!("{}", start.elapsed().as_secs_f64() * 1e3));
    match role {
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
