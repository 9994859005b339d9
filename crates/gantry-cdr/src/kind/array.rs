//! An array of numbers, booleans or plain messages. In place, it is a Rust array.
//!
//! Generated code uses [`BoxedArray`] for a large array if its message cannot be created on the heap as zeros.

use super::Kind;
use crate::{
    composer::Composer,
    cursor::Cursor,
    element::Element,
    error::{Error, Result},
    input::Input,
    shape::Shape,
};
use alloc::boxed::Box;
use core::marker::PhantomData;

/// An array of `N` elements, such as `float64[9] covariance`.
pub struct Array<T, const N: usize>(PhantomData<T>);

impl<T: Element, const N: usize> Kind for Array<T, N> {
    type Owned = [T; N];
    type Layout = u32;
    type Ref<'a> = &'a [T];
    type Mut<'a> = &'a mut [T];

    #[inline]
    fn locate(cursor: &mut Cursor<'_>) -> Result<u32> {
        let start = cursor.take(N * size_of::<T>(), T::ALIGN)?;
        if T::CHECKED {
            T::check(cursor.bytes_from(start)).map_err(|problem| Error::new(problem, start as usize))?;
        }
        Ok(start)
    }

    #[inline]
    fn get(body: &[u8], layout: u32) -> &[T] {
        T::slice(&body[layout as usize..][..N * size_of::<T>()])
    }

    #[inline]
    fn get_mut(body: &mut [u8], layout: u32) -> &mut [T] {
        T::slice_mut(&mut body[layout as usize..][..N * size_of::<T>()])
    }

    #[inline]
    fn write(value: &[T; N], composer: &mut Composer<'_>) -> Result<()> {
        composer.put(value.as_slice(), T::ALIGN).map(drop)
    }

    #[inline]
    fn read(value: &mut [T; N], input: &mut Input<'_>) -> Result<()> {
        input.elements(value)
    }
}

impl<T: Element, const N: usize> Shape<Array<T, N>> for () {
    #[inline]
    fn compose(self, composer: &mut Composer<'_>) -> Result<u32> {
        composer.elements::<T>(N * size_of::<T>(), T::ALIGN)
    }
}

/// An array like [`Array`], but boxed in an owned message. Such a message may be moved over the stack, which a large
/// array could overflow.
pub struct BoxedArray<T, const N: usize>(PhantomData<T>);

impl<T: Element, const N: usize> Kind for BoxedArray<T, N> {
    type Owned = Box<[T; N]>;
    type Layout = u32;
    type Ref<'a> = &'a [T];
    type Mut<'a> = &'a mut [T];

    #[inline]
    fn locate(cursor: &mut Cursor<'_>) -> Result<u32> {
        Array::<T, N>::locate(cursor)
    }

    #[inline]
    fn get(body: &[u8], layout: u32) -> &[T] {
        Array::<T, N>::get(body, layout)
    }

    #[inline]
    fn get_mut(body: &mut [u8], layout: u32) -> &mut [T] {
        Array::<T, N>::get_mut(body, layout)
    }

    #[inline]
    fn write(value: &Box<[T; N]>, composer: &mut Composer<'_>) -> Result<()> {
        Array::<T, N>::write(value, composer)
    }

    #[inline]
    fn read(value: &mut Box<[T; N]>, input: &mut Input<'_>) -> Result<()> {
        Array::<T, N>::read(value, input)
    }
}

impl<T: Element, const N: usize> Shape<BoxedArray<T, N>> for () {
    #[inline]
    fn compose(self, composer: &mut Composer<'_>) -> Result<u32> {
        Shape::<Array<T, N>>::compose(self, composer)
    }
}
