//! Measures the depth of a thread's stack. The memory of the stack is filled with a pattern first, and the part that
//! still has the pattern at the end was not used.

use std::{
    ffi::c_void,
    io,
    mem::MaybeUninit,
    ptr::{from_mut, null_mut},
};

const STACK_BYTES: usize = 256 * 1024;
const PAINT: u64 = 0xcccc_cccc_cccc_cccc;

/// The memory of the stack, aligned as the ABI requires.
#[repr(align(64))]
struct Stack([u64; STACK_BYTES / 8]);

struct Call<F> {
    work: Option<F>,
    /// The address of a local variable at the start of the work, which is the top of the measured stack.
    top: usize,
}

/// Runs `work` on a new thread, and returns the largest depth of the thread's stack in bytes.
///
/// # Errors
/// The operating system cannot start the thread.
pub fn depth_of<F: FnOnce()>(work: F) -> io::Result<usize> {
    let mut stack = Box::new(Stack([PAINT; STACK_BYTES / 8]));
    let mut call = Call { work: Some(work), top: 0 };
    let mut attributes = MaybeUninit::uninit();
    // SAFETY: the argument points to memory for attributes.
    check(unsafe { libc::pthread_attr_init(attributes.as_mut_ptr()) })?;
    // SAFETY: the attributes are valid. The memory has this length and alignment. It outlives the thread, which is
    // joined below, and no other code reads or writes it until then.
    check(unsafe { libc::pthread_attr_setstack(attributes.as_mut_ptr(), from_mut(&mut *stack).cast(), STACK_BYTES) })?;
    let mut thread = MaybeUninit::uninit();
    // SAFETY: the attributes are valid. `run` expects a pointer to this `Call<F>`, which outlives the thread. This
    // thread only waits until the new thread has ended, so only the new thread uses the `Call<F>` and the data to which
    // `work` refers.
    check(unsafe {
        libc::pthread_create(thread.as_mut_ptr(), attributes.as_ptr(), run::<F>, from_mut(&mut call).cast())
    })?;
    // SAFETY: `pthread_create` was successful, so it has written `thread`.
    let thread = unsafe { thread.assume_init() };
    // SAFETY: the thread was not joined before. A null pointer means that its result is not needed.
    check(unsafe { libc::pthread_join(thread, null_mut()) })?;
    let bottom = from_mut(&mut *stack).addr();
    let unused_bytes = 8 * stack.0.iter().take_while(|word| **word == PAINT).count();
    Ok(call.top.saturating_sub(bottom + unused_bytes))
}

extern "C" fn run<F: FnOnce()>(call: *mut c_void) -> *mut c_void {
    // SAFETY: `depth_of` passes the address of a `Call<F>` that only this thread uses.
    let Some(call) = (unsafe { call.cast::<Call<F>>().as_mut() }) else { return null_mut() };
    let local = 0_u8;
    call.top = (&raw const local).addr();
    if let Some(work) = call.work.take() {
        work();
    }
    null_mut()
}

fn check(error: i32) -> io::Result<()> {
    if error == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(error)) }
}
