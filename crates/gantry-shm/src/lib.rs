//! Gantry's shared-memory engine: publishers write samples into their own memory, subscriptions read them in place.
//!
//! The crate handles bytes, sequences and memory; messages, nodes and executors are in `gantry`. It has two *paths*:
//! the **data path** (loan, publish, take, release: no allocation, no lock, no system call except to wake a sleeping
//! reader) and the **control path** (join, match, reap).
//!
//! # Invariants
//! Every `SAFETY` comment names the invariants on which it rests; the header of each file has the file's own
//! invariants.
//!
//! - **I1 one writer.** Every page is mapped writable only by the process that owns its file (`region`, R3). The
//!   exception is the board, which has hints and counters, but no offsets (`board`, B1).
//! - **I2 in bounds.** Only `Region::pointer` makes an address in a region; it checks the address against the file's
//!   length. Bytes below that length have allocated pages (`region`, R2).
//! - **I3 checked once.** Numbers from another process are read into a local variable, checked, then used.
//! - **I4 the pin.** A slot is written only while its publisher alone owns it. Either the slot was never published. Or
//!   it was retired (its entry was marked dead), then the publisher passed a SeqCst fence, found the generation of the
//!   topic's readers unchanged, read all pins, and found no pin of the slot's sequence. A slot is read only under a
//!   pin: the reader set the pin, passed a SeqCst fence, and then found the entry alive. A place (private memory for a
//!   copy) is written only by the thread that takes, while no sample uses it (`places`, L1).
//! - **I5 death.** A process is dead if the lock of its file is free, as seen through the descriptor that was kept
//!   (`peer`). Only the pins of dead processes are ignored.
//! - **I6 fork.** A handle does nothing in a child of the process that made it (`fork`).
//!
//! The pairs (1)–(11) of `protocol/mod.rs` list the partners of each atomic.

// With the feature `loom`, the unit tests are the models, and only the protocol is compiled, because loom cannot model
// files and system calls. Builds that are not unit tests ignore the feature.
#![cfg_attr(all(test, feature = "loom"), expect(dead_code, reason = "used by the storeys above the protocol"))]

#[cfg(feature = "crash-points")]
pub mod crash;
#[cfg(not(feature = "crash-points"))]
mod crash;
mod protocol;

pub use protocol::layout::{ENCAPSULATION, PAYLOAD_ALIGN, describe as describe_layout};

cfg_if::cfg_if! { if #[cfg(not(all(test, feature = "loom")))] {
    // The modules from the ground up: a module imports only from modules above it in this list. The test `storeys` of
    // `test-support` checks this.
    mod error;
    mod os;
    mod describe;
    mod domain;
    mod wait;
    mod subscribe;
    mod publish;
    mod observe;
    #[cfg(any(fuzzing, test))]
    #[path = "../fuzzing/mod.rs"]
    pub mod fuzzing;

    pub use describe::{
        description::{EndpointDescription, Gid, NodeDetails, RequestId, Role},
        qos::{Durability, History, Liveliness, MAX_DEPTH, Qos, Reliability},
        qos_policy::QosPolicy,
        type_description::{TypeDescription, rihs01},
    };
    pub use domain::{
        peer::holder::Holder,
        participant::Participant,
        control::watch::{Generation, Watcher},
    };
    pub use error::{Error, Result};
    pub use observe::{
        connections::{ConnectionState, EndpointPair},
        graph::{GraphEntry, GraphRecord},
        inspect::{Inspector, domains, domains_under, inspect, inspect_under},
        matches::{
            Activity, MatchedPublisher, MatchedPublishers, MatchedSubscriptions, PublisherMatches, SeenPublishers,
            SubscriptionMatches,
        },
        report::{
            DomainReport, ProcessReport, PublisherReport, PublisherState, ReaderReport, SubscriptionReport,
        },
    };
    pub use os::{
        directory::{DIRECTORY_VARIABLE, shared_memory_directory},
        schedule::{SchedulingPolicy, set_time_slice},
        signals::with_signals_blocked,
    };
    pub use publish::{
        loan::{Loan, PublishError},
        options::{PublishMode, PublisherOptions},
        publisher::{Publisher, SourceTime},
    };
    pub use subscribe::{
        collector::{Attachment, Collector},
        connection::Losses,
        sample::{Sample, SampleInfo},
        subscription::Subscription,
        wait_set::WaitSet,
    };
    pub use wait::{
        bell::Bell,
        interrupt::{interrupt_waits, is_interrupted},
        sleeper::{PreparedSleep, Sleeper},
    };
} }

/// Compiles the README's programs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
