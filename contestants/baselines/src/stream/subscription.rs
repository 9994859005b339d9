//! A subscription over streams.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use perf_worker::{
    backend::{Matched, Matching, Subscription, Taken},
    clock::now_ns,
    endpoint::EndpointPlan,
    run_spec::RunSpec,
};
use rustix::event::PollFlags;
use rustix::io::{Errno, read};

use super::link::{Kind, Listener};
use crate::announcement::{Id, OwnFile, Side, Topic, new_id};
use crate::{message, wait::wait_for};

/// A subscription.
pub struct StreamSubscription {
    listener: Listener,
    links: Vec<Link>,
    /// The index of the link from which the next take starts.
    next: usize,
    message_bytes: usize,
    /// True if the beginning of the copy is recorded as the end of a phase of the message's latency.
    marks: bool,
    _file: OwnFile,
}

/// The stream of a publisher.
struct Link {
    publisher: Id,
    file: OwnedFd,
    /// The buffer of the message that is arriving; `read` is the number of bytes that have been read.
    message: Vec<u8>,
    read: usize,
    /// The time before the first bytes of the message were read, if phases are measured.
    in_hand_ns: Option<i64>,
    is_open: bool,
}

impl Link {
    /// Reads the available bytes of the message. Returns true if the message is complete.
    fn read_rest(&mut self, marks: bool) -> Result<bool, String> {
        while self.read < self.message.len() {
            if marks && self.read == 0 {
                self.in_hand_ns = Some(now_ns());
            }
            match read(&self.file, self.message.get_mut(self.read..).unwrap_or_default()) {
                Ok(0) | Err(Errno::CONNRESET) => {
                    self.is_open = false;
                    return Ok(false);
                }
                Ok(bytes) => self.read += bytes,
                Err(Errno::AGAIN) => return Ok(false),
                Err(Errno::INTR) => {}
                Err(error) => {
                    self.is_open = false;
                    return Err(format!("cannot read from a publisher: {error}"));
                }
            }
        }
        self.read = 0;
        Ok(true)
    }
}

impl StreamSubscription {
    /// Creates the subscription.
    ///
    /// # Errors
    /// The kernel's error, as a sentence.
    pub fn new(kind: Kind, topic: Topic, spec: &RunSpec, plan: &EndpointPlan) -> Result<StreamSubscription, String> {
        let id = new_id();
        let (listener, announced) = Listener::new(kind, |port| topic.announced(Side::Subscription, id, port))
            .map_err(|error| format!("cannot listen for publishers: {error}"))?;
        let file = OwnFile::create(&announced, 0)?;
        Ok(StreamSubscription {
            listener,
            links: Vec::new(),
            next: 0,
            message_bytes: plan.message.bytes,
            marks: spec.phases,
            _file: file,
        })
    }
}

impl Matched for StreamSubscription {
    fn matched(&mut self) -> Result<Matching, String> {
        let accepted = self.listener.accept().map_err(|error| format!("cannot accept a publisher: {error}"))?;
        for (publisher, file) in accepted {
            let message = message::touched(self.message_bytes);
            self.links.push(Link { publisher, file, message, read: 0, in_hand_ns: None, is_open: true });
        }
        Ok(Matching::Count(self.links.len()))
    }

    fn mismatches(&mut self) -> Vec<String> {
        Vec::new()
    }
}

impl Subscription for StreamSubscription {
    fn take(&mut self, reader: &mut dyn FnMut(&Taken<'_>)) -> Result<bool, String> {
        let count = self.links.len();
        for turn in self.next..self.next + count {
            let Some(link) = self.links.get_mut(turn % count) else { continue };
            if link.read_rest(self.marks)? {
                let received_ns = now_ns();
                self.next = turn % count + 1;
                let taken = message::taken(&link.message, link.publisher, received_ns);
                reader(&Taken { in_hand_ns: link.in_hand_ns, ..taken });
                return Ok(true);
            }
        }
        // A closed link is removed only here, after its last message was read.
        self.links.retain(|link| link.is_open);
        Ok(false)
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), String> {
        wait_for(self.links.iter().map(|link| link.file.as_fd()), PollFlags::IN, timeout)
    }

    fn overwritten(&self) -> u64 {
        0
    }
}
