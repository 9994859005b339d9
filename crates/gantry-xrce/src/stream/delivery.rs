//! The results of receiving a message in a reliable input stream.

/// An item that a reliable input stream delivers. Items come in the order of their sequence numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery<'a> {
    /// The submessages of a message, or one submessage assembled from fragments. None of them is a FRAGMENT. A
    /// length of 0 in the header of an assembled submessage means all remaining bytes (eProsima's extension for
    /// more than 64 kB).
    Submessages(&'a [u8]),
    /// A fragmented submessage that is longer than the buffer, and is lost.
    Oversize {
        /// Bytes of the message.
        length: usize,
        /// Bytes of the buffer.
        max: usize,
    },
    /// A fragmented submessage whose remaining fragments were lost or malformed.
    Incomplete {
        /// Bytes that had arrived.
        length: usize,
    },
    /// Missing messages that the peer does not store any more; the stream continues after them. This happens only
    /// if one end of the stream lost its state.
    Lost {
        /// The number of lost messages.
        count: u16,
    },
}

/// The result of receiving a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Receipt {
    /// The message was delivered, and so were the stored messages that follow it.
    Delivered,
    /// The message arrived before an earlier message, and waits in a slot.
    Stored,
    /// The message had arrived before.
    Duplicate,
    /// The message arrived before an earlier message, and no slot was free or long enough for it. The peer sends it
    /// again.
    Unstored,
}
