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
//! Atomics name their partner by a number: the pairs (1)–(7) of `protocol`.

// Under loom there is only the protocol: what touches files cannot be modelled.
#![cfg_attr(loom, expect(dead_code, reason = "used by what touches files"))]

#[cfg(not(loom))]
mod board;
#[cfg(not(loom))]
mod clock;
#[cfg(not(loom))]
mod collector;
#[cfg(not(loom))]
mod connections;
#[cfg(not(loom))]
mod control;
#[cfg(crash_points)]
pub mod crash;
#[cfg(not(crash_points))]
mod crash;
#[cfg(not(loom))]
mod description;
#[cfg(not(loom))]
mod directory;
#[cfg(not(loom))]
mod domain;
#[cfg(not(loom))]
mod error;
#[cfg(not(loom))]
mod event;
#[cfg(not(loom))]
mod events;
#[cfg(not(loom))]
mod file;
#[cfg(not(loom))]
mod fork;
#[cfg(all(any(fuzzing, test), not(loom)))]
pub mod fuzzing;
#[cfg(not(loom))]
mod graph;
#[cfg(not(loom))]
mod inspect;
mod layout;
#[cfg(not(loom))]
mod link;
#[cfg(not(loom))]
mod loan;
#[cfg(not(loom))]
mod lock;
#[cfg(not(loom))]
mod memory;
#[cfg(not(loom))]
mod options;
#[cfg(not(loom))]
mod participant;
#[cfg(not(loom))]
mod peer;
mod prefetch;
#[cfg(not(loom))]
mod probe;
#[cfg(not(loom))]
mod process_file;
mod protocol;
#[cfg(not(loom))]
mod publisher;
#[cfg(not(loom))]
mod publisher_file;
#[cfg(not(loom))]
mod publishers;
#[cfg(not(loom))]
mod qos;
#[cfg(not(loom))]
mod qos_policy;
#[cfg(not(loom))]
mod readers;
#[cfg(not(loom))]
mod reaper;
#[cfg(not(loom))]
mod region;
#[cfg(not(loom))]
mod registry;
#[cfg(not(loom))]
mod report;
#[cfg(not(loom))]
mod returns;
#[cfg(not(loom))]
mod sample;
#[cfg(not(loom))]
mod sender;
mod shared;
#[cfg(not(loom))]
mod signals;
#[cfg(not(loom))]
mod source;
#[cfg(not(loom))]
mod spin;
#[cfg(not(loom))]
mod subscription;
mod sync;
#[cfg(not(loom))]
mod type_description;
#[cfg(not(loom))]
mod waiter;

#[cfg(not(loom))]
pub use collector::{Attachment, Bell, Collector};
#[cfg(not(loom))]
pub use connections::{ConnectionState, Pair};
#[cfg(not(loom))]
pub use description::{EndpointDescription, Gid, Role};
#[cfg(not(loom))]
pub use directory::DEFAULT_ROOT;
#[cfg(not(loom))]
pub use error::{Error, Result, Unpublished};
#[cfg(not(loom))]
pub use events::{Events, PublisherEvent, SubscriptionEvent};
#[cfg(not(loom))]
pub use graph::{GraphEntry, GraphWatch, NodeRecord};
#[cfg(not(loom))]
pub use inspect::{domains, domains_under, inspect, inspect_under};
pub use layout::{ENCAPSULATION, PAYLOAD_ALIGN, describe as describe_layout};
#[cfg(not(loom))]
pub use link::Losses;
#[cfg(not(loom))]
pub use loan::Loan;
#[cfg(not(loom))]
pub use options::{PublishMode, PublisherOptions};
#[cfg(not(loom))]
pub use participant::{DIRECTORY_VARIABLE, Participant};
#[cfg(not(loom))]
pub use publisher::{Publisher, SourceTime};
#[cfg(not(loom))]
pub use qos::{Durability, History, Liveliness, MAX_DEPTH, Qos, Reliability};
#[cfg(not(loom))]
pub use qos_policy::QosPolicy;
#[cfg(not(loom))]
pub use report::{DomainReport, Holder, ProcessReport, PublisherReport, PublisherState, ReaderReport, TopicReport};
#[cfg(not(loom))]
pub use sample::{RequestId, Sample, SampleInfo};
#[cfg(not(loom))]
pub use subscription::Subscription;
#[cfg(not(loom))]
pub use type_description::TypeDescription;
#[cfg(not(loom))]
pub use waiter::WaitSet;
