//! The trait of the views of messages in place. Generated views and the views of plain structs implement it.

use crate::{error::Result, input::Input, kind::Layout, message::Message};
use alloc::boxed::Box;

/// A view of a message in memory `B`, made by [`Message::view`] or [`Message::build`].
///
/// The generated type has the getters and setters of the fields. The methods below are in a trait, so that they do not
/// collide with fields of the same name: if the trait is not in scope, only getters and setters are visible.
pub trait View<B> {
    /// The message's type.
    type Message: Message;
    /// The type to which a loan or a sample of the message dereferences. It is the struct if the message is plain,
    /// otherwise this view.
    type Target;
    /// The value to which a sample dereferences.
    fn target(&self) -> &Self::Target;
    /// The value to which a loan dereferences.
    fn target_mut(&mut self) -> &mut Self::Target
    where
        B: AsMut<[u8]>;
    /// The memory of the message.
    fn memory(&self) -> &B;
    /// The memory and the layout. [`Message::in_memory`] makes the view from them again.
    fn into_parts(self) -> (B, Layout<Self::Message>);
    /// Copies the message to an owned struct.
    ///
    /// # Errors
    /// The memory was changed after the view was made, and does not hold a valid message any more.
    fn to_message(&self) -> Result<Box<Self::Message>>;
}

/// Implements [`View`] and `Debug` for the two views of a generated message. Both views must have the fields `memory`
/// and `layout`; the layout must have a field `start_`.
#[doc(hidden)]
#[macro_export]
macro_rules! view {
    ($borrowed:ident, $view:ident of $message:ident) => {
        impl<'a> $crate::View<&'a [u8]> for $borrowed<'a> {
            type Message = $message;
            type Target = Self;

            #[inline]
            fn target(&self) -> &Self {
                self
            }

            #[inline]
            fn target_mut(&mut self) -> &mut Self
            where
                &'a [u8]: ::core::convert::AsMut<[u8]>,
            {
                self
            }

            #[inline]
            fn memory(&self) -> &&'a [u8] {
                &self.memory
            }

            #[inline]
            fn into_parts(self) -> (&'a [u8], $crate::Layout<$message>) {
                (self.memory, self.layout)
            }

            fn to_message(&self) -> $crate::Result<$crate::alloc::boxed::Box<$message>> {
                $crate::read_at(self.memory, self.layout.start_)
            }
        }

        impl ::core::fmt::Debug for $borrowed<'_> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match $crate::View::to_message(self) {
                    // The full path is needed, because a getter may be called `fmt`.
                    Ok(message) => ::core::fmt::Debug::fmt(&message, f),
                    Err(error) => ::core::fmt::Debug::fmt(&error, f),
                }
            }
        }

        impl<B_: ::core::convert::AsRef<[u8]>> $view<B_> {
            // The underscore avoids collisions, because no field's name ends with one.
            #[inline]
            fn borrowed_(&self) -> $borrowed<'_> {
                $borrowed { memory: self.memory.as_ref(), layout: self.layout }
            }
        }

        impl<B_: ::core::convert::AsRef<[u8]>> $crate::View<B_> for $view<B_> {
            type Message = $message;
            type Target = Self;

            #[inline]
            fn target(&self) -> &Self {
                self
            }

            #[inline]
            fn target_mut(&mut self) -> &mut Self
            where
                B_: ::core::convert::AsMut<[u8]>,
            {
                self
            }

            #[inline]
            fn memory(&self) -> &B_ {
                &self.memory
            }

            #[inline]
            fn into_parts(self) -> (B_, $crate::Layout<$message>) {
                (self.memory, self.layout)
            }

            fn to_message(&self) -> $crate::Result<$crate::alloc::boxed::Box<$message>> {
                $crate::View::to_message(&self.borrowed_())
            }
        }

        impl<B_: ::core::convert::AsRef<[u8]>> ::core::fmt::Debug for $view<B_> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Debug::fmt(&self.borrowed_(), f)
            }
        }
    };
}

/// Reads an owned message that begins at `start` in a part of a body. Used by [`view!`].
#[doc(hidden)]
pub fn read_at<T: Message>(body: &[u8], start: u32) -> Result<Box<T>> {
    let mut message = T::new_box();
    T::read(&mut message, &mut Input::of_part(body, start as usize))?;
    Ok(message)
}
