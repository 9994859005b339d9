//! A pseudo-terminal as the agent's end of a serial line.

use std::{io, os::fd::OwnedFd, path::PathBuf};

use rustix::{
    fs::{Mode, OFlags, open},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{OptionalActions, tcgetattr, tcsetattr},
};

/// A pseudo-terminal that passes bytes on without translation.
#[derive(Debug)]
pub struct Pseudoterminal {
    /// The master side, which the relay reads and writes.
    pub end: OwnedFd,
    /// The path of the serial port, which the agent opens.
    pub path: PathBuf,
    /// The descriptor that keeps the port alive while no program has it open.
    _port: OwnedFd,
}

impl Pseudoterminal {
    pub fn open() -> io::Result<Pseudoterminal> {
        let end = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&end)?;
        unlockpt(&end)?;
        let path = PathBuf::from(ptsname(&end, Vec::new())?.to_string_lossy().into_owned());
        let port = open(&path, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
        let mut settings = tcgetattr(&port)?;
        settings.make_raw();
        tcsetattr(&port, OptionalActions::Now, &settings)?;
        rustix::io::ioctl_fionbio(&end, true)?;
        Ok(Pseudoterminal { end, path, _port: port })
    }
}
