//! A message type that is known only at run time: a table of its functions.
//!
//! A back end that moves bytes uses this table to write and read messages of any type. The code of the middleware is
//! therefore compiled once, and only these functions for each type. Functions on the data path do not allocate, unless
//! their documentation says so. All errors are sentences.

use gantry::{
    GenericSample, TypeDescription,
    gantry_cdr::{self, ByteOrder, View},
};

use super::Benchmark;
use perf_worker::{backend::Draft, clock::now_ns, run_spec::Content, stamp::Stamped};

/// Checks the bytes of a message, and passes the message to the closure, which reads it in place.
pub type ViewBody = fn(&[u8], &mut dyn FnMut(Seen<'_>)) -> Result<(), String>;
/// Checks the bytes of a message, and copies them into a new message.
pub type CopyBody = fn(&[u8]) -> Result<Box<dyn OwnedMessage>, String>;

/// The functions of a message type.
pub struct MessageType {
    /// The name of the message in `perf_test`, for example `Array4m`.
    pub name: &'static str,
    /// The full name of the type, for example `performance_test/msg/Array4m`.
    pub type_name: &'static str,
    /// The content of the messages.
    pub content: Content,
    /// The largest id that messages of the type can carry.
    pub last_id: u64,
    /// Returns the type description that endpoints compare when they match. The argument is the payload of a message of
    /// variable size, bytes.
    pub description: fn(usize) -> TypeDescription,
    /// Creates an owned message as publishers send it, but without a stamp. The argument is the payload of a message of
    /// variable size, bytes. Large parts are zeros in pages that have not been touched.
    pub prepared: fn(usize) -> Box<dyn OwnedMessage>,
    /// Checks that bytes are a message of the type, and passes the message to the closure, which reads it in place.
    pub view: ViewBody,
    /// Checks that bytes are a message of the type, and copies them into a new message. Allocates.
    pub to_owned: CopyBody,
}

/// The contents of a message that is read without a copy.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The time of reception. It is read after the message was checked, and before any of its values is used.
    pub received_ns: i64,
    /// The time of sending and the id of the message.
    pub stamped: Stamped,
    /// The bytes of the message that `--touch` lets the subscription read.
    pub payload: &'a [u8],
}

/// An owned message. Loans may have the same shape (the lengths of sequences and texts) as this message.
pub trait OwnedMessage: Send {
    /// Touches every page, so that no page fault occurs during the measurement.
    fn touch(&mut self);

    /// The length of a loan for a message of this shape, bytes.
    ///
    /// # Errors
    /// An error, if a length is above its bound.
    fn loan_bytes(&self) -> Result<usize, String>;

    /// Builds a message of this shape in a loan. Writes the parts without which the message is not valid, and lets
    /// `draft` write the payload and the stamp.
    ///
    /// # Errors
    /// An error, if the loan has another length.
    fn write_loan(&self, loan: &mut [u8], draft: &mut dyn Draft) -> Result<(), String>;

    /// Lets `draft` write the payload and the stamp of this message.
    fn write(&mut self, draft: &mut dyn Draft);

    /// The length of this message when it is encoded, bytes.
    ///
    /// # Errors
    /// An error, if a length is above its bound.
    fn body_bytes(&self) -> Result<usize, String>;

    /// Encodes this message into `body`.
    ///
    /// # Errors
    /// An error, if `body` is too short.
    fn write_body(&self, body: &mut [u8]) -> Result<(), String>;

    /// Makes this message a copy of a sample. The bytes are copied directly if the memory of the message is its CDR
    /// encoding, otherwise through `buffer`. Allocates when parts of the message or the buffer grow. After an error,
    /// the message is a mixture of old and new values.
    ///
    /// # Errors
    /// An error, if the sample is not a message of the type.
    fn copy_from(&mut self, sample: &GenericSample, buffer: &mut Vec<u8>) -> Result<(), String>;

    /// The time of sending and the id of the message.
    fn stamped(&self) -> Stamped;

    /// The bytes to which `--touch` applies.
    fn payload(&self) -> &[u8];
}

impl MessageType {
    /// The table for the type `M`.
    pub(super) const fn for_message<M: Benchmark>(name: &'static str) -> MessageType {
        MessageType {
            name,
            type_name: M::TYPE_NAME,
            content: M::CONTENT,
            last_id: M::LAST_ID,
            description: description::<M>,
            prepared: prepared::<M>,
            view: view::<M>,
            to_owned: to_owned::<M>,
        }
    }
}

fn description<M: Benchmark>(_: usize) -> TypeDescription {
    TypeDescription {
        name: M::TYPE_NAME.to_owned(),
        hash: M::TYPE_HASH,
        definition: M::DEFINITION.into(),
        payload_bytes: M::MAX_BYTES,
    }
}

fn prepared<M: Benchmark>(unbounded_bytes: usize) -> Box<dyn OwnedMessage> {
    M::prepared(unbounded_bytes)
}

fn view<M: Benchmark>(body: &[u8], reader: &mut dyn FnMut(Seen<'_>)) -> Result<(), String> {
    let view = M::view(body).map_err(|error| malformed(M::TYPE_NAME, &error))?;
    let received_ns = now_ns();
    reader(Seen { received_ns, stamped: M::stamped_sample(&view), payload: M::payload_of_sample(&view) });
    Ok(())
}

fn to_owned<M: Benchmark>(body: &[u8]) -> Result<Box<dyn OwnedMessage>, String> {
    let message = M::view(body).and_then(|view| view.to_message());
    Ok(message.map_err(|error| malformed(M::TYPE_NAME, &error))?)
}

#[cold]
#[inline(never)]
fn malformed(type_name: &str, error: &gantry_cdr::Error) -> String {
    format!("a message is not a valid {type_name}: {error}")
}

#[cold]
#[inline(never)]
fn unwritable(type_name: &str, error: &gantry_cdr::Error) -> String {
    format!("a {type_name} cannot be written: {error}")
}

impl<M: Benchmark> OwnedMessage for M {
    fn touch(&mut self) {
        Benchmark::touch(self);
    }

    fn loan_bytes(&self) -> Result<usize, String> {
        M::shape_bytes(self.shape()).map_err(|error| unwritable(M::TYPE_NAME, &error))
    }

    fn write_loan(&self, loan: &mut [u8], draft: &mut dyn Draft) -> Result<(), String> {
        let mut loan = M::build_uninit(loan, self.shape()).map_err(|error| unwritable(M::TYPE_NAME, &error))?;
        draft.write(M::payload_of_loan(&mut loan));
        M::stamp_loan(&mut loan, draft.stamp());
        Ok(())
    }

    fn write(&mut self, draft: &mut dyn Draft) {
        draft.write(self.payload_mut());
        self.stamp(draft.stamp());
    }

    fn body_bytes(&self) -> Result<usize, String> {
        gantry_cdr::Message::body_bytes(self).map_err(|error| unwritable(M::TYPE_NAME, &error))
    }

    fn write_body(&self, body: &mut [u8]) -> Result<(), String> {
        gantry_cdr::Message::write_body(self, body).map_err(|error| unwritable(M::TYPE_NAME, &error))
    }

    fn copy_from(&mut self, sample: &GenericSample, buffer: &mut Vec<u8>) -> Result<(), String> {
        if let Some(body) = self.body_mut().filter(|body| body.len() == sample.message_info().length_bytes) {
            sample.copy_to(body);
            return Ok(());
        }
        sample.copy_into(buffer);
        self.read_body(buffer, ByteOrder::LittleEndian).map_err(|error| malformed(M::TYPE_NAME, &error))
    }

    fn stamped(&self) -> Stamped {
        Benchmark::stamped(self)
    }

    fn payload(&self) -> &[u8] {
        Benchmark::payload(self)
    }
}
