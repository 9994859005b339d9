//! Errors.

use gantry_xrce::{
    session::{DATA_HEADER_BYTES, WriteError},
    stream::Refused,
    wire::StatusValue,
};

/// The reason why a publisher, subscription, service or service client was not created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CreateError {
    /// The publisher, subscription, service or service client was created before, and belongs to a client already.
    #[error("it was created before; each record is created once")]
    AlreadyCreated,
    /// The DDS names that are made from the name and the type name are too long together.
    #[error("the name has {name_bytes} bytes, which is too long; use a shorter one")]
    NameTooLong {
        /// The length of the name, in bytes.
        name_bytes: usize,
    },
    /// The client has 4095 entities already.
    #[error("the client has 4095 publishers, subscriptions and services; identifiers have room for no more")]
    TooMany,
}

/// The reason why a message, a request or a response is not sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PublishError {
    /// There is no session, or the agent has not created the publisher in this session yet.
    #[error("the agent has not created the publisher yet; call `spin_once` and publish again later")]
    NotConnected,
    /// The agent refuses to create the publisher.
    #[error("the agent refuses the publisher ({}); see its log", .0.name())]
    Refused(StatusValue),
    /// Too few slots are free, because earlier messages are not sent or not acknowledged yet.
    #[error(
        "the message needs {needed_slots} slots and {free_slots} are free; call `spin_once` and publish again later"
    )]
    Full {
        /// The number of slots that the message needs.
        needed_slots: u16,
        /// The number of free slots.
        free_slots: u8,
    },
    /// The message is longer than the session's memory allows.
    #[error(
        "the message has {needed_bytes} bytes and may have {max_bytes}; give the client's memory a greater MTU, or publish it \
         as RELIABLE with `publish_bytes`, which uses the whole HISTORY"
    )]
    TooLarge {
        /// The length of the message, in bytes.
        needed_bytes: usize,
        /// The largest allowed length, in bytes.
        max_bytes: usize,
    },
    /// The message cannot be built.
    #[error(transparent)]
    Message(#[from] gantry_cdr::Error),
}

impl PublishError {
    /// Converts an error of the session. `prefix_bytes` is the number of bytes before the caller's message, which the
    /// error must not count.
    pub(crate) fn new(error: WriteError, prefix_bytes: usize) -> Self {
        match error {
            WriteError::NotConnected => Self::NotConnected,
            WriteError::Refused(Refused::Full { needed, free }) => {
                Self::Full { needed_slots: needed, free_slots: free }
            }
            WriteError::Refused(Refused::TooLong { length, max }) => {
                let others = DATA_HEADER_BYTES + prefix_bytes;
                Self::TooLarge { needed_bytes: length.saturating_sub(others), max_bytes: max.saturating_sub(others) }
            }
            WriteError::Refused(Refused::Fragmenting) => Self::Full { needed_slots: 1, free_slots: 0 },
        }
    }
}
