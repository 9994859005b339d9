//! The socket of a simulated bus in the file system. There is at most one bus at a path; a socket that a killed
//! bus left behind is replaced.

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

/// The largest number of nodes that wait until the bus accepts them.
const BACKLOG: i32 = 64;

/// A listening socket and its file, which is removed at the end.
#[derive(Debug)]
pub struct SocketFile {
    socket: OwnedFd,
    path: PathBuf,
    /// The device and inode number of the file. If another file is at the path, it is not removed.
    file: (u64, u64),
}

impl SocketFile {
    /// Makes a listening socket at `path`.
    ///
    /// # Errors
    /// `AddrInUse` if a program listens at the path, `AlreadyExists` if the path is a file that is not a socket;
    /// other errors of the operating system.
    pub fn bind(path: &Path) -> io::Result<Self> {
        let address = SocketAddrUnix::new(path)?;
        let socket = new_socket()?;
        match bind(&socket, &address) {
            Err(Errno::ADDRINUSE) => {
                if FileType::from_raw_mode(lstat(path)?.st_mode) != FileType::Socket {
                    return Err(Errno::EXIST.into());
                }
                // Only a socket that no process listens on refuses a connection.
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
            let _ = unlink(&self.path); // the file may be gone with its folder
        }
    }
}
