//! The benchmark program on the host. It prints the depth of its stack and the size of its allocations, in bytes.

mod stack;

use crate::{
    parameters::HAS_SESSION,
    program::{self, Entities, SessionMemory},
};
use gantry_micro::{
    Instant,
    transport::{Port, SerialTransport, open_serial},
};
use static_cell::StaticCell;
use std::{env, io, os::fd::OwnedFd, process::ExitCode, thread::sleep, time::Duration};

/// The line to the agent.
pub type Line = SerialTransport<Port<OwnedFd>>;

const BITS_PER_S: u32 = 460_800;

pub fn main() -> ExitCode {
    let Some(path) = env::args().nth(1) else {
        eprintln!("usage: benchmark PATH\nPATH is the pseudo-terminal of `gantry-agent pty`");
        return ExitCode::from(2);
    };
    let measured = open_serial(&path, BITS_PER_S).and_then(measure);
    match measured {
        Ok((stack_bytes, heap_bytes)) => {
            println!("stack-bytes {stack_bytes}\nheap-bytes {heap_bytes}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("benchmark: {path}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the program. Returns the depth of the stack and the sum of all allocations, in bytes.
fn measure(line: Line) -> io::Result<(usize, u64)> {
    static MEMORY: StaticCell<SessionMemory> = StaticCell::new();
    static ENTITIES: StaticCell<Entities> = StaticCell::new();
    let begin = std::time::Instant::now();
    let clock = || Instant::from_us(begin.elapsed().as_micros() as u64);
    if !HAS_SESSION {
        return Ok((stack::depth_of(|| {})?, 0));
    }
    let (memory, entities) = (MEMORY.init_with(SessionMemory::new), ENTITIES.init_with(Entities::new));
    let mut heap_bytes = 0;
    let stack_bytes = stack::depth_of(|| {
        let run = || program::run(line, memory, entities, clock, || sleep(Duration::from_millis(1)));
        heap_bytes = allocations::count(run).bytes;
    })?;
    Ok((stack_bytes, heap_bytes))
}
