//! A publisher over streams.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use perf_worker::{
    backend::{Draft, Matched, Matching, Publisher, Sent},
    clock::{SECOND_NS, now_ns},
    endpoint::EndpointPlan,
};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::Timespec;
use rustix::io::{Errno, write};

use super::link::{Kind, connect_to};
use crate::announcement::{Id, Side, Topic, new_id};
use crate::{message, wait::wait_for};

/// The longest time for which a publisher waits for a subscription that reads nothing.
const PATIENCE_NS: i64 = 5 * SECOND_NS;
const SLICE: Duration = Duration::from_millis(100);

/// A publisher.
pub struct StreamPublisher {
    kind: Kind,
    topic: Topic,
    id: Id,
    links: Vec<Link>,
    own: Vec<u8>,
}

/// The stream to a subscription.
struct Link {
    subscription: Id,
    file: OwnedFd,
    /// The number of bytes of the message that have been written.
    written: usize,
}

impl StreamPublisher {
    /// Creates the publisher.
    pub fn new(kind: Kind, topic: Topic, plan: &EndpointPlan) -> StreamPublisher {
        StreamPublisher { kind, topic, id: new_id(), links: Vec::new(), own: message::touched(plan.message.bytes) }
    }

    /// Writes the message to all subscriptions. The streams take turns, each with as many bytes as fit into it.
    fn write_all(&mut self) -> Result<(), String> {
        let Self { links, own, .. } = self;
        links.iter_mut().for_each(|link| link.written = 0);
        let mut progress_ns = None;
        loop {
            let before: usize = links.iter().map(|link| link.written).sum();
            // The links of subscriptions that have ended are removed.
            links.retain_mut(|link| link.write_rest(own));
            let written: usize = links.iter().map(|link| link.written).sum();
            if written == links.len() * own.len() {
                return Ok(());
            }
            let now_ns = now_ns();
            if written != before {
                progress_ns = Some(now_ns);
            } else if now_ns - *progress_ns.get_or_insert(now_ns) > PATIENCE_NS {
                // Links with only a part of the message are removed, because the rest will not follow.
                links.retain(|link| link.written == own.len());
                return Err(
                    "a subscription took nothing for 5 s while its stream was full: it was disconnected".to_owned()
                );
            }
            let full: Vec<_> =
                links.iter().filter(|link| link.written < own.len()).map(|link| link.file.as_fd()).collect();
            wait_for(full.into_iter(), PollFlags::OUT, SLICE)?;
        }
    }
}

impl Link {
    /// Writes as many bytes of the message as fit into the stream. Returns `false` if the subscription has ended.
    fn write_rest(&mut self, message: &[u8]) -> bool {
        while let Some(rest) = message.get(self.written..).filter(|rest| !rest.is_empty()) {
            match write(&self.file, rest) {
                Ok(written) => self.written += written,
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(_) => return false,
            }
        }
        true
    }

    fn is_open(&self) -> bool {
        let mut file = [PollFd::new(&self.file, PollFlags::RDHUP)];
        // The connection counts as open if the poll fails: the next write returns the error.
        let _ = poll(&mut file, Some(&Timespec::default()));
        file.iter().all(|file| !file.revents().intersects(PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR))
    }
}

impl Matched for StreamPublisher {
    fn matched(&mut self) -> Result<Matching, String> {
        self.links.retain(Link::is_open);
        for announced in self.topic.living(Side::Subscription)? {
            if self.links.iter().any(|link| link.subscription == announced.id) {
                continue;
            }
            match connect_to(self.kind, &announced, self.id) {
                Ok(file) => self.links.push(Link { subscription: announced.id, file, written: 0 }),
                // The subscription has ended in the meantime.
                Err(Errno::CONNREFUSED | Errno::CONNRESET | Errno::PIPE | Errno::INTR) => {}
                Err(error) => return Err(format!("cannot connect to a subscription: {error}")),
            }
        }
        Ok(Matching::Count(self.links.len()))
    }

    fn mismatches(&mut self) -> Vec<String> {
        Vec::new()
    }

    fn source(&self) -> Option<[u8; 16]> {
        Some(self.id)
    }
}

impl Publisher for StreamPublisher {
    fn publish(&mut self, draft: &mut dyn Draft) -> Result<Sent, String> {
        message::write(&mut self.own, draft);
        self.write_all().map(|()| Sent::default())
    }
}
