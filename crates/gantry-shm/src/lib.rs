//! Gantry's shared-memory engine: publishers put samples into their own memory, subscriptions look at them in place.
//!
//! It knows bytes, sequences and memory; messages, nodes and executors are `gantry`'s. The crate has two *paths*: the
//! **data path** (loan, publish, take, release: no allocation, no lock, no system call but a wake-up that somebody waits
//! for) and the **control path** (join, match, reap).
//!
//! # Invariants
//! Every `SAFETY` comment names the ones it leans on; each file's header has those of its own.
//!
//! - **I1 one writer.** Every page is mapped writable by its owner alone (`region`, R3). The exception, the board, holds hints
//!   and counters, no offsets (`board`, B1).
//! - **I2 in bounds.** An address in a region is only made by `Region::pointer`, which checks it against the file's length;
//!   bytes below that length have pages behind them (`region`, R2).
//! - **I3 checked once.** Numbers from another process are read into a local, checked, then used.
//! - **I4 the pin.** A slot is written only while its publisher alone owns it: never published, or retired (marked dead), then
//!   a SeqCst fence, then the generation, then all pins read, none of which names its sequence. A slot is read only under a
//!   pin that was set before a SeqCst fence after which the entry was alive.
//! - **I5 death.** A process is dead if its lock is free, as seen through the descriptor that was kept (`peer`); only then are
//!   its pins ignored.
//! - **I6 fork.** A handle does nothing in a child of the process it was made in (`fork`).
//!
//! Atomics name their partner by a number: (1) entry / take, (2) dead mark / pin, (3) news / sleepers, (4) last read / reuse.

mod board;
mod description;
mod directory;
mod error;
mod fork;
mod layout;
mod link;
mod loan;
mod lock;
mod participant;
mod peer;
mod process_file;
mod publisher;
mod publisher_file;
mod qos;
mod readers;
mod reaper;
mod region;
mod ring;
mod sample;
mod shared;
mod slots;
mod source;
mod subscription;
mod waiter;

pub use description::{EndpointDescription, Gid, Role, TypeDescription};
pub use directory::DEFAULT_ROOT;
pub use error::{Error, Result};
pub use layout::{PAYLOAD_ALIGN, describe as describe_layout};
pub use link::Losses;
pub use loan::Loan;
pub use participant::{DIRECTORY_VARIABLE, Participant};
pub use publisher::{Publisher, SourceTime};
pub use qos::{Durability, History, Liveliness, MAX_DEPTH, Qos, Reliability};
pub use sample::{Sample, SampleInfo};
pub use subscription::Subscription;
