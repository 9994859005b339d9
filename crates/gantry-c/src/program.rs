//! The start and the end of the program, the version of the library, the last error.

use crate::{
    abi::{ABI_VERSION, OK, Status},
    border::{
        argument::texts,
        failure::{Failure, Result, last_error, run, run_for},
    },
};
use std::ffi::{CStr, c_char, c_int, c_void};

/// The context pointer that a C function gets as its argument. Any thread may pass it (H4).
pub struct Context(*mut c_void);

// SAFETY: only the C function uses the pointer, and any thread may call the function (H4).
unsafe impl Send for Context {}

impl Context {
    pub fn new(pointer: *mut c_void) -> Context {
        Context(pointer)
    }

    pub fn pointer(&self) -> *mut c_void {
        self.0
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn gantry_abi_version() -> u32 {
    ABI_VERSION
}

#[unsafe(no_mangle)]
pub extern "C" fn gantry_version() -> *const c_char {
    const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };
    VERSION.as_ptr()
}

#[unsafe(no_mangle)]
pub extern "C" fn gantry_last_error() -> *const c_char {
    last_error()
}

/// # Safety
/// H2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_init(argument_count: c_int, arguments: *const *const c_char) -> Status {
    run(|| {
        let count = usize::try_from(argument_count)
            .map_err(|_| Failure::invalid(format_args!("the number of arguments is {argument_count}")))?;
        // SAFETY: H2.
        let arguments = unsafe { texts("arguments", arguments, count) }?;
        gantry::init_with_arguments(arguments)?;
        Ok(OK)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn gantry_ok() -> bool {
    run_for(false, || Ok(gantry::ok()))
}

#[unsafe(no_mangle)]
pub extern "C" fn gantry_shutdown() -> bool {
    run_for(false, || Ok(gantry::shutdown()))
}

/// # Safety
/// H4.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gantry_on_shutdown(
    function: Option<unsafe extern "C" fn(*mut c_void)>,
    context: *mut c_void,
) -> Status {
    run(|| {
        let function = function.ok_or_else(|| Failure::invalid("the argument function is NULL"))?;
        let context = Context::new(context);
        gantry::on_shutdown(move || {
            // SAFETY: H4.
            unsafe { function(context.pointer()) }
        });
        Ok(OK)
    })
}

/// Returns the reason why a sample is skipped, as a sentence for the log.
///
/// # Safety
/// H2.
pub unsafe fn reason<'a>(why: *const c_char) -> Result<&'a str> {
    match why.is_null() {
        true => Ok("its reader gave no reason"),
        // SAFETY: H2.
        false => unsafe { crate::border::argument::text("why", why) },
    }
}
