//! The counters of a client.

use gantry_xrce::{
    session::{LinkCounts, Loss},
    wire::ClientKey,
};
use std::fmt;

/// The numbers of messages that passed between a client and Gantry, or were lost or refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of messages of the client that were published in Gantry: samples, requests and replies.
    pub published: u64,
    /// The number of bytes in the published messages.
    pub published_bytes: u64,
    /// The number of messages of Gantry that went to the client's streams.
    pub delivered: u64,
    /// The number of bytes in the delivered messages.
    pub delivered_bytes: u64,
    /// The number of messages of the client that could not be published.
    pub refused: u64,
    /// The number of messages of Gantry that were too long for the client's streams.
    pub too_long: u64,
    /// The number of messages of Gantry that were overwritten before the client had room for them.
    pub overwritten: u64,
    /// The number of requests that were given up because too many requests waited for a response.
    pub given_up: u64,
    /// The number of messages of the client that were longer than the agent accepts, or arrived incomplete.
    pub broken: u64,
    /// The number of messages that could not be sent because the transport failed.
    pub unsent: u64,
}

impl Counts {
    pub(crate) fn lost(&mut self, loss: Loss) -> String {
        match loss {
            Loss::Oversize { length_bytes, max_bytes } => {
                self.broken += 1;
                format!(
                    "a message of {length_bytes} bytes is lost: the agent accepts at most {max_bytes} bytes from a \
                     client; publish shorter messages"
                )
            }
            Loss::Incomplete { length_bytes } => {
                self.broken += 1;
                format!("a message is lost: its first {length_bytes} bytes arrived, and its end did not arrive")
            }
            Loss::Reliable { messages } => {
                format!("{messages} reliable messages are lost: the client has removed them from its history")
            }
            Loss::BestEffort { messages } => format!("{messages} best-effort messages did not arrive"),
        }
    }
}

/// A client and its counters.
#[derive(Clone, Debug)]
pub struct ClientStatistics {
    /// The key that the client chose for itself.
    pub key: ClientKey,
    /// The transport and the address of the client.
    pub address: String,
    /// The number of objects that the client has.
    pub objects: usize,
    /// The counters of messages between the client and Gantry.
    pub counts: Counts,
    /// The counters of the streams of the client's session.
    pub link: LinkCounts,
}

impl fmt::Display for ClientStatistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, objects, counts, link, .. } = self;
        write!(f, "{} at {address}: {objects} objects; ", KeyText(self.key))?;
        write!(f, "published {} ({} bytes), ", counts.published, counts.published_bytes)?;
        write!(f, "delivered {} ({} bytes)", counts.delivered, counts.delivered_bytes)?;
        let rare: [(&str, u64); 12] = [
            ("refused", counts.refused),
            ("too long", counts.too_long),
            ("overwritten", counts.overwritten),
            ("requests given up", counts.given_up),
            ("broken", counts.broken),
            ("unsent", counts.unsent),
            ("resent", link.reliable_output.resent.into()),
            ("duplicates", link.reliable_input.duplicates.into()),
            ("reliable lost", link.reliable_input.lost.into()),
            ("best effort lost", link.best_effort_input.lost.into()),
            ("malformed", link.malformed.into()),
            ("in unknown streams", link.unknown_stream.into()),
        ];
        rare.iter().filter(|(_, count)| *count > 0).try_for_each(|(name, count)| write!(f, ", {name} {count}"))
    }
}

/// A client's key, in the form in which it is logged.
pub(crate) struct KeyText(pub ClientKey);

impl fmt::Display for KeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "client {:08x}", u32::from_be_bytes(self.0.0))
    }
}
