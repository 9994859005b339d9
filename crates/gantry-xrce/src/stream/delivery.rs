//! Deliveries: the result of each message that arrives at a reliable input stream.

/// A reliable stream gives these in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery<'a> {
    /// Submessages, of a message or assembled from fragments. None of them is a FRAGMENT. A length of 0 in the header
    /// of an assembled submessage means all the rest (eProsima's extension for more than 64 kB).
    Submessages(&'a [u8]),
    /// A fragmented message that is longer than the buffer for it, and is lost.
    Oversize {
        /// Bytes of the message.
        length: usize,
        /// Bytes of the buffer.
        max: usize,
    },
    /// A fragmented message whose remainder was lost or malformed.
    Incomplete {
        /// Bytes that had arrived.
        length: usize,
    },
    /// Messages that the peer no longer has; the stream continues behind them. This happens only if one side forgot its
    /// state.
    Lost {
        /// Their number.
        count: u16,
    },
}

/// The result of receiving a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Receipt {
    /// The message was delivered, and with it those that waited for it.
    Delivered,
    /// The message came before its turn and waits in a slot.
    Stored,
    /// It had arrived before.
    Duplicate,
    /// The message came before its turn and fits in no slot; the peer sends it again.
    Unstored,
}
