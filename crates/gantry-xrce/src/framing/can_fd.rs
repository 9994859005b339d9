//! The framing of DDS-XRCE for CAN-FD: the first byte is the length of the message, and the message follows.
//!
//! A CAN-FD frame has 0 to 8, 12, 16, 20, 24, 32, 48 or 64 bytes, so a frame can be longer than the message in it. Each
//! client has one 29-bit CAN identifier, and frames in both directions carry this identifier.

use super::TooLong;

/// The largest message in bytes: the MTU of this transport.
pub const MAX_MESSAGE_BYTES: usize = 63;

/// The longest frame, in bytes.
pub const MAX_FRAME_BYTES: usize = 64;

/// The lengths of frames in bytes, indexed by their code (DLC).
pub const FRAME_LENGTHS: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64];

/// Writes a message as a CAN-FD frame, and pads it with zeros to the next length that CAN-FD allows. Returns the
/// frame's length in bytes.
///
/// # Errors
/// [`TooLong`] above [`MAX_MESSAGE_BYTES`].
pub fn encode(message: &[u8], frame: &mut [u8; MAX_FRAME_BYTES]) -> Result<usize, TooLong> {
    let too_long = TooLong { bytes: message.len(), max_bytes: MAX_MESSAGE_BYTES };
    let (length, room) = frame.split_first_mut().ok_or(too_long)?;
    room.get_mut(..message.len()).ok_or(too_long)?.copy_from_slice(message);
    room.iter_mut().skip(message.len()).for_each(|byte| *byte = 0);
    *length = message.len() as u8;
    frame_length(message.len() + 1).ok_or(too_long)
}

/// The length of the shortest frame that holds this number of data bytes, or `None` above [`MAX_FRAME_BYTES`].
pub fn frame_length(data_bytes: usize) -> Option<usize> {
    FRAME_LENGTHS.iter().map(|&length| usize::from(length)).find(|&length| length >= data_bytes)
}

/// The message of a frame, or `None` if the message is empty or longer than the frame.
pub fn decode(frame: &[u8]) -> Option<&[u8]> {
    let (&length, rest) = frame.split_first()?;
    rest.get(..usize::from(length)).filter(|message| !message.is_empty())
}
