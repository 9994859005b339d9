//! The socket file of a simulated bus. A path has at most one bus. A socket that a killed bus left behind is replaced.

use rustix::{
    fs::{FileType, lstat, unlink},
    io::Errno,
    net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, listen, socket_with},
};
use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::{Path, PathBuf},
};

/// The largest number of nodes that can wait for their connection to be accepted.
const BACKLOG: i32 = 64;

/// A listening socket and its file. The file is removed when this value is dropped.
#[derive(Debug)]
pub struct SocketFile {
    socket: OwnedFd,
    path: PathBuf,
    /// The device and inode number of the file, so that a different file at the path is not removed.
    file: (u64, u64),
}

impl SocketFile {
    /// Makes a listening socket at `path`.
    ///
    /// # Errors
    /// `AddrInUse` if a program listens at the path; `AlreadyExists` if a file that is not a socket is there; other
    /// errors of the operating system.
    pub fn bind(path: &Path) -> io::Result<Self> {
        let address = SocketAddrUnix::new(path)?;
        let socket = new_socket()?;
        match bind(&socket, &address) {
            Err(Errno::ADDRINUSE) => {
                if FileType::from_raw_mode(lstat(path)?.st_mode) != FileType::Socket {
                    return Err(Errno::EXIST.into());
                }
                // A connection is refused only if no process listens on the socket.
                if connect(new_socket()?, &address) != Err(Errno::CONNREFUSED) {
                    return Err(Errno::ADDRINUSE.into());
                }
                unlink(path)?;
                bind(&socket, &address)?;
            }
            result => result?,
        }
        let status = lstat(path)?;
        let file = Self { socket, path: path.to_owned(), file: (status.st_dev, status.st_ino) };
        listen(&file.socket, BACKLOG)?;
        Ok(file)
    }
}

fn new_socket() -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?)
}

impl AsFd for SocketFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if lstat(&self.path).is_ok_and(|status| (status.st_dev, status.st_ino) == self.file) {
            let _ = unlink(&self.path); // the file may be gone together with its folder
        }
    }
}
