//! Messages whose memory is their CDR at the start of a body, and their common code.

use crate::{
    composer::{Composer, MAX_DEFAULT_BYTES},
    copy::copy,
    encapsulation::ByteOrder,
    error::{Error, Problem, Result},
    input::Input,
    plain::PlainMessage,
};
use alloc::boxed::Box;
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout};

/// A struct whose memory is its CDR at the start of a body, though not at every offset. Its first number may have a
/// smaller alignment than a later one, for example `uint8[1008] array` before `uint64 id`. Generated code implements
/// this trait; every [`PlainMessage`] also implements it.
pub trait PlainBody: FromBytes + IntoBytes + KnownLayout + Immutable + Send + Sized + 'static {
    /// As [`PlainMessage::swap_bytes`].
    fn swap_bytes(&mut self) -> bool;

    /// As [`PlainMessage::set_defaults`].
    #[inline]
    fn set_defaults(&mut self) {
        zero_small(self);
    }
}

impl<T: PlainMessage> PlainBody for T {
    fn swap_bytes(&mut self) -> bool {
        PlainMessage::swap_bytes(self)
    }

    #[inline]
    fn set_defaults(&mut self) {
        PlainMessage::set_defaults(self);
    }
}

/// Fills a struct of up to [`MAX_DEFAULT_BYTES`] with zeros.
#[inline]
pub(crate) fn zero_small<T: FromZeros>(message: &mut T) {
    if size_of::<T>() <= MAX_DEFAULT_BYTES {
        message.zero();
    }
}

/// The items of [`Message`] for a [`PlainBody`]. They only use its bytes, not its fields. For generated code.
#[doc(hidden)]
#[macro_export]
macro_rules! plain_body {
    () => {
        const MAX_BYTES: usize = ::core::mem::size_of::<Self>();
        type View<B_: ::core::convert::AsRef<[u8]>> = $crate::InPlace<Self, B_>;

        #[inline]
        fn in_memory<B_: ::core::convert::AsRef<[u8]>>(
            memory: B_,
            _: $crate::Layout<Self>,
        ) -> $crate::InPlace<Self, B_> {
            $crate::InPlace::new(memory)
        }

        fn new_box() -> $crate::alloc::boxed::Box<Self> {
            $crate::zeroed_box()
        }

        #[inline]
        fn view<B_: ::core::convert::AsRef<[u8]>>(memory: B_) -> $crate::Result<$crate::InPlace<Self, B_>> {
            $crate::InPlace::view(memory)
        }

        #[inline]
        fn shape_bytes(_: impl $crate::Shape<Self>) -> $crate::Result<usize> {
            Ok(::core::mem::size_of::<Self>())
        }

        #[inline]
        fn build<B_: ::core::convert::AsRef<[u8]> + ::core::convert::AsMut<[u8]>>(
            memory: B_,
            _: impl $crate::Shape<Self>,
        ) -> $crate::Result<$crate::InPlace<Self, B_>> {
            let mut message = $crate::InPlace::build(memory)?;
            $crate::PlainBody::set_defaults(&mut *message);
            ::core::result::Result::Ok(message)
        }

        #[inline]
        fn build_uninit<B_: ::core::convert::AsRef<[u8]> + ::core::convert::AsMut<[u8]>>(
            memory: B_,
            _: impl $crate::Shape<Self>,
        ) -> $crate::Result<$crate::InPlace<Self, B_>> {
            $crate::InPlace::build(memory)
        }

        #[inline]
        fn body_bytes(&self) -> $crate::Result<usize> {
            Ok(::core::mem::size_of::<Self>())
        }

        fn write_body(&self, body: &mut [u8]) -> $crate::Result<()> {
            $crate::write_plain(self, body)
        }

        #[inline]
        fn body_mut(&mut self) -> ::core::option::Option<&mut [u8]> {
            ::core::option::Option::Some($crate::plain_bytes(self))
        }

        fn read_body(&mut self, body: &[u8], order: $crate::ByteOrder) -> $crate::Result<()> {
            $crate::read_plain(self, body, order)
        }
    };
}

/// As [`Message::write_body`].
#[doc(hidden)]
pub fn write_plain<T: PlainBody>(message: &T, body: &mut [u8]) -> Result<()> {
    Composer::writing(body, 0).put(message, 1).map(drop)
}

/// As [`Message::body_mut`].
#[doc(hidden)]
pub fn plain_bytes<T: PlainBody>(message: &mut T) -> &mut [u8] {
    message.as_mut_bytes()
}

/// As [`Message::read_body`].
#[doc(hidden)]
pub fn read_plain<T: PlainBody>(message: &mut T, body: &[u8], order: ByteOrder) -> Result<()> {
    let mut input = Input::new(body, 0, order);
    copy(message.as_mut_bytes(), input.take(size_of::<T>(), 1)?);
    if order == ByteOrder::BigEndian && !message.swap_bytes() {
        return Err(Error::new(Problem::OtherByteOrder, 0));
    }
    Ok(())
}

/// Makes zeros on the heap, without moving them over the stack. For generated code.
#[doc(hidden)]
#[must_use]
pub fn zeroed_box<T: FromZeros>() -> Box<T> {
    // The program ends if the allocation fails, as with `Box::new`.
    T::new_box_zeroed().unwrap_or_else(|_| alloc::alloc::handle_alloc_error(core::alloc::Layout::new::<T>()))
}
