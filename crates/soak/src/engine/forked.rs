//! Forks without exec: a child that has a copy of all objects must get errors, and must do no harm.

use crate::{Result, player::Player};
use gantry_shm::{Error, SourceTime};
use rustix::{
    io::Errno,
    process::{Pid, WaitOptions, WaitStatus, waitpid},
};
use std::time::Duration;

/// The time limit of a child. The kernel kills a child that lives longer, which its parent notices.
const LIMIT_SECONDS: u32 = 60;
/// The meanings of the child's exit codes.
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

/// Forks. The child tries the calls that must fail, drops all objects, lives on for a while, and ends.
pub fn fork(player: &mut Player, lifetime: Duration) -> Result<Pid> {
    // SAFETY: the child has only this thread, and calls nothing that waits for another thread except the
    // allocator, which glibc and musl prepare for a fork. The child ends with `_exit`.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        // SAFETY: a plain system call.
        unsafe { libc::alarm(LIMIT_SECONDS) };
        for descriptor in [0, 1] {
            // SAFETY: this process does not use the pipes to the coordinator any more. While this
            // process holds them open, the coordinator does not see that the parent process has ended.
            unsafe { libc::close(descriptor) };
        }
        let found = finding(player);
        player.drop_all();
        std::thread::sleep(lifetime); // may be longer than the parent lives
        // SAFETY: a plain system call; no destructor runs.
        unsafe { libc::_exit(found) };
    }
    let error = std::io::Error::last_os_error();
    Pid::from_raw(pid.max(0)).ok_or_else(|| format!("cannot fork: {error}"))
}

/// Whether the child has ended; an error if a call that must fail succeeded in the child.
pub fn has_ended(child: Pid) -> Result<bool> {
    outcome_of(waitpid(Some(child), WaitOptions::NOHANG))
}

/// The same as `has_ended`, for a child whose parent has exited, so that the child became a child of this process.
/// If the parent had waited for the child before, this process has no such child.
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

/// The index in [`FINDINGS`] of the first call that succeeded with the parent's handles; 0 if all calls failed.
fn finding(player: &mut Player) -> i32 {
    for talker in &mut player.talkers {
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
    for listener in &mut player.listeners {
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
    if is_forked(&player.wait_set.wait(&mut [], Duration::ZERO)) { 0 } else { 7 }
}

fn is_forked<T>(result: &gantry_shm::Result<T>) -> bool {
    matches!(result, Err(Error::Forked))
}
