//! A parcel: a message that is longer than all slots of the client's stream. It is sent in fragments as slots
//! become free, and stays in the memory of its publisher until then. Invariant: while a client has a parcel, its
//! stream accepts no other message, so a client has at most one parcel.

use super::{Session, taken::Taken};
use gantry_xrce::{stream::Refused, wire::ObjectRequest};

/// A message in fragments.
pub struct Parcel {
    taken: Taken,
    request: ObjectRequest,
    /// The number of bytes that are in the stream already.
    sent: usize,
}

/// The result of an attempt to begin a parcel.
pub enum Begun {
    Part(Parcel),
    Refused(Taken, Refused),
}

impl Parcel {
    /// Puts as many fragments of a message into the session as there is room for.
    pub fn begin(session: &mut Session, request: ObjectRequest, taken: Taken) -> Begun {
        match session.send_part(request, taken.identity(), taken.bytes(), 0) {
            Ok(None | Some(0)) => Begun::Refused(taken, Refused::Full { needed: 1, free: 0 }),
            Ok(Some(sent)) => Begun::Part(Parcel { taken, request, sent }),
            Err(refused) => Begun::Refused(taken, refused),
        }
    }

    /// Puts the next fragments into the session, as long as there is room. Returns the parcel unless the message
    /// is complete.
    pub fn go_on(mut self, session: &mut Session) -> Option<Parcel> {
        // The session refuses a message only at its first fragment, so this call does not fail.
        let rest = session.send_part(self.request, self.taken.identity(), self.taken.bytes(), self.sent).ok()?;
        self.sent = rest?;
        Some(self)
    }
}
