//! Watchers: a user's code that runs on the control thread when endpoints come and go, and at times that the code
//! chooses. This module is on the control path.

use crate::{
    describe::description::Role,
    domain::{Domain, control::tasks::ControlTask, participant::Participant, topics::HeldTopic},
    error::Result,
    protocol::{sleep::Side, sync::acquire},
};
use std::sync::Arc;

/// A user's code on the control thread. A watcher must not keep a [`Participant`], because the drop of a participant
/// waits for its control thread.
pub trait Watcher: Send + Sync + 'static {
    /// Looks for changes. May block.
    fn update(&self);
    /// The time at which an update is due although no endpoint came or went, in ns of CLOCK_MONOTONIC.
    fn due_ns(&self) -> Option<u64>;
    /// Whether the update may be left to the control thread when endpoints of this process come or go. If so, the
    /// threads that make or drop these endpoints do not run it.
    fn can_wait(&self) -> bool {
        false
    }
}

impl<W: Watcher> ControlTask for W {
    fn update(&self, _domain: &Arc<Domain>) {
        Watcher::update(self);
    }

    fn due_ns(&self) -> Option<u64> {
        Watcher::due_ns(self)
    }

    fn can_wait(&self) -> bool {
        Watcher::can_wait(self)
    }
}

/// The generation of one side of a topic, which each join or leave on this side raises. A `Generation` keeps the
/// domain, not the participant.
pub struct Generation {
    domain: Arc<Domain>,
    topic: HeldTopic,
    side: Side,
}

impl Generation {
    /// The present value of the generation. An endpoint that joins after this call raises the generation again.
    ///
    /// # Errors
    /// The process forked.
    pub fn get(&self) -> Result<u64> {
        self.domain.epoch.check()?;
        Ok(acquire(self.domain.board.line(self.topic.index).generation(self.side)))
    }
}

impl Participant {
    /// Makes a watcher. The control thread updates it, now and later, for as long as the caller keeps the `Arc`:
    /// whenever endpoints of this role come to the topic or leave it, when the watcher is due, and sometimes without a
    /// reason. Joins and leaves are noticed while the watcher keeps its [`Generation`] or this process has an endpoint
    /// of the topic. With [`Role::Node`] and the topic "", the watcher watches the graph. The control thread calls
    /// [`Watcher::due_ns`] after each of its rounds. A due time that is set between two rounds takes effect only at the
    /// next round, after a second or more.
    ///
    /// # Errors
    /// The process forked.
    pub fn watch<W: Watcher>(&self, topic: &str, role: Role, make: impl FnOnce(Generation) -> W) -> Result<Arc<W>> {
        self.domain.epoch.check()?;
        let side = if role == Role::Publisher { Side::Publishers } else { Side::Readers };
        // The line is held until the watcher is registered, which sets a bit on the line: a bit on a line that this
        // process does not hold would never be cleared, and would keep the line in use.
        let until_registered = self.domain.hold_topic(topic, side);
        let (topic, index) = (self.domain.hold_topic(topic, side), until_registered.index);
        let watcher = Arc::new(make(Generation { domain: self.domain.clone(), topic, side }));
        self.control.register(index, side, &watcher);
        drop(until_registered);
        if ControlTask::due_ns(&*watcher).is_some() {
            self.control.wake(); // the thread's sleep does not end at the due time of a new task
        }
        Ok(watcher)
    }
}
