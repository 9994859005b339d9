//! Frames of CAN FD in SocketCAN's format: `struct canfd_frame` of `linux/can.h`, in the byte order of the machine.
//!
//! A frame has the identifier with its flags (4 bytes), the length of the data, flags, two reserved bytes, and 64
//! bytes of data.

use super::can_fd::MAX_FRAME_BYTES as MAX_DATA_BYTES;

/// The size of `struct canfd_frame`, in bytes.
pub const FRAME_BYTES: usize = HEADER_BYTES + MAX_DATA_BYTES;

/// The largest extended identifier, which has 29 bits.
pub const MAX_IDENTIFIER: u32 = 0x1fff_ffff;

const HEADER_BYTES: usize = 8;
/// `CAN_EFF_FLAG`: the identifier has 29 bits, not 11. The two bits below this flag mark remote requests and errors.
const EXTENDED: u32 = 1 << 31;
/// `CANFD_BRS`.
const BIT_RATE_SWITCH: u8 = 1;
/// `CANFD_FDF`: the frame is a CAN FD frame.
const FD_FORMAT: u8 = 4;

/// A data frame of CAN FD with an extended identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The identifier, of 29 bits.
    pub identifier: u32,
    /// Whether the data field is sent at the data bit rate.
    pub has_bit_rate_switch: bool,
    /// The data, of at most 64 bytes.
    pub data: &'a [u8],
}

/// The reason why bytes are not a data frame of CAN FD with an extended identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The number of bytes differs from the size of `struct canfd_frame`, for example because this is a frame of
    /// classic CAN.
    #[error("{bytes} bytes are not a frame of CAN FD, which has {FRAME_BYTES}")]
    Size {
        /// The number of bytes.
        bytes: usize,
    },
    /// The identifier is a standard identifier, or the frame is a remote request or an error.
    #[error("{identifier:#010x} is not an extended identifier of a data frame")]
    Identifier {
        /// The identifier with its flags.
        identifier: u32,
    },
    /// The data of the frame is longer than 64 bytes.
    #[error("a frame of CAN FD has no {bytes} bytes of data, at most {MAX_DATA_BYTES}")]
    Data {
        /// The length of the data.
        bytes: usize,
    },
}

impl<'a> Frame<'a> {
    /// Parses the frame in `bytes`.
    ///
    /// # Errors
    /// The bytes are not a data frame of CAN FD with an extended identifier.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, FrameError> {
        let frame: &[u8; FRAME_BYTES] = bytes.try_into().map_err(|_| FrameError::Size { bytes: bytes.len() })?;
        let ([i0, i1, i2, i3, length, flags, _, _], data) =
            frame.split_first_chunk::<HEADER_BYTES>().ok_or(FrameError::Size { bytes: bytes.len() })?;
        let identifier = u32::from_ne_bytes([*i0, *i1, *i2, *i3]);
        if identifier & !MAX_IDENTIFIER != EXTENDED {
            return Err(FrameError::Identifier { identifier });
        }
        let bytes = usize::from(*length);
        Ok(Self {
            identifier: identifier & MAX_IDENTIFIER,
            has_bit_rate_switch: flags & BIT_RATE_SWITCH != 0,
            data: data.get(..bytes).ok_or(FrameError::Data { bytes })?,
        })
    }

    /// The frame in SocketCAN's format.
    ///
    /// # Errors
    /// The identifier or the data of the frame is too long.
    pub fn to_bytes(&self) -> Result<[u8; FRAME_BYTES], FrameError> {
        let Self { identifier, has_bit_rate_switch, data } = *self;
        if identifier > MAX_IDENTIFIER {
            return Err(FrameError::Identifier { identifier });
        }
        let too_long = FrameError::Data { bytes: data.len() };
        let length = u8::try_from(data.len()).map_err(|_| too_long)?;
        let flags = FD_FORMAT | if has_bit_rate_switch { BIT_RATE_SWITCH } else { 0 };
        let [i0, i1, i2, i3] = (identifier | EXTENDED).to_ne_bytes();
        let mut bytes = [0; FRAME_BYTES];
        if let Some((header, room)) = bytes.split_first_chunk_mut::<HEADER_BYTES>() {
            *header = [i0, i1, i2, i3, length, flags, 0, 0];
            room.get_mut(..data.len()).ok_or(too_long)?.copy_from_slice(data);
        }
        Ok(bytes)
    }
}
