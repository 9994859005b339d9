//! A subscription over UDP.

use std::io::IoSliceMut;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use perf_worker::{
    backend::{Matched, Matching, Subscription, Taken},
    clock::now_ns,
    endpoint::EndpointPlan,
    run_spec::RunSpec,
};
use rustix::event::PollFlags;
use rustix::io::{Errno, readv};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, getsockname, socket_with, sockopt};

use super::fragment::{HEADER_BYTES, Header, MOST_BYTES};
use crate::announcement::{Id, OwnFile, Side, Topic, new_id};
use crate::{message, wait::wait_for};

/// The requested size of the receive buffer; the kernel allows at most `net.core.rmem_max`.
const RECEIVE_BYTES: usize = 64 << 20;

/// A subscription.
pub struct UdpSubscription {
    topic: Topic,
    socket: OwnedFd,
    message_bytes: usize,
    /// For each publisher, the message that is arriving.
    messages: Vec<Assembly>,
    /// The index of the message to which the last datagram belonged: the next datagram probably continues it.
    current: usize,
    /// True if the beginning of the copy is recorded as the end of a phase of the message's latency.
    marks: bool,
    _file: OwnFile,
}

/// A message that arrives in fragments, in their order. A fragment after a lost one has an unexpected offset, so it is
/// ignored.
struct Assembly {
    /// The id of the publisher; `None` before the first fragment.
    source: Option<Id>,
    sequence: u64,
    filled: usize,
    /// The time before the first fragment was received, if phases are measured.
    in_hand_ns: Option<i64>,
    /// The buffer of the message, with room for one more fragment: if a received fragment belongs to another message,
    /// it lies after the bytes of this message.
    bytes: Vec<u8>,
}

impl Assembly {
    fn new(message_bytes: usize) -> Assembly {
        let bytes = message::touched(message_bytes + MOST_BYTES);
        Assembly { source: None, sequence: 0, filled: 0, in_hand_ns: None, bytes }
    }

    /// True if the fragment is the next one of this message, or the first one of the publisher's next message.
    fn continues(&mut self, header: Header) -> bool {
        if header.offset == 0 {
            (self.source, self.sequence, self.filled) = (Some(header.source), header.sequence, 0);
        }
        self.source == Some(header.source) && self.sequence == header.sequence && self.filled as u64 == header.offset
    }
}

impl UdpSubscription {
    /// Creates the subscription.
    ///
    /// # Errors
    /// The kernel's error, as a sentence.
    pub fn new(topic: Topic, spec: &RunSpec, plan: &EndpointPlan) -> Result<UdpSubscription, String> {
        let (socket, port) = receiver().map_err(|error| format!("cannot create a UDP socket: {error}"))?;
        let file = OwnFile::create(&topic.announced(Side::Subscription, new_id(), port), 0)?;
        let message_bytes = plan.message.bytes;
        let messages = vec![Assembly::new(message_bytes)];
        Ok(UdpSubscription { topic, socket, message_bytes, messages, current: 0, marks: spec.phases, _file: file })
    }

    /// Receives one datagram. Returns whether a datagram was received, and whether it completed its message.
    fn receive(&mut self) -> Result<(bool, bool), String> {
        let mut header = [0; HEADER_BYTES];
        let Some(current) = self.messages.get_mut(self.current) else { return Ok((false, false)) };
        let at = current.filled;
        let room = current.bytes.get_mut(at..).unwrap_or_default();
        let before_ns = self.marks.then(now_ns);
        let received = readv(&self.socket, &mut [IoSliceMut::new(&mut header), IoSliceMut::new(room)]);
        let bytes = match received {
            Ok(bytes) => bytes.saturating_sub(HEADER_BYTES),
            Err(Errno::AGAIN | Errno::INTR) => return Ok((false, false)),
            Err(error) => return Err(format!("cannot receive a datagram: {error}")),
        };
        let header = Header::from_bytes(header);
        let index = self.assembly_of(header.source);
        let from = std::mem::replace(&mut self.current, index);
        if !self.messages[index].continues(header) || self.messages[index].filled + bytes > self.message_bytes {
            return Ok((true, false));
        }
        if header.offset == 0 {
            self.messages[index].in_hand_ns = before_ns;
        }
        if index != from || self.messages[index].filled != at {
            self.relocate((from, at), index, bytes);
        }
        let message = &mut self.messages[index];
        message.filled += bytes;
        let is_whole = message.filled == self.message_bytes;
        if is_whole {
            message.filled = 0;
        }
        Ok((true, is_whole))
    }

