//! A publisher over UDP.

use std::io::IoSlice;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;

use perf_worker::{
    backend::{Draft, Matched, Matching, Publisher, Sent},
    endpoint::EndpointPlan,
};
use rustix::io::{Errno, writev};
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with};

use super::fragment::{Header, MOST_BYTES};
use crate::announcement::{Announced, Id, OwnFile, Side, Topic, new_id};
use crate::message;

/// A publisher.
pub struct UdpPublisher {
    topic: Topic,
    id: Id,
    /// A connected socket for each subscription.
    subscriptions: Vec<(Id, OwnedFd)>,
    own: Vec<u8>,
    sequence: u64,
    _file: OwnFile,
}

impl UdpPublisher {
    /// Creates the publisher.
    ///
    /// # Errors
    /// The reason, as a sentence: the publisher cannot be announced.
    pub fn new(topic: Topic, plan: &EndpointPlan) -> Result<UdpPublisher, String> {
        let id = new_id();
        let file = OwnFile::create(&topic.announced(Side::Publisher, id, 0), 0)?;
        let own = message::touched(plan.message.bytes);
        Ok(UdpPublisher { topic, id, subscriptions: Vec::new(), own, sequence: 0, _file: file })
    }
}

fn connect_to(announced: &Announced) -> rustix::io::Result<OwnedFd> {
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    connect(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, announced.port))?;
    Ok(socket)
}

impl Matched for UdpPublisher {
    fn matched(&mut self) -> Result<Matching, String> {
        let living = self.topic.living(Side::Subscription)?;
        self.subscriptions.retain(|(id, _)| living.iter().any(|announced| announced.id == *id));
        for announced in living {
            if !self.subscriptions.iter().any(|(id, _)| *id == announced.id) {
                let socket =
                    connect_to(&announced).map_err(|error| format!("cannot connect to a subscription: {error}"))?;
                self.subscriptions.push((announced.id, socket));
            }
        }
        Ok(Matching::Count(self.subscriptions.len()))
    }

    fn mismatches(&mut self) -> Vec<String> {
        Vec::new()
    }

    fn source(&self) -> Option<[u8; 16]> {
        Some(self.id)
    }
}

impl Publisher for UdpPublisher {
    fn publish(&mut self, draft: &mut dyn Draft) -> Result<Sent, String> {
        message::write(&mut self.own, draft);
        self.sequence += 1;
        let mut offset = 0;
        for part in self.own.chunks(MOST_BYTES) {
            let header = Header { source: self.id, sequence: self.sequence, offset }.to_bytes();
            offset += part.len() as u64;
            for (_, socket) in &self.subscriptions {
                match writev(socket, &[IoSlice::new(&header), IoSlice::new(part)]) {
                    // The subscription has ended, or there is no room for the datagram: with BEST_EFFORT, the datagram
                    // is lost.
                    Ok(_) | Err(Errno::CONNREFUSED | Errno::NOBUFS | Errno::AGAIN | Errno::INTR) => {}
                    Err(error) => return Err(format!("cannot send a datagram: {error}")),
                }
            }
        }
        Ok(Sent::default())
    }
}
