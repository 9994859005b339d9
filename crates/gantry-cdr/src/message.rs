//! The trait of message types: name and definition, views, building in place, and the copy path.

use crate::{
    aligned::BODY_ALIGN,
    composer::{Composer, Mode},
    cursor::Cursor,
    encapsulation::{self, ByteOrder, ENCAPSULATION},
    error::{Error, Problem, Result},
    input::Input,
    kind::Kind,
    shape::Shape,
    view::View,
};
use alloc::{boxed::Box, vec, vec::Vec};

/// A message type. Generated code implements this trait; it is also implemented for every
/// [`PlainMessage`](crate::PlainMessage).
///
/// A *body* is CDR without its encapsulation header. In place it is little endian and 8-byte aligned.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a message type",
    note = "compile its definition from a .msg file: `gantry_idl::compile(\"packages\")` in build.rs, as docs/guide/messages.md shows",
    note = "a #[repr(C)] struct of numbers without padding may implement `gantry_cdr::PlainMessage` by hand"
)]
pub trait Message: Kind<Owned = Self> + Send + Sized + 'static {
    /// ROS 2's name of the type, such as `sensor_msgs/msg/Image`.
    const TYPE_NAME: &'static str;
    /// The definition on which both ends must agree: the `.msg` text without comments, then the texts of all
    /// nested types, each after a line of 80 `=` and a line `MSG: package/Type`, as in rosbag2 and MCAP.
    const DEFINITION: &'static str;
    /// The RIHS01 hash of the definition; zeros if it is not known.
    const TYPE_HASH: [u8; 32];
    /// The largest length of a body; `usize::MAX` if the length is unbounded.
    const MAX_BYTES: usize;
    /// The type of a view of the message in memory `B`. The bytes must stay at their address when `B` is moved. This
    /// holds for a slice, a `Vec` or shared memory, but not for an array.
    type View<B: AsRef<[u8]>>: View<B, Message = Self>;

    /// Makes a view of a body whose layout is known. The bytes are not checked.
    fn in_memory<B: AsRef<[u8]>>(memory: B, layout: Self::Layout) -> Self::View<B>;

    /// Makes a message on the heap, into which another message can be copied. Its fields are zero if the type is of
    /// fixed size, otherwise they have their default values. Arrays of more than 4096 numbers are never on the stack.
    /// In a type of variable size, smaller arrays and large structs may be moved from the stack to the heap.
    #[must_use]
    fn new_box() -> Box<Self>;

    /// Makes a view of the message in `memory` and checks it. The time grows with the number of fields, texts and list
    /// elements, but not with the length of number sequences. Allocates nothing. Bytes after the message are ignored,
    /// because ROS 2's `serialize_message` leaves up to four for each empty sequence of 8-byte numbers.
    ///
    /// # Errors
    /// The bytes are not a valid message of this type. The error has the field and the offset.
    #[inline]
    fn view<B: AsRef<[u8]>>(memory: B) -> Result<Self::View<B>> {
        let body = aligned(memory.as_ref())?;
        let mut cursor = Cursor::new(body, 0)?;
        let layout = Self::locate(&mut cursor)?;
        Ok(Self::in_memory(memory, layout))
    }

    /// The number of bytes of a message with this shape.
    ///
    /// # Errors
    /// A length is above its bound, or the message has more than 4 GiB.
    #[inline]
    fn shape_bytes(shape: impl Shape<Self>) -> Result<usize> {
        let mut composer = Composer::counting(0);
        shape.compose(&mut composer)?;
        Ok(composer.position() as usize)
    }

    /// Builds a message with this shape in `memory`, whose length must be [`Message::shape_bytes`]. Allocates nothing.
    ///
    /// Texts come from the shape. All other fields get the definition's default values or zero. Only arrays and
    /// sequences of more than [`MAX_DEFAULT_BYTES`](crate::MAX_DEFAULT_BYTES) bytes keep the old bytes of the memory.
    ///
    /// # Errors
    /// The errors of [`Message::shape_bytes`]; or the memory has another length than the message, or is not aligned.
    #[inline]
    fn build<B: AsRef<[u8]> + AsMut<[u8]>>(memory: B, shape: impl Shape<Self>) -> Result<Self::View<B>> {
        built::<Self, B>(memory, shape, Mode::Defaults)
    }

    /// Builds a message like [`Message::build`], for a caller that then writes every number itself. Numbers, and arrays
    /// and sequences of numbers, may keep the old bytes of the memory. Texts, lengths and booleans are set.
    ///
    /// # Errors
    /// As [`Message::build`].
    #[inline]
    fn build_uninit<B: AsRef<[u8]> + AsMut<[u8]>>(memory: B, shape: impl Shape<Self>) -> Result<Self::View<B>> {
        built::<Self, B>(memory, shape, Mode::Uninit)
    }

    /// The number of bytes in the body of this message.
    ///
    /// # Errors
    /// As [`Message::shape_bytes`].
    fn body_bytes(&self) -> Result<usize> {
        let mut composer = Composer::counting(0);
        Self::write(self, &mut composer)?;
        Ok(composer.position() as usize)
    }

    /// Serialises the message to `body`, whose length must be [`Message::body_bytes`].
    ///
    /// # Errors
    /// The errors of [`Message::body_bytes`]; or `body` is too short.
    fn write_body(&self, body: &mut [u8]) -> Result<()> {
        Self::write(self, &mut Composer::writing(body, 0))
    }

    /// The memory of the message, if it is the little-endian body itself; `None` for messages that are read field by
    /// field.
    #[doc(hidden)]
    fn body_mut(&mut self) -> Option<&mut [u8]> {
        None
    }

    /// Reads a body into this message and reuses its allocations. Each byte is copied before it is checked, so a
    /// process that changes the bytes meanwhile cannot bypass the checks. As in [`Message::view`], bytes after the
    /// message are ignored. After an error, the message has a mixture of old and new values.
    ///
    /// # Errors
    /// The bytes are not a valid message of this type. The error has the field and the offset.
    fn read_body(&mut self, body: &[u8], order: ByteOrder) -> Result<()> {
        Self::read(self, &mut Input::new(body, 0, order))
    }

    /// Serialises the message with its encapsulation header, as in DDS and bags.
    ///
    /// # Errors
    /// As [`Message::body_bytes`].
    fn to_cdr(&self) -> Result<Vec<u8>> {
        let body_bytes = self.body_bytes().map_err(|error| error.in_type(Self::TYPE_NAME))?;
        let mut bytes = vec![0; ENCAPSULATION.len() + body_bytes];
        let (header, body) = bytes.split_at_mut(ENCAPSULATION.len());
        header.copy_from_slice(&ENCAPSULATION);
        self.write_body(body).map_err(|error| error.in_type(Self::TYPE_NAME))?;
        Ok(bytes)
    }

    /// Reads a message with its encapsulation header. Both byte orders are accepted.
    ///
    /// # Errors
    /// The encapsulation is not CDR, or the bytes are not a valid message of this type.
    fn from_cdr(bytes: &[u8]) -> Result<Box<Self>> {
        let of_type = |error: Error| error.in_type(Self::TYPE_NAME);
        let (order, body) = encapsulation::split(bytes).map_err(of_type)?;
        let mut message = Self::new_box();
        message.read_body(body, order).map_err(of_type)?;
        Ok(message)
    }
}

