//! The back end of zenoh for `perf_test`: each worker is a session in peer mode, and messages are bytes under the key
//! of their topic.
//!
//! There are two programs. The subscriptions of `perf_test_zenoh` take from zenoh's channels, as in the examples of
//! zenoh's crate: KEEP_LAST is a ring channel of the history depth, KEEP_ALL is a FIFO channel, which blocks the
//! link when it is full. Zenoh can only block or poll, so `--wait adaptive` means `block`. The subscriptions of
//! `perf_test_zenoh_callback` are callbacks, which zenoh's receiving thread calls, as in zenoh-c and in rmw_zenoh:
//! no other thread has to wake up, and there is no queue after the link, neither for KEEP_LAST nor for KEEP_ALL.
//!
//! A RELIABLE publisher blocks when the link is congested; a BEST_EFFORT publisher drops the message. Late
//! subscriptions get no old messages: zenoh's history is in another crate (`zenoh-ext`). Endpoints count each other by
//! liveliness tokens.
//!
//! In Zenoh's crate, shared memory needs the feature `shared-memory`, which is off by default; so the setting
//! `shared-memory` is off by default. In a build with the feature, Zenoh itself switches shared memory on: messages of
//! 3 kB and more go through it without a change of the program, and with `--zero-copy`, messages are loaned. Messages
//! have the default priority, because Zenoh's documentation recommends no priority for latency. Some files of a run
//! stay in /dev/shm until the next run: zenoh removes only files of dead processes.
#![forbid(unsafe_code)]

mod arrival;
mod callback;
mod channel;
mod memory;
mod names;
mod presence;
mod publisher;
mod session;

use names::{EXPRESS, SHARED_MEMORY, is_on};
use perf_worker::{
    backend::{Backend, Capabilities, DaemonCommand, DeliveryKind, Description, Session, Setting},
    run_spec::{Content, Durability, RunSpec},
};
use session::ZenohSession;

/// The version of zenoh in the lock file.
const VERSION: &str = env!("ZENOH_VERSION");

/// The back end of one of the two programs.
pub struct Zenoh {
    /// The name of the back end for the option `-c`.
    pub name: &'static str,
    /// The delivery of messages: pull (from a channel) or push (by callbacks).
    pub delivery: DeliveryKind,
}

impl Backend for Zenoh {
    fn name(&self) -> &str {
        self.name
    }

    fn describe(&self) -> Description {
        let capabilities = Capabilities {
            zero_copy: vec![Content::Plain, Content::BoundedSequence],
            durability: vec![Durability::Volatile],
            delivery: self.delivery,
            overwritten: false,
            services: false,
            phases: true,
            ..Capabilities::all()
        };
        let settings = vec![
            Setting::new("transport", &["tcp"], "TCP, zenoh's default, on the loopback interface"),
            Setting::new(
                SHARED_MEMORY,
                &["off", "on"],
                "on: payloads of 3 kB and more, and all loans, go through shared memory; off: all go over \
                 the link, as in zenoh's default build",
            )
            .best("on"),
            Setting::new(EXPRESS, &["off", "on"], "on: no message waits to be sent together with others").best("on"),
        ];
        Description { version: VERSION.to_owned(), capabilities, settings }
    }

    fn check(&self, spec: &RunSpec) -> Result<Vec<DaemonCommand>, String> {
        let is_constant = matches!(spec.message.content, Content::Plain | Content::BoundedSequence);
        if !is_constant && !spec.raw {
            return Err(format!("zenoh has no types of variable size, as {}: add --raw", spec.message.name));
        }
        if spec.zero_copy && !is_on(spec, SHARED_MEMORY) {
            return Err("zenoh loans messages in shared memory only: add --set shared-memory=on".to_owned());
        }
        Ok(Vec::new())
    }

    fn open(&self, spec: &RunSpec) -> Result<Box<dyn Session>, String> {
        Ok(Box::new(ZenohSession::open(spec, self.delivery)?))
    }

    fn clean_up(&self, _spec: &RunSpec) -> Result<(), String> {
        zenoh::shm::cleanup_orphaned_shm_segments();
        Ok(())
    }
}