    /// The index in `messages` of the message from this publisher.
    fn assembly_of(&mut self, source: Id) -> usize {
        let is_of = |message: &Assembly| message.source.is_none_or(|of| of == source);
        // At the beginning there is one element without a source; its source is set before another element is added.
        self.messages.iter().position(is_of).unwrap_or_else(|| {
            self.messages.push(Assembly::new(self.message_bytes));
            self.messages.len() - 1
        })
    }

    /// Moves a received fragment to the message to which it belongs. The fragment was received at the offset `at` of
    /// the message `from`.
    fn relocate(&mut self, (from, at): (usize, usize), index: usize, bytes: usize) {
        let to = self.messages[index].filled;
        if from == index {
            self.messages[index].bytes.copy_within(at..at + bytes, to);
        } else if let Ok([source, target]) = self.messages.get_disjoint_mut([from, index]) {
            target.bytes[to..to + bytes].copy_from_slice(&source.bytes[at..at + bytes]);
        }
    }
}

fn receiver() -> rustix::io::Result<(OwnedFd, u16)> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, flags, None)?;
    sockopt::set_socket_recv_buffer_size(&socket, RECEIVE_BYTES)?;
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;
    let port = SocketAddrV4::try_from(getsockname(&socket)?)?.port();
    Ok((socket, port))
}

impl Matched for UdpSubscription {
    fn matched(&mut self) -> Result<Matching, String> {
        self.topic.living(Side::Publisher).map(|living| Matching::Count(living.len()))
    }

    fn mismatches(&mut self) -> Vec<String> {
        Vec::new()
    }
}

impl Subscription for UdpSubscription {
    fn take(&mut self, reader: &mut dyn FnMut(&Taken<'_>)) -> Result<bool, String> {
        loop {
            let (there_was_one, is_whole) = self.receive()?;
            if is_whole {
                let received_ns = now_ns();
                if let Some(message) = self.messages.get(self.current) {
                    let bytes = message.bytes.get(..self.message_bytes).unwrap_or_default();
                    let taken = message::taken(bytes, message.source.unwrap_or_default(), received_ns);
                    reader(&Taken { in_hand_ns: message.in_hand_ns, ..taken });
                }
                return Ok(true);
            }
            if !there_was_one {
                return Ok(false);
            }
        }
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), String> {
        wait_for([self.socket.as_fd()].into_iter(), PollFlags::IN, timeout)
    }

    fn overwritten(&self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_without_one_of_its_fragments_is_left_and_the_next_one_begins() {
        let mut message = Assembly::new(30);
        let mut comes = |source: u8, sequence, offset| {
            let header = Header::from_bytes(Header { source: [source; 16], sequence, offset }.to_bytes());
            let continues = message.continues(header);
            message.filled += if continues { 10 } else { 0 };
            continues
        };
        assert_eq!([comes(1, 1, 0), comes(1, 1, 10), comes(1, 1, 20)], [true; 3]);
        assert_eq!([comes(1, 2, 0), comes(1, 2, 20), comes(1, 3, 10)], [true, false, false]);
        assert_eq!([comes(1, 4, 0), comes(2, 4, 10), comes(1, 4, 10)], [true, false, true]);
    }
}
