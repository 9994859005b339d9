//! A parcel: a message that is longer than all slots of the client's stream, on its way in fragments as slots become
//! free. It stays in the memory of its sender until then. Invariant: while there is one, its stream takes nothing else,
//! so a client has one at most.

use super::{Session, taken::Taken};
use gantry_xrce::{stream::Refused, wire::ObjectRequest};

/// A message in fragments.
pub struct Parcel {
    taken: Taken,
    request: ObjectRequest,
    /// The bytes that are in the stream.
    sent: usize,
}

/// The result of an attempt to begin a parcel.
pub enum Begun {
    Part(Parcel),
    Refused(Taken, Refused),
}

impl Parcel {
    /// Gives the session as much of a message as it has room for.
    pub fn begin(session: &mut Session, request: ObjectRequest, taken: Taken) -> Begun {
        match session.send_part(request, taken.identity(), taken.bytes(), 0) {
            Ok(None | Some(0)) => Begun::Refused(taken, Refused::Full { needed: 1, free: 0 }),
            Ok(Some(sent)) => Begun::Part(Parcel { taken, request, sent }),
            Err(refused) => Begun::Refused(taken, refused),
        }
    }

    /// Gives the session as much of the rest as it has room for. Returns the parcel unless it is whole.
    pub fn go_on(mut self, session: &mut Session) -> Option<Parcel> {
        // It was refused at its begin, if at all.
        let rest = session.send_part(self.request, self.taken.identity(), self.taken.bytes(), self.sent).ok()?;
        self.sent = rest?;
        Some(self)
    }
}
