//! The other process of a benchmark that needs two processes.
//!
//! In the benchmark, the other process is a [`Peer`]; the other process itself plays a [`Role`]. The benchmark writes
//! lines, and the other process answers each line by `ok` or by an error's sentence. Before a turn of the measurement
//! it also answers `ready`. The last line is `end`. Between lines, the other process sleeps in a read. If its input
//! ends without `end`, the benchmark was killed.

use crate::{Process, Result, cpus::Cpus};
use std::io::{BufRead, Write};

const READY: &str = "ready";
const OK: &str = "ok";

/// The role of the other process, parsed from its command line.
pub struct Role {
    /// The directory or domain in which both processes meet.
    pub place: String,
    /// The CPUs that both processes may use.
    pub cpus: Cpus,
}

impl Role {
    /// Parses the words that [`Peer::start`] put on the command line of this process.
    pub fn parse(words: &[String]) -> Result<Role> {
        let (place, cpus) = words.split_first().ok_or("the other process needs a meeting point and CPU numbers")?;
        let cpus: std::result::Result<Vec<usize>, _> = cpus.iter().map(|cpu| cpu.parse()).collect();
        let cpus = cpus.map_err(|why| format!("the other process needs a meeting point and CPU numbers: {why}"))?;
        let first = *cpus.first().ok_or("the other process needs at least one CPU number")?;
        Ok(Role { place: place.clone(), cpus: Cpus { first, second: cpus.get(1).copied() } })
    }

    /// Calls `obey` for each line, up to the line `end`. In a turn, `obey` passes the output to [`ready`].
    pub fn play(&self, mut obey: impl FnMut(&str, &mut dyn Write) -> Result<()>) -> Result<()> {
        let mut output = std::io::stdout().lock();
        for line in std::io::stdin().lock().lines() {
            let line = line?;
            match obey(&line, &mut output) {
                Ok(()) => writeln!(output, "{OK}")?,
                Err(error) => writeln!(output, "{}", error.to_string().replace('\n', " "))?,
            }
            output.flush()?;
            if line == "end" {
                return Ok(());
            }
        }
        Err("the benchmark ended without the line `end`; its files are removed".into())
    }
}

/// Answers that the turn has started.
pub fn ready(output: &mut dyn Write) -> Result<()> {
    writeln!(output, "{READY}")?;
    Ok(output.flush()?)
}

/// The other process, as the benchmark handles it. If this value is dropped before [`Peer::end`], the process is
/// killed.
pub struct Peer(Process);

impl Peer {
    /// Starts the other process; `cpus` are the CPUs of both processes.
    pub fn start(place: &str, cpus: &Cpus) -> Result<Peer> {
        let cpus = cpus.all().into_iter().map(|cpu| cpu.to_string());
        Ok(Peer(Process::start(std::iter::once(place.to_owned()).chain(cpus))?))
    }

    /// Writes a line to the other process.
    pub fn say(&mut self, line: &str) -> Result<()> {
        self.0.say(line)
    }

    /// Waits until the other process has started its turn.
    pub fn expect_ready(&mut self) -> Result<()> {
        self.expect(READY)
    }

    /// Waits until the other process has executed the line.
    pub fn expect_ok(&mut self) -> Result<()> {
        self.expect(OK)
    }

    fn expect(&mut self, wanted: &str) -> Result<()> {
        let said = self.0.line()?;
        if said == wanted { Ok(()) } else { Err(format!("the other process says: {said}").into()) }
    }

    /// Ends the other process.
    pub fn end(mut self) -> Result<()> {
        self.say("end")?;
        self.expect_ok()?;
        self.0.end()
    }
}
