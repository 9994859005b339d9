//! Transport over CAN-FD, with one message in each frame.

use super::Transport;
use gantry_xrce::framing::{
    TooLong,
    can_fd::{decode, encode},
};

/// A CAN-FD controller. The client has a 29-bit CAN identifier, which frames in both directions carry. The
/// implementation sets this identifier in each frame, and receives only frames with it. (`embedded-can` does not
/// support CAN-FD.)
pub trait CanFd {
    /// An error of the controller.
    type Error: core::fmt::Debug;

    /// Sends a frame with `data`, whose length is one that CAN-FD allows. Returns `false` if there is no room now. Does
    /// not block.
    ///
    /// # Errors
    /// An error of the controller.
    fn transmit(&mut self, data: &[u8]) -> Result<bool, Self::Error>;

    /// Copies the next frame with the client's identifier into `data`, and returns its length in bytes. Returns `None`
    /// if no frame has arrived. Does not block.
    ///
    /// # Errors
    /// An error of the controller.
    fn receive(&mut self, data: &mut [u8; 64]) -> Result<Option<usize>, Self::Error>;
}

/// An error of [`CanFdTransport`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CanFdError<E> {
    /// An error of the controller.
    #[error("the CAN-FD controller failed")]
    Controller(E),
    /// The message is longer than a frame and is not sent. The `MTU` of the client's memory must be 63.
    #[error(transparent)]
    TooLong(TooLong),
}

/// A transport for messages of up to 63 bytes over a CAN-FD controller. The `MTU` of the client's memory must be 63.
#[derive(Debug)]
pub struct CanFdTransport<C> {
    controller: C,
}

impl<C> CanFdTransport<C> {
    /// Makes a transport over a controller.
    pub const fn new(controller: C) -> Self {
        Self { controller }
    }

    /// The controller.
    pub fn controller(&mut self) -> &mut C {
        &mut self.controller
    }
}

impl<C: CanFd> Transport for CanFdTransport<C> {
    type Error = CanFdError<C::Error>;

    fn send(&mut self, message: &[u8]) -> Result<bool, Self::Error> {
        let mut frame = [0; 64];
        let length = encode(message, &mut frame).map_err(CanFdError::TooLong)?;
        self.controller.transmit(frame.get(..length).unwrap_or_default()).map_err(CanFdError::Controller)
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, Self::Error> {
        let mut frame = [0; 64];
        while let Some(length) = self.controller.receive(&mut frame).map_err(CanFdError::Controller)? {
            let message = frame.get(..length).and_then(decode);
            if let Some((message, room)) = message.and_then(|message| Some((message, buffer.get_mut(..message.len())?)))
            {
                room.copy_from_slice(message);
                return Ok(Some(message.len()));
            }
        }
        Ok(None)
    }
}
