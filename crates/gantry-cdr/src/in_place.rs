//! The view of a plain message.

use crate::{
    aligned::BODY_ALIGN,
    copy::copy,
    cursor::Cursor,
    element::panic_moved,
    error::{Error, Problem, Result},
    kind::{Kind, Layout},
    message::{Message, aligned},
    plain_body::PlainBody,
    view::View,
};
use alloc::boxed::Box;
use core::{
    fmt,
    marker::PhantomData,
    ops::{Deref, DerefMut},
};

/// The view of a [`PlainBody`] in memory `B`. The view dereferences to the struct in that memory.
pub struct InPlace<T, B> {
    memory: B,
    message: PhantomData<T>,
}

impl<T: PlainBody, B: AsRef<[u8]>> Deref for InPlace<T, B> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        T::ref_from_bytes(&self.memory.as_ref()[..size_of::<T>()]).unwrap_or_else(|_| panic_moved())
    }
}

impl<T: PlainBody, B: AsRef<[u8]> + AsMut<[u8]>> DerefMut for InPlace<T, B> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        T::mut_from_bytes(&mut self.memory.as_mut()[..size_of::<T>()]).unwrap_or_else(|_| panic_moved())
    }
}

impl<T: PlainBody + fmt::Debug, B: AsRef<[u8]>> fmt::Debug for InPlace<T, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::fmt(self, f)
    }
}

impl<T: PlainBody + Message + Kind<Layout: Default>, B: AsRef<[u8]>> View<B> for InPlace<T, B> {
    type Message = T;
    type Target = T;

    #[inline]
    fn target(&self) -> &T {
        self
    }

    #[inline]
    fn target_mut(&mut self) -> &mut T
    where
        B: AsMut<[u8]>,
    {
        self
    }

    #[inline]
    fn memory(&self) -> &B {
        &self.memory
    }

    #[inline]
    fn into_parts(self) -> (B, Layout<T>) {
        (self.memory, Layout::<T>::default())
    }

    fn to_message(&self) -> Result<Box<T>> {
        let mut message = T::new_box();
        copy(message.as_mut_bytes(), &self.memory.as_ref()[..size_of::<T>()]);
        Ok(message)
    }
}

impl<T: PlainBody, B: AsRef<[u8]>> InPlace<T, B> {
    /// As [`Message::in_memory`].
    #[inline]
    #[doc(hidden)]
    pub fn new(memory: B) -> InPlace<T, B> {
        const { assert!(align_of::<T>() <= BODY_ALIGN, "CDR has no alignment above 8") };
        InPlace { memory, message: PhantomData }
    }

    /// As [`Message::view`].
    #[inline]
    #[doc(hidden)]
    pub fn view(memory: B) -> Result<InPlace<T, B>> {
        let mut cursor = Cursor::new(aligned(memory.as_ref())?, 0)?;
        cursor.take(size_of::<T>(), 1)?;
        Ok(InPlace::new(memory))
    }

    /// As [`Message::build_uninit`].
    #[inline]
    #[doc(hidden)]
    pub fn build(memory: B) -> Result<InPlace<T, B>>
    where
        B: AsMut<[u8]>,
    {
        let body = aligned(memory.as_ref())?;
        match body.len().checked_sub(size_of::<T>()) {
            Some(0) => Ok(InPlace::new(memory)),
            Some(bytes) => Err(Error::new(Problem::TooLong { bytes }, size_of::<T>())),
            None => {
                let problem = Problem::TooShort { needed_bytes: size_of::<T>(), left_bytes: body.len() };
                Err(Error::new(problem, 0))
            }
        }
    }
}
