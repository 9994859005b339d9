//! The payloads of submessages.

mod acknack;
mod create;
mod create_client;
mod data;
mod delete;
mod fragment;
mod get_info;
mod heartbeat;
mod info;
mod read_data;
mod reset;
mod status;
mod status_agent;
mod timestamp;
mod timestamp_reply;
mod write_data;

pub use acknack::AckNack;
pub use create::Create;
pub use create_client::CreateClient;
pub use data::Data;
pub use delete::Delete;
pub use fragment::Fragment;
pub use get_info::GetInfo;
pub use heartbeat::Heartbeat;
pub use info::Info;
pub use read_data::{DeliveryControl, ReadData};
pub use reset::Reset;
pub use status::Status;
pub use status_agent::StatusAgent;
pub use timestamp::Timestamp;
pub use timestamp_reply::TimestampReply;
pub use write_data::WriteData;

use super::{Reader, Result, Submessage, SubmessageId, Writer};

mod sealed {
    pub trait Sealed {}
}

/// The payload of a submessage. The trait is sealed.
pub trait Payload<'a>: sealed::Sealed + Sized {
    /// The identifier of the submessages that have this payload.
    const ID: SubmessageId;

    /// Reads the payload. Bytes after its last field stay unread. If the payload has a defect, [`Reader::check`]
    /// returns it.
    fn read(reader: &mut Reader<'a>) -> Self;

    /// Writes the payload.
    fn write(&self, writer: &mut Writer<'_>);
}

impl<'a> Submessage<'a> {
    /// Reads the payload. The caller must have checked that [`id`](Self::id) equals [`Payload::ID`].
    ///
    /// # Errors
    /// A defect in the bytes of the payload.
    pub fn read<P: Payload<'a>>(&self) -> Result<P> {
        self.payload.whole(P::read)
    }
}
