//! Open-file-description locks on byte 0 of a file: proof that a process lives, and the registry's mutual exclusion.
//!
//! Such a lock ends when the last copy of the description is closed, also by `kill -9`, is seen across pid namespaces, and is
//! not lost when the owner opens and closes the file once more (POSIX locks are).

use rustix::io::Errno;
use std::os::fd::{AsFd, AsRawFd};

fn byte_zero(kind: libc::c_int) -> libc::flock {
    libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 1,
        l_pid: 0,
    }
}

/// Takes the write lock if it is free. `Ok(false)`: another description has it.
pub(crate) fn try_lock(file: impl AsFd) -> Result<bool, Errno> {
    let request = byte_zero(libc::F_WRLCK);
    // SAFETY: the descriptor is open for the call, `request` is a valid `flock` that the kernel only reads.
    let code = unsafe { libc::fcntl(file.as_fd().as_raw_fd(), libc::F_OFD_SETLK, &request) };
    match code {
        0 => Ok(true),
        _ => match last_errno() {
            Errno::AGAIN | Errno::ACCESS => Ok(false),
            errno => Err(errno),
        },
    }
}

/// Releases the lock.
pub(crate) fn unlock(file: impl AsFd) -> Result<(), Errno> {
    let request = byte_zero(libc::F_UNLCK);
    // SAFETY: as in `try_lock`.
    let code = unsafe { libc::fcntl(file.as_fd().as_raw_fd(), libc::F_OFD_SETLK, &request) };
    if code == 0 { Ok(()) } else { Err(last_errno()) }
}

/// Whether another description holds the write lock. The probe is for a read lock, so that read locks of other programs (all that
/// a read-only descriptor may take) do not count. About half a microsecond.
pub(crate) fn is_locked(file: impl AsFd) -> Result<bool, Errno> {
    let mut request = byte_zero(libc::F_RDLCK);
    // SAFETY: as in `try_lock`; the kernel writes its answer into `request`, which we own.
    let code = unsafe { libc::fcntl(file.as_fd().as_raw_fd(), libc::F_OFD_GETLK, &mut request) };
    if code == 0 { Ok(request.l_type != libc::F_UNLCK as libc::c_short) } else { Err(last_errno()) }
}

fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}
