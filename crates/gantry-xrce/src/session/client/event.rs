//! The events of a session, as the client reports them.

use crate::{
    session::{AgentClock, Loss},
    wire::{ByteOrder, Error, ObjectRequest, ResultStatus},
};

/// The reason why a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disconnected {
    /// The agent does not answer any more.
    Silent,
    /// The agent is alive, but acknowledges none of the messages of the reliable stream.
    Stalled,
    /// The agent does not know the session: the agent was restarted, or has dropped the client.
    Unknown,
    /// The client closed the session.
    Closed,
}

/// The events of a session.
#[derive(Clone, Debug)]
pub enum ClientEvent<'a> {
    /// A new session began. The agent has no objects of this client.
    Connected,
    /// The agent refuses the client. The client continues to send CREATE_CLIENT.
    Refused(ResultStatus),
    /// The session has ended. The client connects again, unless it closed the session itself.
    Disconnected {
        /// The reason.
        reason: Disconnected,
        /// The number of discarded messages, which were not sent or not acknowledged.
        forgotten: u16,
    },
    /// The answer to a request.
    Status {
        /// The identifiers of the request and of the object.
        request: ObjectRequest,
        /// The result.
        result: ResultStatus,
    },
    /// Data of a data reader, requester or replier.
    Data {
        /// The READ_DATA that asked for the data.
        request: ObjectRequest,
        /// The byte order of the data.
        order: ByteOrder,
        /// The data: a message in CDR without an encapsulation header. For requesters and repliers, an identity
        /// precedes the message.
        data: &'a [u8],
    },
    /// The estimate of the agent's clock changed.
    Clock(AgentClock),
    /// Something was lost.
    Loss(Loss),
    /// A message could not be read and is dropped.
    Malformed(Error),
}
