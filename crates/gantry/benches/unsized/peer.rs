//! The other process: this program again, told by lines on its standard input what to do.
//!
//! `Peer` is how the benchmark holds it, `play` is what it does. Lines are `meet`, `turn PLACE TOUCH` and `end`; each but the
//! last is answered by a line, `ok` or what went wrong; a turn first says `ready`. Between lines it sleeps in a read. If its
//! input ends, the benchmark is gone and so is it.

use crate::{
    Result,
    cpus::Cpus,
    hop::{self, Hop, Side},
    touch::Touch,
};
use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

const CHILD: &str = "--child";
const READY: &str = "ready";
const OK: &str = "ok";

/// What the other process is told when it is started.
pub struct Role {
    session: u32,
    cpus: Cpus,
}

impl Role {
    /// `None`: this is not the other process.
    pub fn parse(arguments: &[String]) -> Result<Option<Role>> {
        let [first, numbers @ ..] = arguments else { return Ok(None) };
        if first != CHILD {
            return Ok(None);
        }
        let numbers: std::result::Result<Vec<usize>, _> = numbers.iter().map(|number| number.parse()).collect();
        match numbers.map_err(|why| format!("{CHILD} needs a process and CPU numbers: {why}"))?[..] {
            [session, first, ref rest @ ..] => {
                Ok(Some(Role { session: session as u32, cpus: Cpus { first, second: rest.first().copied() } }))
            }
            _ => Err(format!("{CHILD} needs a process and at least one CPU number").into()),
        }
    }
}

/// What the other process does, until it is told to end.
pub fn play(role: &Role) -> Result<()> {
    let mut hops = hop::all(role.session, Side::Pong, &role.cpus)?;
    Cpus::pin(&[role.cpus.second.unwrap_or(role.cpus.first)])?;
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        if line == "end" {
            return Ok(());
        }
        match obey(&line, &mut hops, &mut output) {
            Ok(()) => writeln!(output, "{OK}")?,
            Err(error) => writeln!(output, "{}", error.to_string().replace('\n', " "))?,
        }
        output.flush()?;
    }
    Err("the benchmark ended without a word".into())
}

fn obey(line: &str, hops: &mut [Box<dyn Hop>], output: &mut impl Write) -> Result<()> {
    let words: Vec<&str> = line.split(' ').collect();
    match words[..] {
        ["meet"] => hops.iter_mut().try_for_each(|hop| hop.meet()),
        ["turn", place, touch] => {
            let touch = [Touch::Whole, Touch::Stamped].into_iter().find(|known| known.name() == touch);
            let (Some(hop), Some(touch)) = (hops.get_mut(place.parse::<usize>()?), touch) else {
                return Err(format!("there is no {line}").into());
            };
            writeln!(output, "{READY}")?;
            output.flush()?;
            hop.answer(touch)
        }
        _ => Err(format!("the benchmark said {line:?}, which means nothing").into()),
    }
}

/// The other process, held by the benchmark. Killed when dropped, if it was not ended.
pub struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts it.
    pub fn start(cpus: &Cpus) -> Result<Peer> {
        let program = std::env::current_exe().map_err(|why| format!("cannot find this program's own file: {why}"))?;
        let mut child = Command::new(program)
            .arg(CHILD)
            .arg(std::process::id().to_string())
            .args(cpus.all().iter().map(usize::to_string))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
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
