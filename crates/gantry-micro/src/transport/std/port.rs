//! File descriptors as ports of `embedded-io`.

use embedded_io::{ErrorType, Read, ReadReady, Write, WriteReady};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};
use std::{io, os::fd::AsFd};

/// A non-blocking file descriptor, as a port of `embedded-io`.
#[derive(Debug)]
pub struct Port<F>(pub F);

impl<F: AsFd> Port<F> {
    fn is_ready(&self, flags: PollFlags) -> io::Result<bool> {
        let mut descriptors = [PollFd::new(&self.0, flags)];
        match poll(&mut descriptors, Some(&Timespec::default())) {
            Ok(count) => Ok(count > 0),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// The number of bytes that were read or written; 0 if the call would have blocked.
fn moved(result: Result<usize, Errno>) -> io::Result<usize> {
    match result {
        Ok(bytes) => Ok(bytes),
        Err(Errno::AGAIN | Errno::INTR) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

impl<F> ErrorType for Port<F> {
    type Error = io::Error;
}

impl<F: AsFd> Read for Port<F> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match rustix::io::read(&self.0, bytes) {
            Ok(0) => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the other side has closed the line")),
            result => moved(result),
        }
    }
}

impl<F: AsFd> ReadReady for Port<F> {
    fn read_ready(&mut self) -> io::Result<bool> {
        self.is_ready(PollFlags::IN)
    }
}

impl<F: AsFd> Write for Port<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        moved(rustix::io::write(&self.0, bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<F: AsFd> WriteReady for Port<F> {
    fn write_ready(&mut self) -> io::Result<bool> {
        self.is_ready(PollFlags::OUT)
    }
}
