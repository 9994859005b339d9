//! A trap for system calls: after [`set`], the next forbidden system call of the thread ends the process with a
//! line that names the call and the step.
//!
//! The trap is a seccomp filter, because seccomp's strict mode is refused in a container, which has a filter already.

use rustix::io::{Errno, Result};
use std::{cell::Cell, ffi::c_int, fmt::Arguments, io::Write};

thread_local! {
    // The value is constant and has no destructor, so a signal handler may read it.
    static STEP: Cell<&str> = const { Cell::new("nothing") };
}

/// Sets the name of the step that this thread begins now.
pub fn step(name: &'static str) {
    STEP.set(name);
}

/// From now on, this thread can only write, end the process, and make the system calls with these numbers.
pub fn set(allowed: &[libc::c_long]) -> Result<()> {
    // SAFETY: plain numbers, all of them zero: no flags, an empty set of signals.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = caught as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO;
    // SAFETY: the handler has the signature that SA_SIGINFO requires, and calls only functions that a signal
    // handler may call.
    if unsafe { libc::sigaction(libc::SIGSYS, &raw const action, std::ptr::null_mut()) } != 0 {
        return Err(last_error());
    }
    let jump_if_equal = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    // The first word of `seccomp_data` is the number of the system call.
    let mut program = vec![instruction((libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16, 0, 0)];
    let allowed = [allowed, &[libc::SYS_write, libc::SYS_exit_group]].concat();
    let skips = (1..=allowed.len() as u8).rev(); // to behind the trap
    program.extend(allowed.iter().zip(skips).map(|(call, skip)| instruction(jump_if_equal, *call as u32, skip)));
    program.extend([return_(libc::SECCOMP_RET_TRAP), return_(libc::SECCOMP_RET_ALLOW)]);
    filter(&mut program)
}

/// The reason why no trap can be set on this machine; `None` if a trap can be set.
pub fn why_not() -> Option<String> {
    // Sets a filter that allows all calls, on a thread that ends directly afterwards and starts no other thread.
    let probe = || filter(&mut [return_(libc::SECCOMP_RET_ALLOW)]).err();
    std::thread::spawn(probe).join().unwrap().map(|error| format!("this machine allows no seccomp filter: {error}"))
}

/// Ends the process with a line, without any other system call and without allocating.
pub fn end(line: Arguments<'_>) -> ! {
    let mut buffer = [0; 300];
    let mut rest = &mut buffer[..299];
    let _ = rest.write_fmt(line); // cut off if it is longer
    let length = 299 - rest.len();
    buffer[..length].iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b' ');
    buffer[length] = b'\n';
    let _ = rustix::io::write(std::io::stdout(), &buffer[..=length]);
    // SAFETY: plain system call.
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
    rustix::thread::set_no_new_privs(true)?; // without it only root may filter
    let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: the kernel copies the program, which lives longer than the call.
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
