//! The builder of messages.

use super::{
    ByteOrder, Flags, Header, Payload, Result, SUBMESSAGE_HEADER_BYTES, SubmessageId, Writer, submessage::whole_header,
};

/// Writes a message: its header, and its submessages, each aligned to 4 bytes.
///
/// After an error, the message is unchanged: no bytes of the submessage that did not fit are in it.
#[derive(Debug)]
pub struct MessageBuilder<'a> {
    writer: Writer<'a>,
}

/// A submessage whose payload is being written. [`MessageBuilder::end`] completes it.
#[derive(Debug)]
#[must_use = "a submessage without its end has no length"]
pub struct Started {
    /// The length of the message before the padding that precedes this submessage.
    before: usize,
    payload: usize,
    id: SubmessageId,
    flags: Flags,
}

impl<'a> MessageBuilder<'a> {
    /// Begins a message with `header`.
    ///
    /// # Errors
    /// [`Problem::Room`](super::Problem::Room).
    pub fn new(buffer: &'a mut [u8], header: &Header, order: ByteOrder) -> Result<Self> {
        let builder = Self::with_header(buffer, header, order);
        builder.writer.check()?;
        Ok(builder)
    }

    /// Makes a builder like [`Self::new`]. If the buffer is too short for the header, the first submessage returns
    /// the error.
    pub(crate) fn with_header(buffer: &'a mut [u8], header: &Header, order: ByteOrder) -> Self {
        let mut writer = Writer::new(buffer, order);
        header.write(&mut writer);
        Self { writer }
    }

    /// Continues a message whose first `bytes` are in the buffer, for example to append an ACKNACK. If the header is
    /// not in the buffer because a stream writes it later, `missing_header_bytes` is its length; otherwise it is 0.
    pub fn resume(buffer: &'a mut [u8], bytes: usize, missing_header_bytes: usize, order: ByteOrder) -> Self {
        Self { writer: Writer::within(buffer, bytes, missing_header_bytes, order) }
    }

    /// The length of the message so far in bytes, without a header that a stream writes later.
    pub fn bytes(&self) -> usize {
        self.writer.position()
    }

    /// Adds a submessage.
    ///
    /// # Errors
    /// [`Problem::Room`](super::Problem::Room), or [`Problem::TooLong`](super::Problem::TooLong) above 65535 bytes.
    pub fn add<'p, P: Payload<'p>>(&mut self, flags: Flags, payload: &P) -> Result<()> {
        let started = self.begin(P::ID, flags);
        payload.write(&mut self.writer);
        self.end(started)
    }

    /// Begins a submessage whose payload the caller writes with [`writer`](Self::writer).
    pub fn begin(&mut self, id: SubmessageId, flags: Flags) -> Started {
        let before = self.bytes();
        self.writer.align(SUBMESSAGE_HEADER_BYTES);
        self.writer.zeros(SUBMESSAGE_HEADER_BYTES);
        Started { before, payload: self.bytes(), id, flags }
    }

    /// The writer for the payload of the submessage that was begun.
    pub fn writer(&mut self) -> &mut Writer<'a> {
        &mut self.writer
    }

    /// Ends the submessage by writing its header.
    ///
    /// # Errors
    /// [`Problem::Room`](super::Problem::Room), or [`Problem::TooLong`](super::Problem::TooLong) above 65535 bytes.
    pub fn end(&mut self, started: Started) -> Result<()> {
        let bytes = self.bytes().saturating_sub(started.payload);
        let header =
            self.writer.check().and_then(|()| whole_header(started.id, started.flags, self.writer.order(), bytes));
        match header {
            Ok(header) => {
                self.writer.patch(started.payload.saturating_sub(SUBMESSAGE_HEADER_BYTES), &header);
                Ok(())
            }
            Err(error) => {
                self.writer.truncate(started.before);
                Err(error)
            }
        }
    }

    /// Removes the submessage that was begun.
    pub fn cancel(&mut self, started: Started) {
        self.writer.truncate(started.before);
    }
}