/// A message type whose messages all have the same length. It has no texts and no sequences, so no shape is needed.
/// Generated code implements this trait; it is also implemented for every [`PlainMessage`](crate::PlainMessage).
#[diagnostic::on_unimplemented(
    message = "a `{Self}` has texts or sequences, which are fixed when it is loaned",
    label = "its length is not known without a shape",
    note = "use `loan_with({Self}Shape {{ .. }})`, which takes the texts and the lengths of the sequences"
)]
pub trait FixedSize: Message {
    /// Lays out a message, like [`Shape::compose`] but without a shape.
    ///
    /// # Errors
    /// The memory is too short.
    fn compose(composer: &mut Composer<'_>) -> Result<Self::Layout>;
}

/// Builds a message in memory that must have exactly the message's length.
#[inline(always)]
fn built<T: Message, B: AsRef<[u8]> + AsMut<[u8]>>(
    mut memory: B,
    shape: impl Shape<T>,
    mode: Mode,
) -> Result<T::View<B>> {
    let body = memory.as_mut();
    aligned(body)?;
    let length_bytes = body.len();
    let mut composer = Composer::building(body, mode);
    let layout = shape.compose(&mut composer)?;
    match length_bytes - composer.position() as usize {
        0 => Ok(T::in_memory(memory, layout)),
        bytes => Err(composer.error(Problem::TooLong { bytes })),
    }
}

/// Checks that a body is aligned to 8 bytes.
#[inline]
pub(crate) fn aligned(body: &[u8]) -> Result<&[u8]> {
    if body.as_ptr().addr().is_multiple_of(BODY_ALIGN) || body.is_empty() {
        Ok(body)
    } else {
        Err(Error::new(Problem::NotAligned, 0))
    }
}

/// Converts a hash in ROS 2's form, `RIHS01_` and 64 hexadecimal digits, to bytes. In the constants of generated code,
/// any other form is a compile-time error.
#[must_use]
pub const fn type_hash(text: &str) -> [u8; 32] {
    const PREFIX: usize = "RIHS01_".len();
    let text = text.as_bytes();
    assert!(text.len() == PREFIX + 64, "a hash has the form RIHS01_<64 hexadecimal digits>");
    let mut hash = [0; 32];
    let mut index = 0;
    while index < hash.len() {
        hash[index] = digit(text[PREFIX + 2 * index]) << 4 | digit(text[PREFIX + 2 * index + 1]);
        index += 1;
    }
    hash
}

const fn digit(character: u8) -> u8 {
    match character {
        b'0'..=b'9' => character - b'0',
        b'a'..=b'f' => character - b'a' + 10,
        _ => panic!("a hash is written in lower-case hexadecimal digits"),
    }
}
