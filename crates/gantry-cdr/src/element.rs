//! What lies in arrays and sequences as it lies in memory: numbers, booleans and plain messages.

use crate::{error::Problem, plain::PlainMessage};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, TryFromBytes};

/// A number, a `bool` or a [`PlainMessage`]: one element of a Rust slice is one element of a CDR sequence.
pub trait Element: FromZeros + IntoBytes + Immutable + Sized + 'static {
    /// Its alignment in CDR.
    const ALIGN: usize = align_of::<Self>();
    /// Whether some bytes are no value of it.
    const CHECKED: bool = false;

    /// The value at an offset in a body, in place.
    fn at(body: &[u8], offset: u32) -> &Self;
    /// The value at an offset in a body, in place.
    fn at_mut(body: &mut [u8], offset: u32) -> &mut Self;
    /// The values that fill `bytes`, in place.
    fn slice(bytes: &[u8]) -> &[Self];
    /// The values that fill `bytes`, in place.
    fn slice_mut(bytes: &mut [u8]) -> &mut [Self];
    /// Whether `bytes` are values; checked once, when a view is made.
    ///
    /// # Errors
    /// They are not.
    fn check(bytes: &[u8]) -> Result<(), Problem>;
    /// Copies the values that fill `bytes`, and checks what was copied.
    ///
    /// # Errors
    /// They are no values.
    fn copy(bytes: &[u8], values: &mut [Self]) -> Result<(), Problem>;
    /// Turns around the bytes of every number in `values`; `false` if it cannot.
    fn swap_bytes(values: &mut [Self]) -> bool;
}

/// What a view says whose bytes are not where they were when it was made: its memory is not the kind that stays in place.
#[cold]
pub(crate) fn moved() -> ! {
    panic!(
        "the memory of a message moved after its view was made; use memory that stays where it is, as a slice or a `Vec`"
    )
}

/// In place, for types of which all bytes are a value.
macro_rules! in_place {
    () => {
        #[inline]
        fn at(body: &[u8], offset: u32) -> &Self {
            let start = offset as usize;
            Self::ref_from_bytes(&body[start..start + size_of::<Self>()]).unwrap_or_else(|_| moved())
        }

        #[inline]
        fn at_mut(body: &mut [u8], offset: u32) -> &mut Self {
            let start = offset as usize;
            Self::mut_from_bytes(&mut body[start..start + size_of::<Self>()]).unwrap_or_else(|_| moved())
        }

        #[inline]
        fn slice(bytes: &[u8]) -> &[Self] {
            // No elements are not aligned either.
            if bytes.is_empty() {
                return &[];
            }
            <[Self]>::ref_from_bytes(bytes).unwrap_or_else(|_| moved())
        }

        #[inline]
        fn slice_mut(bytes: &mut [u8]) -> &mut [Self] {
            if bytes.is_empty() {
                return &mut [];
            }
            <[Self]>::mut_from_bytes(bytes).unwrap_or_else(|_| moved())
        }

        #[inline]
        fn check(_: &[u8]) -> Result<(), Problem> {
            Ok(())
        }

        #[inline]
        fn copy(bytes: &[u8], values: &mut [Self]) -> Result<(), Problem> {
            values.as_mut_bytes().copy_from_slice(bytes);
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
}

impl Element for bool {
    const CHECKED: bool = true;

    #[inline]
    fn at(body: &[u8], offset: u32) -> &bool {
        // Anything else was refused when the view was made.
        if body[offset as usize] == 0 { &false } else { &true }
    }

    #[inline]
    fn at_mut(body: &mut [u8], offset: u32) -> &mut bool {
        bool::try_mut_from_bytes(&mut body[offset as usize..][..1]).unwrap_or_else(|_| moved())
    }

    #[inline]
    fn slice(bytes: &[u8]) -> &[bool] {
        // As above; if the writer put something else there since, there is nothing to be shown.
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
