//! The origin of a message: the times at which the first messages of its chain (a sequence of topics) were sent. A
//! message that was triggered by other messages carries the origin in its payload.

use crate::{
    backend::{Draft, Stamp, Taken},
    endpoint::ChainLink,
    worker::loops::message::Message,
};

/// The bytes of an origin in a payload.
const ORIGIN_BYTES: usize = 16;

/// The times at which the oldest and the newest of a chain's first messages were sent, ns of CLOCK_MONOTONIC. They
/// differ if a message has several triggers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The time of the oldest first message.
    pub oldest_ns: i64,
    /// The time of the newest first message.
    pub newest_ns: i64,
}

impl Origin {
    /// The origin of a received message for the chain `link`; `None` if the message carries no origin for this chain.
    pub fn read(taken: &Taken<'_>, link: &ChainLink) -> Option<Origin> {
        if link.begins {
            return Some(Origin { oldest_ns: taken.time_ns, newest_ns: taken.time_ns });
        }
        let bytes = taken.payload.get(place(link))?;
        let (oldest, newest) = bytes.split_first_chunk::<8>()?;
        let (oldest_ns, newest_ns) = (i64::from_le_bytes(*oldest), i64::from_le_bytes(newest.try_into().ok()?));
        (oldest_ns > 0).then_some(Origin { oldest_ns, newest_ns })
    }

    /// Merges the origins of two messages that together triggered a third message into the origin of the third message.
    pub fn merge(self, other: Origin) -> Origin {
        let (oldest_ns, newest_ns) = (self.oldest_ns.min(other.oldest_ns), self.newest_ns.max(other.newest_ns));
        Origin { oldest_ns, newest_ns }
    }
}

fn place(link: &ChainLink) -> std::ops::Range<usize> {
    let begin = link.slot as usize * ORIGIN_BYTES;
    begin..begin + ORIGIN_BYTES
}

/// Writes an origin at the chain's position in the payload; zeros mean that there is no origin.
fn write(payload: &mut [u8], link: &ChainLink, origin: Option<Origin>) {
    let times = origin.map_or([0; 2], |origin| [origin.oldest_ns, origin.newest_ns]);
    // The payloads on all topics of a chain are long enough for this position.
    let bytes = payload.get_mut(place(link)).into_iter().flatten();
    bytes.zip(times.into_iter().flat_map(i64::to_le_bytes)).for_each(|(byte, value)| *byte = value);
}

/// A message to be sent, with its origins.
pub struct Chained<'a> {
    /// The message.
    pub message: Message,
    /// The chains to which the message belongs.
    pub links: &'a [ChainLink],
    /// The origin of the message for each chain in `links`.
    pub origins: &'a [Option<Origin>],
}

impl Draft for Chained<'_> {
    fn write(&mut self, payload: &mut [u8]) {
        self.message.write(payload);
        let carried = self.links.iter().zip(self.origins).filter(|(link, _)| !link.begins);
        carried.for_each(|(link, origin)| write(payload, link, *origin));
    }

    fn stamp(&mut self) -> Stamp {
        self.message.stamp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_travels_in_its_place_and_the_first_message_has_its_own_stamp() {
        let link = |slot, begins| ChainLink { chain: "hot".to_owned(), slot, begins, ends: false };
        let mut payload = [0xff; 40];
        let (one, two) = (Origin { oldest_ns: 5, newest_ns: 9 }, Origin { oldest_ns: 7, newest_ns: 8 });
        write(&mut payload, &link(0, false), None);
        write(&mut payload, &link(1, false), Some(one.merge(two)));
        let taken = Taken { time_ns: 77, payload: &payload, ..Taken::default() };
        assert_eq!(Origin::read(&taken, &link(0, false)), None);
        assert_eq!(Origin::read(&taken, &link(1, false)), Some(one));
        assert_eq!(Origin::read(&taken, &link(2, false)), None, "it is too short");
        assert_eq!(Origin::read(&taken, &link(0, true)), Some(Origin { oldest_ns: 77, newest_ns: 77 }));
        assert_eq!(payload[32..], [0xff; 8]);
    }
}
