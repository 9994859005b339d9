//! A sequence of numbers, booleans or plain messages. In place, it is a Rust slice.

use super::{Kind, Span, UNBOUNDED, check_bound};
use crate::{
    composer::Composer,
    cursor::Cursor,
    element::Element,
    error::{Error, Problem, Result},
    input::Input,
    shape::Shape,
};
use alloc::vec::Vec;
use core::marker::PhantomData;

/// A sequence of at most `BOUND` elements, such as `uint8[] data`. Its shape is the number of elements.
///
/// An empty sequence is only its length, without padding, as in DDS-XTypes and in ROS 2's implementations.
pub struct Slice<T, const BOUND: u32 = UNBOUNDED>(PhantomData<T>);

impl<T: Element, const BOUND: u32> Kind for Slice<T, BOUND> {
    type Owned = Vec<T>;
    type Layout = Span;
    type Ref<'a> = &'a [T];
    type Mut<'a> = &'a mut [T];

    #[inline]
    fn locate(cursor: &mut Cursor<'_>) -> Result<Span> {
        let length = cursor.length()?;
        check_bound(length, BOUND).map_err(|problem| cursor.error(problem))?;
        let align = if length == 0 { 1 } else { T::ALIGN };
        let start = cursor.take(length.saturating_mul(size_of::<T>()), align)?;
        if T::CHECKED {
            T::check(cursor.bytes_from(start)).map_err(|problem| Error::new(problem, start as usize))?;
        }
        Ok(Span { start, count: length as u32 })
    }

    #[inline]
    fn get(body: &[u8], layout: Span) -> &[T] {
        T::slice(layout.bytes(body, size_of::<T>()))
    }

    #[inline]
    fn get_mut(body: &mut [u8], layout: Span) -> &mut [T] {
        T::slice_mut(layout.bytes_mut(body, size_of::<T>()))
    }

    #[inline]
    fn write(value: &Vec<T>, composer: &mut Composer<'_>) -> Result<()> {
        composer.length(value.len(), BOUND)?;
        if value.is_empty() {
            return Ok(());
        }
        composer.put(value.as_slice(), T::ALIGN).map(drop)
    }

    fn read(value: &mut Vec<T>, input: &mut Input<'_>) -> Result<()> {
        let length = input.length(BOUND)?;
        let needed_bytes = length.saturating_mul(size_of::<T>());
        let left_bytes = input.left_bytes();
        // The length is checked before memory is allocated for it.
        if needed_bytes > left_bytes {
            return Err(input.error(Problem::TooShort { needed_bytes, left_bytes }));
        }
        value.truncate(length);
        // The vector is extended with zeros on the heap. A large struct as an element must not be moved over the stack.
        T::extend_vec_zeroed(value, length - value.len())
            .unwrap_or_else(|_| alloc::alloc::handle_alloc_error(core::alloc::Layout::new::<T>()));
        input.elements(value)
    }
}

impl<T: Element, const BOUND: u32> Shape<Slice<T, BOUND>> for usize {
    #[inline]
    fn compose(self, composer: &mut Composer<'_>) -> Result<Span> {
        let count = composer.length(self, BOUND)?;
        let align = if self == 0 { 1 } else { T::ALIGN };
        let length_bytes = self.saturating_mul(size_of::<T>());
        Ok(Span { start: composer.elements::<T>(length_bytes, align)?, count })
    }
}
