//! The signal masks of threads that the library starts: no signal handler of the program runs on them.

/// Runs `start` with all signals blocked on this thread. A thread that `start` starts inherits the mask, so that it
/// never runs a signal handler of the program. The function is for libraries that start threads. Makes two system
/// calls.
///
/// ```
/// let thread = gantry_shm::with_signals_blocked(|| std::thread::spawn(|| 42));
/// assert_eq!(thread.join().ok(), Some(42));
/// ```
pub fn with_signals_blocked<T>(start: impl FnOnce() -> T) -> T {
    // SAFETY: an all-zero set is a value of the type; `sigfillset` then writes it whole.
    let mut all: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: as above.
    let mut before: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: `all` is ours. The call cannot fail on a valid pointer.
    unsafe { libc::sigfillset(&raw mut all) };
    // SAFETY: both sets are ours; the call changes this thread's mask only, which is restored below.
    let blocked = unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before) };
    let started = start();
    if blocked == 0 {
        // SAFETY: `before` was filled by the call above.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut()) };
    }
    started
}
