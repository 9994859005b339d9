//! Elements: types with the same bytes in a Rust slice as in a CDR array or sequence. They are numbers, booleans and
//! plain messages.

use crate::{copy::copy, error::Problem, plain::PlainMessage};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, TryFromBytes};

/// A number, a `bool` or a [`PlainMessage`]. An element in a Rust slice has the same bytes as in a CDR sequence.
pub trait Element: FromZeros + IntoBytes + Immutable + Sized + 'static {
    /// The alignment of an element in CDR.
    const ALIGN: usize = align_of::<Self>();
    /// Whether some bit patterns are not valid values of the type, so that bytes must be checked.
    const CHECKED: bool = false;

    /// A reference to the value at an offset in a body.
    fn at(body: &[u8], offset: u32) -> &Self;
    /// A mutable reference to the value at an offset in a body.
    fn at_mut(body: &mut [u8], offset: u32) -> &mut Self;
    /// The values that fill `bytes`, as a slice of the same memory.
    fn slice(bytes: &[u8]) -> &[Self];
    /// The values that fill `bytes`, as a mutable slice of the same memory.
    fn slice_mut(bytes: &mut [u8]) -> &mut [Self];
    /// Checks that `bytes` are valid values. Called once, when a view is made.
    ///
    /// # Errors
    /// The bytes are not valid values.
    fn check(bytes: &[u8]) -> Result<(), Problem>;
    /// Copies the values that fill `bytes` to `values`, and then checks the copy.
    ///
    /// # Errors
    /// The bytes are not valid values.
    fn copy(bytes: &[u8], values: &mut [Self]) -> Result<(), Problem>;
    /// Reverses the byte order of each number in `values`. Returns `false` if the type does not support this.
    fn swap_bytes(values: &mut [Self]) -> bool;
    /// Sets every value to its default value: zero, or the default in the message's definition.
    #[inline]
    fn set_defaults(values: &mut [Self]) {
        values.zero();
    }
}

/// Panics because the bytes of a view are not at the address that was checked: the memory has moved since the view was
/// made.
#[cold]
pub(crate) fn panic_moved() -> ! {
    panic!(
        "the memory of a message moved after its view was made; use memory that stays in place, such as a slice or a `Vec`"
    )
}

/// The methods of `Element` that access memory directly, for types of which every bit pattern is a valid value.
macro_rules! in_place {
    () => {
        #[inline]
        fn at(body: &[u8], offset: u32) -> &Self {
            let start = offset as usize;
            Self::ref_from_bytes(&body[start..start + size_of::<Self>()]).unwrap_or_else(|_| panic_moved())
        }

        #[inline]
        fn at_mut(body: &mut [u8], offset: u32) -> &mut Self {
            let start = offset as usize;
            Self::mut_from_bytes(&mut body[start..start + size_of::<Self>()]).unwrap_or_else(|_| panic_moved())
        }

        #[inline]
        fn slice(bytes: &[u8]) -> &[Self] {
            // An empty sequence has no padding, so its bytes may be at an unaligned address.
            if bytes.is_empty() {
                return &[];
            }
            <[Self]>::ref_from_bytes(bytes).unwrap_or_else(|_| panic_moved())
        }

        #[inline]
        fn slice_mut(bytes: &mut [u8]) -> &mut [Self] {
            if bytes.is_empty() {
                return &mut [];
            }
            <[Self]>::mut_from_bytes(bytes).unwrap_or_else(|_| panic_moved())
        }

        #[inline]
        fn check(_: &[u8]) -> Result<(), Problem> {
            Ok(())
        }

        #[inline]
        fn copy(bytes: &[u8], values: &mut [Self]) -> Result<(), Problem> {
            copy(values.as_mut_bytes(), bytes);
            Ok(())
        }
    };
}

macro_rules! number {
    ($($number:ty)+) => {$(
        impl Element for $number {
            in_place!();

            fn swap_bytes(values: &mut [Self]) -> bool {
                if size_of::<Self>() > 1 {
                    values.as_mut_bytes().chunks_exact_mut(size_of::<Self>()).for_each(<[u8]>::reverse);
                }
                true
            }
        }
    )+};
}
number!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64);

impl<T: PlainMessage> Element for T {
    in_place!();

    fn swap_bytes(values: &mut [Self]) -> bool {
        values.iter_mut().all(PlainMessage::swap_bytes)
    }

    #[inline]
    fn set_defaults(values: &mut [Self]) {
        values.iter_mut().for_each(PlainMessage::set_defaults);
    }
}

impl Element for bool {
    const CHECKED: bool = true;

    #[inline]
    fn at(body: &[u8], offset: u32) -> &bool {
        // When the view was made, bytes other than 0 and 1 were refused.
        if body[offset as usize] == 0 { &false } else { &true }
    }

    #[inline]
    fn at_mut(body: &mut [u8], offset: u32) -> &mut bool {
        bool::try_mut_from_bytes(&mut body[offset as usize..][..1]).unwrap_or_else(|_| panic_moved())
    }

    #[inline]
    fn slice(bytes: &[u8]) -> &[bool] {
        // When the view was made, bytes other than 0 and 1 were refused. If another process has written such a byte
        // since, the slice is empty.
        <[bool]>::try_ref_from_bytes(bytes).unwrap_or_default()
    }

    #[inline]
    fn slice_mut(bytes: &mut [u8]) -> &mut [bool] {
        <[bool]>::try_mut_from_bytes(bytes).unwrap_or_default()
    }

    fn check(bytes: &[u8]) -> Result<(), Problem> {
        match bytes.iter().find(|byte| **byte > 1) {
            Some(value) => Err(Problem::NotBoolean { value: *value }),
            None => Ok(()),
        }
    }

    fn copy(bytes: &[u8], values: &mut [bool]) -> Result<(), Problem> {
        for (value, byte) in values.iter_mut().zip(bytes) {
            *value = match core::hint::black_box(*byte) {
                0 => false,
                1 => true,
                other => return Err(Problem::NotBoolean { value: other }),
            };
        }
        Ok(())
    }

    fn swap_bytes(_: &mut [bool]) -> bool {
        true
    }
}
