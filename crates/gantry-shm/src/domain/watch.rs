//! Watchers: work of a user on the control thread, for endpoints that come and go, and at times of its own. Control path.

use crate::{
    describe::description::Role,
    domain::{Domain, board::TopicIndex, control_tasks::ControlTask, participant::Participant},
    error::Result,
    protocol::{sleep::Side, sync::acquire},
};
use std::sync::Arc;

/// Work on the control thread. It must not keep a [`Participant`]: the end of a participant waits for its control thread.
pub trait Watcher: Send + Sync + 'static {
    /// Looks for changes; may block.
    fn update(&self);
    /// When an update is due because of time alone, CLOCK_MONOTONIC.
    fn due_ns(&self) -> Option<u64>;
    /// Whether endpoints of this process that come or go need not wait for its update on their own thread.
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

/// The generation of one end of a topic, which each join or leave there raises. It keeps the domain, not the participant.
pub struct Generation {
    domain: Arc<Domain>,
    topic: TopicIndex,
    side: Side,
}

impl Generation {
    /// The generation now. An endpoint that joins after it was read raises it again.
    ///
    /// # Errors
    /// The process forked.
    pub fn get(&self) -> Result<u64> {
        self.domain.epoch.check()?;
        Ok(acquire(self.domain.board.line(self.topic).generation(self.side)))
    }
}

impl Participant {
    /// Makes a watcher and has it updated, now and by the control thread, for as long as the caller keeps the `Arc`: whenever
    /// endpoints of that role come to the topic or leave it, when it is due, and at other times. With [`Role::Node`] and the topic
    /// "", it watches the graph. The thread asks for the due time after each of its rounds; a due time that is set between two
    /// rounds counts from the next round, after a second or more.
    ///
    /// # Errors
    /// The process forked.
    pub fn watch<W: Watcher>(&self, topic: &str, role: Role, make: impl FnOnce(Generation) -> W) -> Result<Arc<W>> {
        self.domain.epoch.check()?;
        let side = if role == Role::Publisher { Side::Publishers } else { Side::Readers };
        let topic = self.domain.topic(topic);
        let watcher = Arc::new(make(Generation { domain: self.domain.clone(), topic, side }));
        self.control.register(topic, side, &watcher);
        if ControlTask::due_ns(&*watcher).is_some() {
            self.control.wake(); // its sleep does not end at the due time of a new task
        }
        Ok(watcher)
    }
}
