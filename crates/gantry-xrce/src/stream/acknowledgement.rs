//! Acknowledgements, which a reliable input sends and a reliable output takes.

use super::sequence::Sequence;

/// An ACKNACK: all messages before `first_unacknowledged` arrived; bit *i* of `missing` means that message
/// `first_unacknowledged + i` exists and did not arrive.
///
/// On the wire, the bitmap is big-endian, whatever the byte order of its message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acknowledgement {
    /// The first message that did not arrive.
    pub first_unacknowledged: Sequence,
    /// The missing messages from there.
    pub missing: u16,
}

/// Whether the peer waits for an acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Due {
    /// Nothing arrived since the last acknowledgement.
    #[default]
    No,
    /// Messages arrived in order: the acknowledgement may be delayed if the peer agreed to that.
    Soon,
    /// A message is missing or came twice, or the peer asked: the acknowledgement is sent at once.
    Now,
}
