//! The other process: this program again, told by lines on its standard input what to do.
//!
//! `Peer` is how `schedule` holds it, `play` is what it does. Lines are `build`, `meet`, `turn PLACE COUNT` and `end`; each but
//! the last is answered by a line, `ok` or what went wrong; a turn first says `ready`. Between lines it sleeps in a read. If its
//! input ends without `end`, the benchmark was killed: it then removes what both made. It has its own process group, so that an
//! interrupt from a terminal reaches it this way too.

use crate::{
    Result,
    contestant::{Contestant, Side},
    cpus::Cpus,
    root::Root,
    variant::{self, Variant},
};
use std::{
    io::{BufRead, BufReader, Write},
    os::unix::process::CommandExt,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

const CHILD: &str = "--child";
const READY: &str = "ready";
const OK: &str = "ok";

/// What the other process is told when it is started.
pub struct Role {
    root: String,
    cpus: Cpus,
}

impl Role {
    /// `None`: this is not the other process.
    pub fn parse(arguments: &[String]) -> Result<Option<Role>> {
        let [first, root, cpus @ ..] = arguments else { return Ok(None) };
        if first != CHILD {
            return Ok(None);
        }
        let cpus: std::result::Result<Vec<usize>, _> = cpus.iter().map(|cpu| cpu.parse()).collect();
        let cpus = cpus.map_err(|why| format!("{CHILD} needs a directory and CPU numbers: {why}"))?;
        let first = *cpus.first().ok_or_else(|| format!("{CHILD} needs at least one CPU number"))?;
        Ok(Some(Role { root: root.clone(), cpus: Cpus { first, second: cpus.get(1).copied() } }))
    }
}

/// What the other process does, until it is told to end.
pub fn play(role: &Role) -> Result<()> {
    let root = Root::at(&role.root);
    let (mut built, variants) = (Vec::new(), variant::usable(&role.cpus));
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        if line == "end" {
            built.clear();
            writeln!(output, "{OK}")?;
            return Ok(());
        }
        match obey(&line, &root, &role.cpus, &variants, &mut built, &mut output) {
            Ok(()) => writeln!(output, "{OK}")?,
            Err(error) => writeln!(output, "{}", error.to_string().replace('\n', " "))?,
        }
        output.flush()?;
    }
    Err("the benchmark ended without a word; what it made is removed".into())
}

fn obey(
    line: &str,
    root: &Root,
    cpus: &Cpus,
    variants: &[Variant],
    built: &mut Vec<Box<dyn Contestant>>,
    output: &mut impl Write,
) -> Result<()> {
    let words: Vec<&str> = line.split(' ').collect();
    match words[..] {
        ["build"] => {
            for (place, variant) in variants.iter().enumerate() {
                built.push(variant.build(root, place, cpus, Side::Pong)?);
            }
            Ok(())
        }
        ["meet"] => built.iter_mut().try_for_each(|contestant| contestant.meet()),
        ["turn", place, count] => {
            let (place, count): (usize, usize) = (place.parse()?, count.parse()?);
            let (Some(variant), Some(contestant)) = (variants.get(place), built.get_mut(place)) else {
                return Err(format!("there is no variant {place}").into());
            };
            Cpus::pin(&[variant.cpu(cpus, Side::Pong)])?;
            writeln!(output, "{READY}")?;
            output.flush()?;
            contestant.answer(count)
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
    pub fn start(root: &Root, cpus: &Cpus) -> Result<Peer> {
        let program = std::env::current_exe().map_err(|why| format!("cannot find this program's own file: {why}"))?;
        let mut child = Command::new(program)
            .arg(CHILD)
            .arg(root.path())
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
