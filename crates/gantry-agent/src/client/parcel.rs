//! A parcel: a message that is longer than all slots of the client's stream together. It is sent in fragments as slots
//! become free. Until then it stays in the memory of its publisher. Invariant: while a client has a parcel, its stream
//! accepts no other message, so a client has at most one parcel.

use super::{Session, taken::Taken};
use gantry_xrce::{stream::Refused, wire::ObjectRequest};

/// A message that is being sent in fragments.
pub struct Parcel {
    taken: Taken,
    request: ObjectRequest,
    /// The number of bytes that were copied into the stream.
    sent: usize,
}

/// The result of an attempt to begin a parcel.
pub enum Begun {
    Part(Parcel),
    Refused(Taken, Refused),
}

impl Parcel {
    /// Copies fragments of a message into the session until there is no room.
    pub fn begin(session: &mut Session, request: ObjectRequest, taken: Taken) -> Begun {
        match session.send_part(request, taken.identity(), taken.bytes(), 0) {
            Ok(None | Some(0)) => Begun::Refused(taken, Refused::Full { needed: 1, free: 0 }),
            Ok(Some(sent)) => Begun::Part(Parcel { taken, request, sent }),
            Err(refused) => Begun::Refused(taken, refused),
        }
    }

    /// Copies the next fragments into the session until there is no room. Returns the parcel if a part of the message
    /// is left.
    pub fn go_on(mut self, session: &mut Session) -> Option<Parcel> {
        // This call does not fail, because the session refuses a message only at its first fragment.
        let rest = session.send_part(self.request, self.taken.identity(), self.taken.bytes(), self.sent).ok()?;
        self.sent = rest?;
        Some(self)
    }
}
