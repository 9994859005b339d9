//! Acknowledgements, which a reliable input sends and a reliable output receives.

use super::sequence::Sequence;

/// An ACKNACK: all messages before `first_unacknowledged` have arrived. Bit *i* of `missing` means that message
/// `first_unacknowledged + i` exists and has not arrived.
///
/// On the wire, the bitmap is big-endian, independent of the byte order of its message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acknowledgement {
    /// The sequence number of the first message that has not arrived.
    pub first_unacknowledged: Sequence,
    /// The bitmap of missing messages, from `first_unacknowledged` on.
    pub missing: u16,
}

/// The urgency of the next acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Due {
    /// Nothing arrived since the last acknowledgement.
    #[default]
    No,
    /// Messages arrived in order: the acknowledgement may be delayed if the peer has agreed to Gantry's extensions.
    Soon,
    /// A message is missing or came twice, or the peer asked for an acknowledgement: the acknowledgement is sent at
    /// once.
    Now,
}
