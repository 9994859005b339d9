//! Converts failures and panics to ROS 2's error state for C.

use rmw_abi::{
    bindings::*,
    failure::{Failure, Result},
    foreign,
};
use std::{
    any::Any,
    ffi::{CStr, CString},
    io::{Write, stderr},
    panic::{AssertUnwindSafe, catch_unwind},
};

/// Runs the body of the C function `name`, and sets the error state of the thread after a failure or a panic. A panic
/// must not cross into C. In a process without ROS 2's libraries, the error text goes to standard error instead.
pub fn run(name: &'static CStr, body: impl FnOnce() -> Result<()>) -> rmw_ret_t {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => RMW_RET_OK,
        Ok(Err(failure)) => report(name, failure),
        Err(panic) => report(name, failure_from_panic(&*panic)),
    }
}

/// Does the same as [`run`] for a C function that returns a pointer. The pointer is null after a failure.
pub fn run_for_pointer<T>(name: &'static CStr, body: impl FnOnce() -> Result<*mut T>) -> *mut T {
    let mut made = std::ptr::null_mut();
    run(name, || {
        made = body()?;
        Ok(())
    });
    made
}

#[cold]
fn report(name: &'static CStr, Failure { code, sentence }: Failure) -> rmw_ret_t {
    // A 0 byte would end the C string early.
    let sentence = CString::new(sentence.replace('\0', "\\0")).unwrap_or_default();
    if !foreign::set_error_state(&sentence, name) {
        let line = format!("{}: {}\n", name.to_string_lossy(), sentence.to_string_lossy());
        let _ = stderr().lock().write_all(line.as_bytes()); // an error of this write cannot be reported
    }
    code
}

fn failure_from_panic(panic: &(dyn Any + Send)) -> Failure {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message");
    Failure::error(format_args!("rmw_gantry panicked, which is a bug in rmw_gantry: {text}"))
}
