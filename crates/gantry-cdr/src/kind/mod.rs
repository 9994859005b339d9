//! The kinds of fields: how each lies in a body, and how it is found, laid out, looked at, written and read.
//!
//! Generated code says of each field which kind it is, and does nothing else itself. A [`PlainMessage`](crate::PlainMessage) is
//! a kind, and so is every generated message, for fields of its type.

mod array;
mod list;
mod number;
mod slice;
mod text;
mod wide_text;

pub use array::{Array, BoxedArray};
pub use list::{List, ListMut, ListRef, Row};
pub use number::Number;
pub use slice::Slice;
pub use text::Text;
pub use wide_text::{WideRef, WideText};

use crate::{
    composer::Composer,
    cursor::Cursor,
    error::{Problem, Result},
    input::Input,
};
use core::fmt::Debug;

/// The layout of a kind of field.
pub type Layout<K> = <K as Kind>::Layout;

/// The bound of sequences and texts that have none.
pub const UNBOUNDED: u32 = u32::MAX;

/// A kind of field.
pub trait Kind {
    /// The field in an owned message.
    type Owned;
    /// Where the field is in its body.
    type Layout: Copy + Debug + PartialEq;
    /// What must be known of the field before it is built; `()` if nothing.
    type Shape<'a>: Copy;
    /// The field, looked at in place.
    type Ref<'a>;
    /// The field, written in place.
    type Mut<'a>;

    /// Finds the field at the cursor, checks it and passes over it.
    ///
    /// # Errors
    /// The bytes are not those of such a field.
    fn locate(cursor: &mut Cursor<'_>) -> Result<Self::Layout>;
    /// Lays out the field.
    ///
    /// # Errors
    /// The memory ends; a length is above its bound.
    fn compose(composer: &mut Composer<'_>, shape: Self::Shape<'_>) -> Result<Self::Layout>;
    /// The field in `body`, which is what `layout` was found in.
    fn get(body: &[u8], layout: Self::Layout) -> Self::Ref<'_>;
    /// The field in `body`, which is what `layout` was found in.
    fn get_mut(body: &mut [u8], layout: Self::Layout) -> Self::Mut<'_>;
    /// Serialises an owned field.
    ///
    /// # Errors
    /// As [`Kind::compose`].
    fn write(value: &Self::Owned, composer: &mut Composer<'_>) -> Result<()>;
    /// Reads an owned field, keeping its allocation.
    ///
    /// # Errors
    /// As [`Kind::locate`].
    fn read(value: &mut Self::Owned, input: &mut Input<'_>) -> Result<()>;
}

/// Where a field of a message of fixed size is that begins at `start`: all padding depends on that modulo 8. For generated code.
#[doc(hidden)]
#[inline]
#[must_use]
pub fn place(start: u32, offsets: &[u32; crate::BODY_ALIGN]) -> u32 {
    start + offsets[start as usize % crate::BODY_ALIGN]
}

/// Where elements or characters are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    start: u32,
    count: u32,
}

impl Span {
    /// The bytes of elements of that size. An empty slice if they are not in `body` any more: it is not what it was.
    #[inline]
    fn bytes(self, body: &[u8], element_bytes: usize) -> &[u8] {
        let start = self.start as usize;
        body.get(start..start + self.count as usize * element_bytes).unwrap_or_default()
    }

    /// As [`Span::bytes`].
    #[inline]
    fn bytes_mut(self, body: &mut [u8], element_bytes: usize) -> &mut [u8] {
        let start = self.start as usize;
        body.get_mut(start..start + self.count as usize * element_bytes).unwrap_or_default()
    }
}

/// Whether a sequence or text is not longer than it may be.
#[inline]
pub(crate) fn check_bound(length: usize, bound: u32) -> core::result::Result<(), Problem> {
    if length <= bound as usize { Ok(()) } else { Err(Problem::AboveBound { length, bound: bound as usize }) }
}
