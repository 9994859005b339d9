//! A trap for system calls. After [`set`], the first forbidden system call of the thread ends the process with a line
//! that has the number of the call and the current step of the test.
//!
//! The trap is a seccomp filter. Seccomp's strict mode is not possible in a container, which has a filter already.

use rustix::io::{Errno, Result};
use std::{cell::Cell, ffi::c_int, fmt::Arguments, io::Write};

thread_local! {
    // The initial value is constant and has no destructor, so a signal handler may read the variable.
    static STEP: Cell<&str> = const { Cell::new("nothing") };
}

/// Sets the name of the step that this thread starts now, for the line that the trap prints.
pub fn step(name: &'static str) {
    STEP.set(name);
}

/// Sets the trap for this thread. Allowed are only the system calls with these numbers, `write`, and the end of the
/// process.
pub fn set(allowed: &[libc::c_long]) -> Result<()> {
    // SAFETY: zero bytes are a valid `sigaction`: no flags, and an empty set of signals.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = caught as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO;
    // SAFETY: the handler has the type that SA_SIGINFO requires, and calls only functions that a signal handler may
    // call.
    if unsafe { libc::sigaction(libc::SIGSYS, &raw const action, std::ptr::null_mut()) } != 0 {
        return Err(last_error());
    }
    let jump_if_equal = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    // The first word of `seccomp_data` is the number of the system call.
    let mut program = vec![instruction((libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16, 0, 0)];
    let allowed = [allowed, &[libc::SYS_write, libc::SYS_exit_group]].concat();
    let skips = (1..=allowed.len() as u8).rev(); // each skip leads behind the trap
    program.extend(allowed.iter().zip(skips).map(|(call, skip)| instruction(jump_if_equal, *call as u32, skip)));
    program.extend([return_(libc::SECCOMP_RET_TRAP), return_(libc::SECCOMP_RET_ALLOW)]);
    filter(&mut program)
}

/// Returns the reason why this machine allows no trap; `None` if it allows one.
pub fn why_not() -> Option<String> {
    // The probe sets a filter that allows all calls, on a thread that ends at once and starts no other thread.
    let probe = || filter(&mut [return_(libc::SECCOMP_RET_ALLOW)]).err();
    std::thread::spawn(probe).join().unwrap().map(|error| format!("this machine allows no seccomp filter: {error}"))
}

/// Prints a line and ends the process. Makes no other system call and does not allocate.
pub fn end(line: Arguments<'_>) -> ! {
    let mut buffer = [0; 300];
    let mut rest = &mut buffer[..299];
    let _ = rest.write_fmt(line); // a text that is too long is cut
    let length = 299 - rest.len();
    buffer[..length].iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b' ');
    buffer[length] = b'\n';
    let _ = rustix::io::write(std::io::stdout(), &buffer[..=length]);
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(0) }
}

fn instruction(code: u16, operand: u32, skip_if_true: u8) -> libc::sock_filter {
    libc::sock_filter { code, jt: skip_if_true, jf: 0, k: operand }
}

fn return_(what: u32) -> libc::sock_filter {
    instruction((libc::BPF_RET | libc::BPF_K) as u16, what, 0)
}

/// Installs `program` as a filter for all further system calls of this thread.
fn filter(program: &mut [libc::sock_filter]) -> Result<()> {
    rustix::thread::set_no_new_privs(true)?; // without this, only root may set a filter
    let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: the kernel copies the program during the call.
    match unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) } {
        0 => Ok(()),
        _ => Err(last_error()),
    }
}

fn last_error() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap()
}

/// The layout of `siginfo_t` for a SIGSYS, on 64-bit machines.
#[repr(C)]
struct CaughtCall {
    head: [c_int; 4],
    address: usize,
    number: c_int,
}

extern "C" fn caught(_signal: c_int, call: *const CaughtCall, _context: *const ()) {
    // SAFETY: the kernel passes a `siginfo_t`, which has this layout for a SIGSYS.
    let number = unsafe { (*call).number };
    end(format_args!("{} made system call {number}", STEP.get()));
}
