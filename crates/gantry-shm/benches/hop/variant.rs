//! The variants that are measured: each is a row of the table.
//!
//! Both processes have the same list of variants, and identify a variant by its index. Variants that are compared have
//! their turns one after the other.

use crate::{
    Result,
    contestant::{Contestant, PingPong, Side},
    cpus::Cpus,
    entry_floor::EntryFloor,
    fan_out::{self, FanOut},
    floor::Floor,
    futexes::Futexes,
    gantry::Gantry,
    iceoryx::Iceoryx,
    one_line::OneLine,
    payload::{Payload, Touch},
    root::Root,
};

/// The contestant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One cache line carries the message. The number is the number of loads between two pauses of the reader.
    OneLine(usize),
    /// A ring buffer whose entries carry the message, without the checks of Gantry's protocol.
    EntryFloor,
    /// A ring buffer whose entries contain the index of a slot, without the checks of Gantry's protocol.
    Floor,
    /// Two futex words.
    Futex,
    /// Gantry's ping-pong.
    Gantry,
    /// iceoryx2's ping-pong.
    Iceoryx,
    /// Gantry's publish, with this number of readers that take every sample.
    Publish(usize),
}

/// The wait of the taking side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The reader polls in a loop.
    Poll,
    /// The reader sleeps in the kernel at once.
    Block,
    /// The reader polls for a while, and then sleeps in the kernel.
    SpinThenBlock,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    pub kind: Kind,
    pub payload: Payload,
    /// The number of CPUs, 1 or 2, for the two processes.
    pub cores: usize,
    pub wait: Wait,
    /// The number of statistical samples in one turn.
    pub count: usize,
}

/// All variants, in the order of a cycle.
fn all() -> Vec<Variant> {
    use Kind::*;
    use Touch::*;
    let row = |kind, bytes, touch, cores, wait, count| Variant {
        kind,
        payload: Payload { bytes, touch },
        cores,
        wait,
        count,
    };
    let polled = |kind, bytes, touch| row(kind, bytes, touch, 2, Wait::Poll, 4000);
    let (one_kib, large) = (1 << 10, 8 << 20);
    vec![
        polled(OneLine(1), 64, Stamped),
        polled(OneLine(64), 64, Stamped),
        polled(EntryFloor, 48, Lines),
        polled(Gantry, 48, Lines),
        polled(EntryFloor, 64, Lines),
        polled(Floor, 64, Lines),
        polled(Gantry, 64, Lines),
        polled(Iceoryx, 64, Lines),
        polled(EntryFloor, 256, Lines),
        polled(Gantry, 256, Lines),
        polled(Floor, one_kib, Lines),
        polled(Gantry, one_kib, Lines),
        polled(Floor, 4096, Lines),
        polled(Gantry, 4096, Lines),
        polled(Iceoryx, 4096, Lines),
        polled(Floor, one_kib, Stamped),
        polled(Floor, large, Stamped),
        polled(Gantry, one_kib, Stamped),
        polled(Gantry, large, Stamped),
        polled(Iceoryx, one_kib, Stamped),
        polled(Iceoryx, large, Stamped),
        row(Futex, 64, Stamped, 1, Wait::Block, 1500),
        row(Gantry, 64, Lines, 1, Wait::Block, 1500),
        row(Iceoryx, 64, Lines, 1, Wait::Block, 1000),
        row(Gantry, 4096, Lines, 1, Wait::Block, 1000),
        row(Iceoryx, 4096, Lines, 1, Wait::Block, 1000),
        row(Gantry, large, Stamped, 1, Wait::Block, 1000),
        row(Iceoryx, large, Stamped, 1, Wait::Block, 1000),
        row(Futex, 64, Stamped, 2, Wait::Block, 300),
        row(Gantry, 64, Lines, 2, Wait::Block, 300),
        row(Gantry, 64, Lines, 2, Wait::SpinThenBlock, 1000),
        row(Iceoryx, 64, Lines, 2, Wait::Block, 300),
        row(Publish(1), 64, Lines, 2, Wait::Poll, 40),
        row(Publish(8), 64, Lines, 2, Wait::Poll, 40),
        row(Publish(64), 64, Lines, 2, Wait::Poll, 20),
    ]
}

/// Returns the variants that can be measured on these CPUs.
pub fn usable(cpus: &Cpus) -> Vec<Variant> {
    all().into_iter().filter(|variant| variant.cores <= cpus.all().len()).collect()
}

impl Variant {
    /// The name of the row.
    pub fn name(&self) -> String {
        match self.kind {
            Kind::OneLine(1) => "one line".to_owned(),
            Kind::OneLine(_) => "one line, no pauses".to_owned(),
            Kind::EntryFloor => "entry floor".to_owned(),
            Kind::Floor => "floor".to_owned(),
            Kind::Futex => "futex".to_owned(),
            Kind::Gantry => "gantry hop".to_owned(),
            Kind::Iceoryx => "iceoryx2 hop".to_owned(),
            Kind::Publish(1) => "gantry publish, 1 reader".to_owned(),
            Kind::Publish(readers) => format!("gantry publish, {readers} readers"),
        }
    }

    /// The number of hops, or of publishes, in a statistical sample.
    pub fn divisor(&self) -> u64 {
        match self.kind {
            Kind::Publish(_) => fan_out::PUBLISHES,
            _ => 2,
        }
    }

    /// The CPU of a side.
    pub fn cpu(&self, cpus: &Cpus, side: Side) -> usize {
        match (side, self.cores, cpus.second) {
            (Side::Pong, 2, Some(second)) => second,
            _ => cpus.first,
        }
    }

    /// Builds one side. `index` is the index of this variant, and makes its names unique.
    pub fn build(&self, root: &Root, index: usize, cpus: &Cpus, side: Side) -> Result<Box<dyn Contestant>> {
        // A library may decide at its set-up whether to busy-wait, by the number of CPUs that this process may use.
        if self.wait == Wait::Block {
            Cpus::pin(&[self.cpu(cpus, side)])?;
        } else {
            Cpus::pin(&cpus.all())?;
        }
        let (name, blocks) = (format!("hop-{index}"), self.wait != Wait::Poll);
        let path = root.file(&name);
        Ok(match self.kind {
            Kind::OneLine(loads) => Box::new(PingPong(OneLine::new(&path, side, loads)?)),
            Kind::EntryFloor => Box::new(PingPong(EntryFloor::new(&path, side, self.payload)?)),
            Kind::Floor => Box::new(PingPong(Floor::new(&path, side, self.payload)?)),
            Kind::Futex => Box::new(PingPong(Futexes::new(&path, side)?)),
            Kind::Gantry => Box::new(PingPong(Gantry::new(root, &name, side, self.payload, blocks)?)),
            Kind::Iceoryx => Box::new(PingPong(Iceoryx::new(root, &name, side, self.payload, blocks)?)),
            Kind::Publish(readers) => Box::new(FanOut::new(root, &name, side, self.payload, readers)?),
        })
    }
}
