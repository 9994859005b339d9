//! Serial ports and pseudo-terminals.

use super::Port;
use crate::transport::SerialTransport;
use rustix::{
    fs::{Mode, OFlags, open},
    termios::{ControlModes, OptionalActions, tcgetattr, tcsetattr},
};
use std::{io, os::fd::OwnedFd, path::Path};

/// Opens a serial port or a pseudo-terminal, without translation of bytes, with 8 bits and no parity.
///
/// # Errors
/// The port cannot be opened, or does not support this speed.
pub fn open_serial(path: impl AsRef<Path>, bits_per_s: u32) -> io::Result<SerialTransport<Port<OwnedFd>>> {
    let descriptor =
        open(path.as_ref(), OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
    let mut settings = tcgetattr(&descriptor)?;
    settings.make_raw();
    settings.set_speed(bits_per_s)?;
    settings.control_modes |= ControlModes::CLOCAL | ControlModes::CREAD;
    tcsetattr(&descriptor, OptionalActions::Flush, &settings)?;
    Ok(SerialTransport::new(Port(descriptor)))
}
