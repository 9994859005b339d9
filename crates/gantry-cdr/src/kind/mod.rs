//! The kinds of fields. A kind determines the bytes of a field in a body, and how the field is found, viewed, written
//! and read. A [`Shape`](crate::Shape) builds fields.
//!
//! Generated code only states the kind of each field. A [`PlainMessage`](crate::PlainMessage) and every generated
//! message are kinds as well, for fields that hold such a message.

mod array;
mod list;
mod list_mut;
mod list_ref;
mod number;
mod slice;
mod text;
mod wide_text;

pub use array::{Array, BoxedArray};
pub use list::{FixedList, List};
pub use list_mut::ListMut;
pub use list_ref::ListRef;
pub use number::Number;
pub use slice::Slice;
pub use text::Text;
pub use wide_text::{WideRef, WideText};

use crate::{
    aligned::BODY_ALIGN,
    composer::Composer,
    cursor::Cursor,
    error::{Problem, Result},
    input::Input,
};
use core::fmt::Debug;

/// The position of a field of the kind `K` in a body.
pub type Layout<K> = <K as Kind>::Layout;

/// The value of `BOUND` for sequences and texts without a bound.
pub const UNBOUNDED: u32 = u32::MAX;

/// A kind of field.
pub trait Kind {
    /// The type of the field in an owned message.
    type Owned;
    /// The position of the field in its body.
    type Layout: Copy + Debug + PartialEq;
    /// The type that gives read access to the field in place.
    type Ref<'a>;
    /// The type that gives write access to the field in place.
    type Mut<'a>;

    /// Finds the field at the cursor, checks it, and moves the cursor past it.
    ///
    /// # Errors
    /// The bytes are not a valid field of this kind.
    fn locate(cursor: &mut Cursor<'_>) -> Result<Self::Layout>;
    /// Gives read access to the field in `body`. `body` must have the bytes in which `layout` was found.
    fn get(body: &[u8], layout: Self::Layout) -> Self::Ref<'_>;
    /// Gives write access to the field in `body`, under the same condition as [`Kind::get`].
    fn get_mut(body: &mut [u8], layout: Self::Layout) -> Self::Mut<'_>;
    /// Serialises an owned field.
    ///
    /// # Errors
    /// The memory is too short, or a length is above its bound.
    fn write(value: &Self::Owned, composer: &mut Composer<'_>) -> Result<()>;
    /// Reads the field into the owned field `value`, whose allocations are reused.
    ///
    /// # Errors
    /// As [`Kind::locate`].
    fn read(value: &mut Self::Owned, input: &mut Input<'_>) -> Result<()>;
}

/// The offset of a field in a fixed-size message that begins at `start` in `part`, a part of a body. All padding
/// depends on the position of the message in the body modulo 8, so `offsets` has the distance of the field from `start`
/// for each of the eight cases. For generated code.
#[doc(hidden)]
#[inline]
#[must_use]
pub fn field_offset(part: &[u8], start: u32, offsets: &[u32; BODY_ALIGN]) -> u32 {
    start + offsets[(start as usize + phase(part)) % BODY_ALIGN]
}

/// The position of a part in its body, modulo 8. It equals the address modulo 8, because a body in place is aligned to
/// 8 bytes.
#[inline]
pub(crate) fn phase(part: &[u8]) -> usize {
    part.as_ptr().addr() % BODY_ALIGN
}

/// Rounds an offset in a part of a body up, so that the offset in the whole body is a multiple of `align`. `phase` is
/// the position of the part in the body, modulo 8.
#[inline(always)]
pub(crate) fn align_up(offset: usize, phase: usize, align: usize) -> usize {
    (offset + phase).next_multiple_of(align) - phase
}

/// The position of a list's elements or a text's characters in the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    start: u32,
    count: u32,
}

impl Span {
    /// The bytes of the elements, which have `element_bytes` bytes each. The result is empty if another process has
    /// changed `body` so that it is too short.
    #[inline]
    fn bytes(self, body: &[u8], element_bytes: usize) -> &[u8] {
        let start = self.start as usize;
        body.get(start..start + self.count as usize * element_bytes).unwrap_or_default()
    }

    /// The bytes of the elements like [`Span::bytes`], but mutable.
    #[inline]
    fn bytes_mut(self, body: &mut [u8], element_bytes: usize) -> &mut [u8] {
        let start = self.start as usize;
        body.get_mut(start..start + self.count as usize * element_bytes).unwrap_or_default()
    }
}

/// Checks that a sequence or text is not longer than its bound.
#[inline]
pub(crate) fn check_bound(length: usize, bound: u32) -> core::result::Result<(), Problem> {
    if length <= bound as usize { Ok(()) } else { Err(Problem::AboveBound { length, bound: bound as usize }) }
}
