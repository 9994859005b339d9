//! Open-file-description locks on single bytes of a file: proof that a process lives, and the registry's mutual
//! exclusion.
//!
//! Such a lock ends when the last copy of the open file description is closed, also after `kill -9`. The lock is seen
//! across pid namespaces. Unlike a POSIX lock, it is not lost when the owner opens and closes the file once more.

use rustix::io::Errno;
use std::os::fd::{AsFd, AsRawFd};

/// Takes the write lock of a byte if it is free. `Ok(false)` means that another description has the lock.
pub(crate) fn try_lock(file: impl AsFd, byte: i64) -> Result<bool, Errno> {
    match request(file, byte, libc::F_OFD_SETLK, libc::F_WRLCK) {
        Ok(_) => Ok(true),
        Err(Errno::AGAIN | Errno::ACCESS) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// Releases the lock of byte 0.
pub(crate) fn unlock(file: impl AsFd) -> Result<(), Errno> {
    request(file, 0, libc::F_OFD_SETLK, libc::F_UNLCK).map(drop)
}

/// Whether another description holds the write lock of a byte. The probe asks for a read lock, so that read locks
/// of other programs (the only kind that a read-only descriptor may take) do not count. The probe takes about half
/// a microsecond.
pub(crate) fn is_locked(file: impl AsFd, byte: i64) -> Result<bool, Errno> {
    Ok(request(file, byte, libc::F_OFD_GETLK, libc::F_RDLCK)? != libc::F_UNLCK)
}

/// Asks the kernel for a lock of this kind or, with `F_OFD_GETLK`, for a lock that conflicts with such a lock. Returns
/// the kind of lock in the kernel's answer.
fn request(file: impl AsFd, byte: i64, command: libc::c_int, kind: libc::c_int) -> Result<libc::c_int, Errno> {
    let (l_type, l_whence) = (kind as libc::c_short, libc::SEEK_SET as libc::c_short);
    let mut lock = libc::flock { l_type, l_whence, l_start: byte, l_len: 1, l_pid: 0 };
    // SAFETY: the descriptor is open for the call; `lock` is a valid `flock` of ours, into which the kernel may write
    // its answer.
    let code = unsafe { libc::fcntl(file.as_fd().as_raw_fd(), command, &mut lock) };
    match code {
        0 => Ok(lock.l_type.into()),
        _ => Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)),
    }
}
