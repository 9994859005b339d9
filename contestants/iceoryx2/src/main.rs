//! The back end of iceoryx2 for `perf_test`: messages are loans of bytes of a publish-subscribe service.
//!
//! With zero copy, the payload is written and read in the loan. Without zero copy, the user's own message is copied
//! into the loan and out of the sample. These two copies are the only phases of a message that are measured
//! separately: iceoryx2 itself serialises nothing.
//!
//! KEEP_LAST is a buffer of the history depth with safe overflow, the default of iceoryx2. KEEP_ALL is a buffer without
//! overflow; when the buffer is full, a RELIABLE publisher retries and a BEST_EFFORT publisher discards the message.
//! TRANSIENT_LOCAL is an iceoryx2 history of the history depth. With `--wait block`, subscriptions sleep on an event
//! service of the same name, which publishers notify after each message. With `--wait spin` there is no event service,
//! so all programs of a topic need the same `--wait`. iceoryx2 either blocks or polls, so `adaptive` means `block`.
#![deny(unsafe_code)]

mod loan;
mod publisher;
mod service;
mod subscription;

use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use iceoryx2::prelude::{Node, NodeBuilder, SignalHandlingMode, ipc};
use perf_worker::{
    backend::{Backend, Capabilities, DaemonCommand, Delivery, Description, Publisher, Session, Setting, Settings},
    endpoint::EndpointPlan,
    run_spec::{Content, Durability, History, RunSpec},
};

/// The version of iceoryx2 in the lock file.
const VERSION: &str = env!("ICEORYX2_VERSION");
/// The longest wait for another process that is cleaning up the same dead node.
const CLEAN_UP_TIMEOUT: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    perf_worker::worker::main(&Iceoryx2)
}

/// The back end `iceoryx2`.
struct Iceoryx2;

impl Backend for Iceoryx2 {
    fn name(&self) -> &str {
        "iceoryx2"
    }

    fn describe(&self) -> Description {
        let capabilities = Capabilities {
            zero_copy: vec![Content::Plain, Content::BoundedSequence],
            overwritten: false,
            services: false,
            phases: true,
            ..Capabilities::all()
        };
        let transport = Setting::new("transport", &["shared-memory"], "messages go through shared memory");
        Description { version: VERSION.to_owned(), capabilities, settings: vec![transport] }
    }

    fn check(&self, spec: &RunSpec) -> Result<Vec<DaemonCommand>, String> {
        let is_constant = matches!(spec.message.content, Content::Plain | Content::BoundedSequence);
        if !is_constant && !spec.raw {
            return Err(format!("iceoryx2 has no types of variable size, as {}: add --raw", spec.message.name));
        }
        if (spec.qos.durability, spec.qos.history) == (Durability::TransientLocal, History::KeepAll) {
            return Err("iceoryx2 keeps a history of a fixed length: give --history KEEP_LAST with --durability \
                        TRANSIENT_LOCAL"
                .to_owned());
        }
        Ok(Vec::new())
    }

    fn open(&self, spec: &RunSpec) -> Result<Box<dyn Session>, String> {
        let mut effective = spec.options();
        effective.insert("transport".to_owned(), "shared-memory".to_owned());
        Ok(Box::new(Iceoryx2Session { node: Mutex::new(node()?), effective }))
    }

    fn clean_up(&self, _spec: &RunSpec) -> Result<(), String> {
        let state = node()?.blocking_cleanup_dead_nodes(CLEAN_UP_TIMEOUT);
        match state.failed_cleanups {
            0 => Ok(()),
            failed => Err(format!(
                "iceoryx2 could not remove the files of {failed} dead processes: remove the files of other users from \
                 /tmp/iceoryx2 and /dev/shm"
            )),
        }
    }
}

/// Creates a node without signal handlers: the worker handles the signals.
fn node() -> Result<Node<ipc::Service>, String> {
    let node = NodeBuilder::new().signal_handling_mode(SignalHandlingMode::Disabled).create();
    node.map_err(|error| {
        format!("iceoryx2 cannot create a node ({error}): check the rights to /tmp/iceoryx2 and /dev/shm")
    })
}

/// The session of a worker process.
struct Iceoryx2Session {
    /// The node of this process; its endpoints create their services on several threads.
    node: Mutex<Node<ipc::Service>>,
    /// The options and settings that each endpoint applies.
    effective: Settings,
}

impl Session for Iceoryx2Session {
    fn effective(&self) -> Settings {
        self.effective.clone()
    }

    fn publisher(&self, spec: &RunSpec, plan: &EndpointPlan) -> Result<Box<dyn Publisher>, String> {
        let node = self.node.lock().unwrap_or_else(PoisonError::into_inner);
        publisher::create(&node, spec, plan)
    }

    fn subscription(&self, spec: &RunSpec, plan: &EndpointPlan) -> Result<Delivery, String> {
        let node = self.node.lock().unwrap_or_else(PoisonError::into_inner);
        subscription::create(&node, spec, plan).map(Delivery::Pull)
    }
}
