//! Forks without exec. The child has a copy of all objects: its calls must return errors, and must do no harm.

use super::{Listener, Talker};
use crate::outcome::Result;
use gantry_shm::{Error, SourceTime, WaitSet};
use rustix::{
    io::Errno,
    process::{Pid, WaitOptions, WaitStatus, waitpid},
};
use std::time::Duration;

/// The time limit of a child. The kernel kills a child that lives longer (SIGALRM), and its parent reports this as an
/// error.
const LIMIT_SECONDS: u32 = 60;
/// The meanings of the child's exit codes, by code.
const FINDINGS: [&str; 8] = [
    "found nothing wrong",
    "could loan",
    "could publish",
    "could look for subscriptions",
    "could take",
    "could wait",
    "could have a descriptor",
    "could wait with a wait set",
];

/// Forks. The child runs `use_handles`, sleeps for `lifetime`, and exits. `use_handles` makes the calls that must fail,
/// drops all objects, and returns the index of its finding.
pub fn fork(lifetime: Duration, use_handles: impl FnOnce() -> i32) -> Result<Pid> {
    // SAFETY: the child has only this thread. The only calls that wait for another thread are the allocator's, which
    // glibc and musl prepare for a fork. The child ends with `_exit`.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        // SAFETY: `alarm` has no preconditions.
        unsafe { libc::alarm(LIMIT_SECONDS) };
        for descriptor in [0, 1] {
            // SAFETY: the child does not use the pipes to the coordinator. An open copy would hide from the coordinator
            // that the parent has ended.
            unsafe { libc::close(descriptor) };
        }
        let found = use_handles();
        std::thread::sleep(lifetime); // perhaps longer than the parent lives
        // SAFETY: `_exit` has no preconditions; no destructor runs.
        unsafe { libc::_exit(found) };
    }
    let error = std::io::Error::last_os_error();
    Pid::from_raw(pid.max(0)).ok_or_else(|| format!("cannot fork: {error}"))
}

/// True if the child has ended. An error means that a call that must fail succeeded in the child.
pub fn has_ended(child: Pid) -> Result<bool> {
    outcome_of(waitpid(Some(child), WaitOptions::NOHANG))
}

/// Does the same as `has_ended` for a child that this process inherited, because the child's parent has exited. If the
/// parent had waited for the child before, this process has no such child.
pub fn orphan_has_ended(child: Pid) -> Result<bool> {
    match waitpid(Some(child), WaitOptions::NOHANG) {
        Err(Errno::CHILD) => Ok(true),
        waited => outcome_of(waited),
    }
}

fn outcome_of(waited: std::result::Result<Option<(Pid, WaitStatus)>, Errno>) -> Result<bool> {
    let Some((_, status)) = waited.map_err(|e| format!("cannot wait for a forked child: {e}"))? else {
        return Ok(false);
    };
    match status.exit_status() {
        Some(0) => Ok(true),
        Some(code) => match FINDINGS.get(code as usize) {
            Some(finding) => Err(format!("a forked child {finding} with its parent's handles")),
            None => Err(format!("a forked child ended with code {code}")),
        },
        None => Err(format!("a forked child was ended by signal {:?}", status.terminating_signal())),
    }
}

/// Returns the index in [`FINDINGS`] of the first call that succeeded with the parent's handles; 0 if all calls failed.
pub fn finding(talkers: &mut [Talker], listeners: &mut [Listener], wait_set: &mut WaitSet) -> i32 {
    for talker in talkers {
        if !is_forked(&talker.publisher.loan(0)) {
            return 1;
        }
        if let Some(loan) = talker.loans.pop()
            && !is_forked(&talker.publisher.publish(loan, SourceTime::now()).map_err(Error::from))
        {
            return 2;
        }
        if !is_forked(&talker.publisher.subscription_count()) {
            return 3;
        }
    }
    for listener in listeners {
        let subscription = &mut listener.subscription;
        if !is_forked(&subscription.take()) {
            return 4;
        }
        if !is_forked(&subscription.wait(Duration::ZERO)) {
            return 5;
        }
        if !is_forked(&subscription.descriptor()) {
            return 6;
        }
    }
    if is_forked(&wait_set.wait(&mut [], Duration::ZERO)) { 0 } else { 7 }
}

fn is_forked<T>(result: &gantry_shm::Result<T>) -> bool {
    matches!(result, Err(Error::Forked))
}
