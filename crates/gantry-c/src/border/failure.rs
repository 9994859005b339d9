//! Failures of C functions: a status, and an error text that the thread keeps for `gantry_last_error`.
//!
//! Invariants: a panic never leaves a function of the header; it becomes a status. Each failure has an error text,
//! because only `report` returns the status of a failure.

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
    /// The error text of the last failure on this thread.
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

/// A negative status with its error text.
#[derive(Debug)]
pub struct Failure {
    status: Status,
    sentence: String,
}

/// The result of a function that C calls.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A failure because of an argument.
    pub fn invalid(sentence: impl Display) -> Failure {
        Failure { status: INVALID_ARGUMENT, sentence: sentence.to_string() }
    }

    /// A failure for which the header defines no special status.
    pub fn error(sentence: impl Display) -> Failure {
        Failure { status: ERROR, sentence: sentence.to_string() }
    }

    /// The error text, for a caller that is not C.
    pub fn into_sentence(self) -> String {
        self.sentence
    }
}

/// Converts the status that a function of another library in the process returned. `sentence` is the error text here;
/// the other library keeps its own.
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
        | Error::InvalidParameter { .. }
        | Error::ParameterNotDeclared { .. }
        | Error::ParameterAlreadyDeclared { .. }
        | Error::ParameterNotSet { .. }
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
///
/// The closure returns only a `Status`, because `catch_unwind` passes its result through memory: a `Result` would be
/// loaded in a larger piece than it was stored, and the processor would wait for the store.
#[inline]
pub fn run(body: impl FnOnce() -> Result<Status>) -> Status {
    catch_unwind(AssertUnwindSafe(|| body().unwrap_or_else(report)))
        .unwrap_or_else(|panic| report(failure_from_panic(&*panic)))
}

/// Does the same as [`run`] for a function that returns a value. After a failure the function returns `otherwise`.
pub fn run_for<T>(otherwise: T, body: impl FnOnce() -> Result<T>) -> T {
    let mut value = otherwise;
    run(|| {
        value = body()?;
        Ok(OK)
    });
    value
}

/// Returns the error text of the last failure on this thread; an empty text if there was none.
pub fn last_error() -> *const c_char {
    LAST_ERROR.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"the thread ends".as_ptr())
}

#[cold]
fn report(Failure { status, sentence }: Failure) -> Status {
    // A 0 byte would end the C string early.
    let sentence = CString::new(sentence.replace('\0', "\\0")).unwrap_or_default();
    // `try_with` fails only while the thread ends and its thread-local variables are gone.
    let _ = LAST_ERROR.try_with(|last| last.replace(sentence));
    status
}

fn failure_from_panic(panic: &(dyn Any + Send)) -> Failure {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message");
    Failure { status: PANICKED, sentence: format!("libgantry panicked, which is a bug in libgantry: {text}") }
}
