//! The schedule: all variants run again and again, in turns of milliseconds, until the time is over.
//!
//! A *cycle* is one turn of each variant. Figures that are compared come from the same cycle, so that a change of the
//! machine's speed changes both.

use crate::{
    Options, Result,
    contestant::{Contestant, Side},
    cpus::Cpus,
    peer::Peer,
    root::Root,
    statistics::Statistics,
    variant::{self, Variant},
};
use std::{
    io::{IsTerminal, Write},
    time::Instant,
};

/// This process's side of all variants, and the other process.
pub struct Schedule {
    variants: Vec<Variant>,
    built: Vec<Box<dyn Contestant>>,
    peer: Peer,
    cpus: Cpus,
}

/// The results.
pub struct Measured {
    /// The number of turns of each variant.
    pub cycles: usize,
    /// The rows of the table.
    pub rows: Vec<(Variant, Statistics)>,
}

impl Schedule {
    /// Starts the other process, and builds both sides of all variants.
    pub fn new(root: &Root, cpus: &Cpus) -> Result<Schedule> {
        let mut peer = Peer::start(&root.path().to_string_lossy(), cpus)?;
        let variants = variant::usable(cpus);
        let mut built = Vec::new();
        for (index, variant) in variants.iter().enumerate() {
            built.push(variant.build(root, index, cpus, Side::Ping)?);
        }
        peer.say("build")?;
        peer.expect_ok()?;
        peer.say("meet")?;
        built.iter_mut().try_for_each(|contestant| contestant.meet())?;
        peer.expect_ok()?;
        Ok(Schedule { variants, built, peer, cpus: *cpus })
    }

    /// Measures all variants.
    pub fn run(&mut self, options: &Options) -> Result<Measured> {
        let mut rows: Vec<_> = self.variants.iter().map(|&variant| (variant, Statistics::default())).collect();
        // The first turns cause page faults on both sides, so they are not counted.
        self.cycle(|_, _| {})?;
        let start = Instant::now();
        let cycles = options.cycles(|cycle| {
            self.cycle(|index, samples| rows[index].1.add_turn(samples))?;
            let (elapsed_s, cycles) = (start.elapsed().as_secs_f64(), cycle + 1);
            progress(&format!("\r{elapsed_s:3.0} of {:.0} s, {cycles} cycles ", options.seconds));
            Ok(())
        })?;
        progress("\r\x1b[K");
        Ok(Measured { cycles, rows })
    }

    /// Removes the endpoints of this process, then ends the other process.
    pub fn end(self) -> Result<()> {
        drop(self.built);
        self.peer.end()
    }

    fn cycle(&mut self, mut done: impl FnMut(usize, &mut Vec<u64>)) -> Result<()> {
        let mut samples = Vec::new();
        for index in 0..self.variants.len() {
            let variant = self.variants[index];
            samples.clear();
            samples.reserve(variant.count);
            Cpus::pin(&[variant.cpu(&self.cpus, Side::Ping)])?;
            self.peer.say(&format!("turn {index} {}", variant.count))?;
            self.peer.expect_ready()?;
            let in_words = |why| format!("{}, {} bytes: {why}", variant.name(), variant.payload.bytes);
            self.built[index].measure(variant.count, &mut samples).map_err(in_words)?;
            self.peer.expect_ok().map_err(in_words)?;
            done(index, &mut samples);
        }
        Ok(())
    }
}

/// Prints the progress if standard error is a terminal.
fn progress(line: &str) {
    let mut output = std::io::stderr().lock();
    if output.is_terminal() {
        // An error is ignored, because the figures do not depend on this output.
        let _ = write!(output, "{line}").and_then(|()| output.flush());
    }
}
