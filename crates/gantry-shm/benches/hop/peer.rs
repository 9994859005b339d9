//! The other process: this program again, told by lines on its standard input what to do.
//!
//! Used by the benchmarks `hop` and, of `gantry`, `unsized` and `executors`. `Peer` is how the benchmark holds it, `Role::play` is
//! how it listens. The last line is `end`; each is answered by a line, `ok` or what went wrong; one that takes a turn says `ready`
//! first. Between lines it sleeps in a read. If its input ends without `end`, the benchmark was killed. It has its own process
//! group, so that an interrupt from a terminal reaches it this way too. `begin` is their `main`: which of both this process is.

use crate::{Result, cpus::Cpus};
use std::{
    ffi::OsStr,
    io::{BufRead, BufReader, Write},
    os::unix::process::CommandExt,
    process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio},
};

const CHILD: &str = "--child";
const READY: &str = "ready";
const OK: &str = "ok";

/// Plays the role that the command line gives, or measures with its arguments; an error is said after the benchmark's `name`.
pub fn begin(name: &str, play: fn(&Role) -> Result<()>, measure: fn(&[String]) -> Result<()>) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match Role::parse(&arguments) {
        Ok(Some(role)) => play(&role),
        Ok(None) => measure(&arguments),
        Err(error) => Err(error),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What the other process is told when it is started.
pub struct Role {
    /// Where both meet.
    pub place: String,
    /// What both may use.
    pub cpus: Cpus,
}

impl Role {
    /// `None`: this is not the other process.
    fn parse(arguments: &[String]) -> Result<Option<Role>> {
        let [first, place, cpus @ ..] = arguments else { return Ok(None) };
        if first != CHILD {
            return Ok(None);
        }
        let cpus: std::result::Result<Vec<usize>, _> = cpus.iter().map(|cpu| cpu.parse()).collect();
        let cpus = cpus.map_err(|why| format!("{CHILD} needs a place and CPU numbers: {why}"))?;
        let first = *cpus.first().ok_or_else(|| format!("{CHILD} needs at least one CPU number"))?;
        Ok(Some(Role { place: place.clone(), cpus: Cpus { first, second: cpus.get(1).copied() } }))
    }

    /// Does what it is told, line by line, until the line `end` is done. Who takes a turn gets the output to say so (`ready`).
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
        Err("the benchmark ended without a word; what it made is removed".into())
    }
}

/// Says that the turn begins.
pub fn ready(output: &mut dyn Write) -> Result<()> {
    writeln!(output, "{READY}")?;
    Ok(output.flush()?)
}

/// The other process, held by the benchmark. Killed when dropped, if it was not ended.
pub struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts it, to play a role on those CPUs.
    pub fn start(place: impl AsRef<OsStr>, cpus: &Cpus) -> Result<Peer> {
        let program = std::env::current_exe().map_err(|why| format!("cannot find this program's own file: {why}"))?;
        let mut child = Command::new(program)
            .arg(CHILD)
            .arg(place)
            .args(cpus.all().iter().map(usize::to_string))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|why| format!("cannot start this program as the other process: {why}"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the other process has no pipes".into());
        };
        Ok(Peer { child, input, output: BufReader::new(output) })
    }

    /// Says a line.
    pub fn say(&mut self, line: &str) -> Result<()> {
        writeln!(self.input, "{line}")
            .map_err(|why| format!("the other process does not listen any more: {why}").into())
    }

    /// Waits until it is in its turn.
    pub fn expect_ready(&mut self) -> Result<()> {
        self.expect(READY)
    }

    /// Waits until it has done what it was told.
    pub fn expect_ok(&mut self) -> Result<()> {
        self.expect(OK)
    }

    fn expect(&mut self, wanted: &str) -> Result<()> {
        let mut line = String::new();
        self.output.read_line(&mut line).map_err(|why| format!("cannot read from the other process: {why}"))?;
        match line.trim_end() {
            "" => Err("the other process ended without a word".into()),
            said if said == wanted => Ok(()),
            said => Err(format!("the other process says: {said}").into()),
        }
    }

    /// Ends it.
    pub fn end(mut self) -> Result<()> {
        self.say("end")?;
        self.expect_ok()?;
        let status = self.child.wait().map_err(|why| format!("cannot wait for the other process: {why}"))?;
        if status.success() { Ok(()) } else { Err(format!("the other process ended with {status}").into()) }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // Errors mean that it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
