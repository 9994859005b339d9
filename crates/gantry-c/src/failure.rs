//! Failures: a status, and a sentence that the thread keeps for `gantry_last_error`.
//!
//! Invariants: a panic becomes a status and never leaves a function of the header. There is no failure without a
//! sentence, because only `report` makes the status of a failure.

use crate::abi::*;
use gantry::{EngineError, Error};
use std::{
    any::Any,
    cell::RefCell,
    ffi::{CString, c_char},
    fmt::Display,
    panic::{AssertUnwindSafe, catch_unwind},
};

thread_local! {
    /// The sentence of the last failure on this thread.
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

/// A negative status and its sentence.
#[derive(Debug)]
pub struct Failure {
    status: Status,
    sentence: String,
}

/// A result of a function that C calls.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// An argument that is not allowed.
    pub fn invalid(sentence: impl Display) -> Failure {
        Failure { status: INVALID_ARGUMENT, sentence: sentence.to_string() }
    }

    /// A failure for which the header has no special status.
    pub fn error(sentence: impl Display) -> Failure {
        Failure { status: ERROR, sentence: sentence.to_string() }
    }
}

/// Converts the status of a function of another library in the process. That library keeps the sentence of a
/// failure, if it has one.
///
/// # Errors
/// The status is negative, which means a failure.
#[inline]
pub fn from_owner(status: Status, sentence: &str) -> Result<Status> {
    match status < 0 {
        true => Err(Failure {
            status,
            sentence: format!(
                "the library of this process that made the object {sentence} (status {status}); see the error of that \
                 library"
            ),
        }),
        false => Ok(status),
    }
}

impl From<Error> for Failure {
    #[cold]
    fn from(error: Error) -> Failure {
        Failure { status: status(&error), sentence: error.to_string() }
    }
}

fn status(error: &Error) -> Status {
    match error {
        Error::Engine(error) => engine_status(error),
        Error::InvalidName { .. }
        | Error::InvalidRosArgument { .. }
        | Error::InvalidDomain { .. }
        | Error::InvalidParameters { .. }
        | Error::ZeroPeriod
        | Error::UnknownNode { .. }
        | Error::WrongLength { .. } => INVALID_ARGUMENT,
        Error::NoServer { .. } => NO_SERVER,
        Error::ServiceTypeMismatch { .. } => TYPE_MISMATCH,
        Error::TooManyRequests { .. } => TOO_MANY_REQUESTS,
        Error::ServerGone { .. } => SERVER_GONE,
        Error::ResponseLost { .. } => RESPONSE_LOST,
        Error::CallTimeout { .. } => CALL_TIMEOUT,
        Error::ShutDown { .. } => SHUT_DOWN,
        _ => ERROR,
    }
}

fn engine_status(error: &EngineError) -> Status {
    match error {
        EngineError::NoRoom { .. } | EngineError::NoInode { .. } | EngineError::OutOfMemory { .. } => NO_MEMORY,
        EngineError::Forked => FORKED,
        EngineError::Corrupt { .. } | EngineError::Incompatible { .. } => CORRUPT,
        EngineError::PublishTimeout { .. } => BLOCKED,
        EngineError::TooManyHeld { .. } => TOO_MANY_HELD,
        EngineError::TypeMismatch { .. } => TYPE_MISMATCH,
        EngineError::IncompatibleQos { .. } => INCOMPATIBLE_QOS,
        EngineError::OutOfRange { .. } | EngineError::ForeignLoan { .. } | EngineError::ForeignSubscription { .. } => {
            INVALID_ARGUMENT
        }
        _ => ERROR,
    }
}

/// Runs the body of a function that C calls, and returns its status.
#[inline]
pub fn run(body: impl FnOnce() -> Result<Status>) -> Status {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(status)) => status,
        Ok(Err(failure)) => report(failure),
        Err(panic) => report(failure_from_panic(&*panic)),
    }
}

/// As [`run`], for a function that returns a value. After a failure the function returns `otherwise`.
pub fn run_for<T>(otherwise: T, body: impl FnOnce() -> Result<T>) -> T {
    let mut value = otherwise;
    run(|| {
        value = body()?;
        Ok(OK)
    });
    value
}

/// The sentence of the last failure on this thread; empty if there was none.
pub fn last_error() -> *const c_char {
    LAST_ERROR.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"the thread ends".as_ptr())
}

#[cold]
fn report(Failure { status, sentence }: Failure) -> Status {
    // A 0 would cut the sentence.
    let sentence = CString::new(sentence.replace('\0', "\\0")).unwrap_or_default();
    // This call fails only in a destructor of a thread that has ended.
    let _ = LAST_ERROR.try_with(|last| last.replace(sentence));
    status
}

fn failure_from_panic(panic: &(dyn Any + Send)) -> Failure {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message");
    Failure { status: PANICKED, sentence: format!("libgantry panicked, which is a bug in libgantry: {text}") }
}
