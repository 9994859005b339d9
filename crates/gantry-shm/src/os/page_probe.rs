//! A probe that finds out whether memory can be read, without reading it.
//!
//! The probe checks a file's length that another process has written: reading a mapping beyond the end of its file
//! raises SIGBUS, and the descriptor that could show the length may be closed already.

use std::ptr::NonNull;

/// Probes whether the eight bytes at `address` can be read. Makes one system call; returns `true` if the kernel
/// gives no answer.
pub(crate) fn is_readable(address: NonNull<u8>) -> bool {
    // An invalid value of the argument `how`. The kernel copies the signal set before it refuses this value, and
    // changes nothing: EFAULT if the set cannot be read, EINVAL if it can (kernel/signal.c, `rt_sigprocmask`;
    // Abseil's `AddressIsReadable` does the same).
    const NO_SUCH_HOW: libc::c_int = !0;
    let (set, no_old_set, set_bytes) = (address.as_ptr(), std::ptr::null_mut::<u8>(), 8_usize);
    // SAFETY: the kernel reads at most eight bytes at `set`, at any address, and refuses the call without any effect.
    let code = unsafe { libc::syscall(libc::SYS_rt_sigprocmask, NO_SUCH_HOW, set, no_old_set, set_bytes) };
    code == 0 || std::io::Error::last_os_error().raw_os_error() != Some(libc::EFAULT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::mm::{MapFlags, ProtFlags, mmap};

    #[test]
    fn memory_beyond_the_end_of_a_file_is_not_readable() {
        let file = tempfile::tempfile_in("/dev/shm").unwrap();
        file.set_len(4096).unwrap();
        // SAFETY: a new mapping at an address of the kernel's choice; it stays to the end of the process.
        let base = unsafe { mmap(std::ptr::null_mut(), 8192, ProtFlags::READ, MapFlags::SHARED, &file, 0) }.unwrap();
        let at = |offset| NonNull::new(base.cast::<u8>().wrapping_add(offset)).unwrap();
        assert!(is_readable(at(4088)));
        assert!(!is_readable(at(4096)));
        file.set_len(8192).unwrap();
        assert!(is_readable(at(8184)));
    }
}
