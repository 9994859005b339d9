//! A run of the benchmark program, in the emulator or on the host. A serial line connects the program with an agent.

use std::ffi::OsStr;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{
    image::StackArea,
    peer::Peer,
    process::Process,
    target::{EMULATOR, Target},
    variant::Variant,
};
use crate::rig::host_failed;
use perf_test::common::interrupt::Interrupt;

/// The domain of the runs: the highest one, which robots rarely use.
const DOMAIN: u32 = gantry::MAX_DOMAIN_ID;
/// The longest time that a run may take. A run takes about a second.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The longest time that the agent needs to open its line, and the emulator to write a file.
const START_TIMEOUT: Duration = Duration::from_secs(10);
/// The time between two steps of the host's side.
const POLL: Duration = Duration::from_millis(2);
/// The end of the line that the agent prints when the program has closed its session.
const END: &str = " has left";
/// The byte with which the unused stack is filled.
const PAINT: u8 = 0xcc;

/// The figures of a run, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    /// The greatest depth of the stack.
    pub stack_bytes: u64,
    /// The total of all allocations.
    pub heap_bytes: u64,
}

/// The agent, the machine and the files of a run.
#[derive(Debug)]
pub struct Runner<'a> {
    /// The path of the agent's program.
    pub agent: &'a Path,
    /// The machine.
    pub target: Target,
    /// A folder for the files of the run.
    pub scratch: &'a Path,
    /// The flag that the user wants to end the experiment.
    pub interrupt: &'a Interrupt,
}

impl Runner<'_> {
    /// Runs a program to its end.
    ///
    /// # Errors
    /// The reason, as a sentence: a process does not start, or the program does not end in time.
    pub fn run(&self, variant: &Variant, program: &Path, stack: Option<StackArea>) -> Result<Used, String> {
        let mut peer = Peer::open(variant, DOMAIN).map_err(host_failed)?;
        let mut agent = Process::start(self.agent.as_os_str(), ["pty", "--verbose", "--domain", &DOMAIN.to_string()])?;
        let deadline = Instant::now() + START_TIMEOUT;
        let line = loop {
            match agent.line(POLL)? {
                Some(line) if line.starts_with('/') => break line,
                _ if Instant::now() >= deadline => return Err(agent.failure("has opened no line")),
                _ => {}
            }
        };
        let used = match (self.target, stack) {
            (Target::Thumbv7m, Some(stack)) => self.emulate(program, stack, &line, &mut agent, &mut peer),
            (Target::Thumbv7m, None) => Err(format!("{} has no symbols of its stack", program.display())),
            (Target::Host, _) => self.execute(program, &line, &mut agent, &mut peer),
        }?;
        match peer.silent()[..] {
            [] => Ok(used),
            ref silent => Err(format!("nothing came from the program on {}", silent.join(", "))),
        }
    }

    /// Runs the program in the emulator. The emulator fills the stack with a pattern before the run, and writes the
    /// stack to a file after the run.
    fn emulate(
        &self,
        program: &Path,
        stack: StackArea,
        line: &str,
        agent: &mut Process,
        peer: &mut Peer,
    ) -> Result<Used, String> {
        let StackArea { bottom, top } = stack;
        let [paint, memory] = ["paint", "memory"].map(|name| self.scratch.join(name));
        let length = usize::try_from(top - bottom).unwrap_or(0);
        std::fs::write(&paint, vec![PAINT; length])
            .map_err(|error| format!("cannot write {}: {error}", paint.display()))?;
        let program = program.display().to_string();
        let serial = format!("serial,id=line,path={line}");
        let loader = format!("loader,file={},addr={bottom:#x},force-raw=on", paint.display());
        let machine = ["-machine", "mps2-an385", "-display", "none", "-monitor", "stdio"];
        let devices = ["-kernel", &program, "-chardev", &serial, "-serial", "chardev:line", "-device", &loader];
        let mut board = Process::start(OsStr::new(EMULATOR), machine.into_iter().chain(devices))?;
        self.serve(agent, peer, |agent| {
            if agent.line(POLL)?.is_some_and(|line| line.ends_with(END)) {
                return Ok(Some(()));
            }
            match board.wait(Duration::ZERO) {
                Some(status) => Err(board.failure(&format!("ended with {status}"))),
                None => Ok(None),
            }
        })?;
        board.give(&format!("pmemsave {bottom:#x} {length} \"{}\"\nquit", memory.display()))?;
        if board.wait(START_TIMEOUT).is_none() {
            return Err(board.failure("does not end"));
        }
        let memory =
            std::fs::read(&memory).map_err(|error| format!("the emulator has not written the stack: {error}"))?;
        let unused = memory.iter().take_while(|byte| **byte == PAINT).count();
        if unused == 0 || memory.len() != length {
            return Err("the stack has grown into the statics".to_owned());
        }
        // The heap is always empty: the firmware's allocator calls a function that does not exist, so a program that
        // allocates cannot be linked.
        Ok(Used { stack_bytes: (length - unused) as u64, heap_bytes: 0 })
    }

    /// Runs the program as a process of this host, which prints its figures.
    fn execute(&self, program: &Path, line: &str, agent: &mut Process, peer: &mut Peer) -> Result<Used, String> {
        let mut process = Process::start(program.as_os_str(), [line])?;
        let status = self.serve(agent, peer, |agent| {
            // The agent's lines are not needed, but must be read: a full pipe would block the agent.
            while agent.line(Duration::ZERO)?.is_some() {}
            Ok(process.wait(POLL))
        })?;
        // Reads the remaining lines. `line` returns an error at the end of the output, which ends the loop.
        while process.line(START_TIMEOUT).is_ok_and(|line| line.is_some()) {}
        let figure = |name: &str| process.said.iter().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        match (figure("stack-bytes "), figure("heap-bytes ")) {
            (Some(stack_bytes), Some(heap_bytes)) if status.success() => Ok(Used { stack_bytes, heap_bytes }),
            _ => Err(process.failure(&format!("ended with {status}"))),
        }
    }

    /// Serves the program's endpoints until `end` returns a value.
    fn serve<T>(
        &self,
        agent: &mut Process,
        peer: &mut Peer,
        mut end: impl FnMut(&mut Process) -> Result<Option<T>, String>,
    ) -> Result<T, String> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            peer.step().map_err(host_failed)?;
            if let Some(end) = end(agent)? {
                return Ok(end);
            }
            if self.interrupt.is_requested() {
                return Err("interrupted".to_owned());
            }
            if Instant::now() >= deadline {
                return Err(agent.failure("has not seen the end of the program"));
            }
        }
    }
}
