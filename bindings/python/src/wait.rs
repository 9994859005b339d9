//! Waits that release Python's lock (the GIL). A wait is divided into slices, and Python's signal handlers run after
//! each slice, so that Ctrl-C ends every wait.

use crate::{error::failed, qos};
use gantry::{EngineError, Error};
use pyo3::{prelude::*, sync::MutexExt};
use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

/// The length of a slice, which is the longest delay until a signal is handled.
pub const SLICE: Duration = Duration::from_millis(100);

/// Whether all waits must end because the program shuts down. Relaxed is enough, because the flag protects no other
/// data.
static IS_SHUT_DOWN: AtomicBool = AtomicBool::new(false);

/// Sets whether all waits of the process must end.
#[pyfunction]
pub fn set_shut_down(on: bool) {
    IS_SHUT_DOWN.store(on, Relaxed);
}

/// Whether all waits must end.
pub fn is_shut_down() -> bool {
    IS_SHUT_DOWN.load(Relaxed) || !gantry::ok()
}

/// Calls `wait` repeatedly with the length of a slice, without holding Python's lock, until it returns `true`. Returns
/// `false` after `timeout` seconds (`None`: no limit) or at a shutdown.
pub fn in_slices(
    py: Python<'_>,
    timeout: Option<f64>,
    mut wait: impl FnMut(Duration) -> Result<bool, Error> + Send,
) -> PyResult<bool> {
    let deadline = deadline(timeout)?;
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let slice = left.map_or(SLICE, |left| left.min(SLICE));
        let is_last = left.is_some_and(|left| left <= SLICE);
        match py.detach(|| wait(slice)) {
            Ok(true) => return Ok(true),
            // The error that no endpoint matches is returned only after the last slice, because one may still match.
            Err(error) if is_last || !is_no_match(&error) => return Err(failed(error)),
            _ => {}
        }
        py.check_signals()?;
        if is_last || is_shut_down() {
            return Ok(false);
        }
    }
}

/// The time at which a wait ends; `None` if the wait has no limit.
pub fn deadline(timeout: Option<f64>) -> PyResult<Option<Instant>> {
    // As in rclpy, a negative timeout means that the wait has no limit.
    let timeout = timeout.filter(|timeout| *timeout >= 0.0);
    let timeout = timeout.map(|timeout| qos::duration(timeout, "the timeout")).transpose()?;
    Ok(timeout.and_then(|timeout| Instant::now().checked_add(timeout)))
}

fn is_no_match(error: &Error) -> bool {
    matches!(
        error,
        Error::Engine(
            EngineError::TypeMismatch { .. }
                | EngineError::IncompatibleQos { .. }
                | EngineError::UnmatchedPublisher { .. }
        )
    )
}

/// An endpoint that Python code may use on any thread and may destroy. It is in a box, because it is aligned to cache
/// lines, and Python aligns its objects only to 16 bytes.
pub struct Handle<T> {
    inner: Mutex<Option<Box<T>>>,
    what: &'static str,
}

/// Access to the locked endpoint.
pub struct Used<'a, T>(MutexGuard<'a, Option<Box<T>>>, &'static str);

impl<T> Handle<T> {
    /// Creates a shared endpoint. `what` is its name in errors.
    pub fn new(inner: T, what: &'static str) -> Handle<T> {
        Handle { inner: Mutex::new(Some(Box::new(inner))), what }
    }

    /// Locks the endpoint. The calling thread releases Python's lock while it waits.
    pub fn lock(&self, py: Python<'_>) -> Used<'_, T> {
        Used(self.inner.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner), self.what)
    }

    /// Locks the endpoint on a thread that does not hold Python's lock.
    pub fn lock_detached(&self) -> Used<'_, T> {
        Used(self.inner.lock().unwrap_or_else(PoisonError::into_inner), self.what)
    }

    /// Drops the endpoint without holding Python's lock.
    pub fn destroy(&self, py: Python<'_>)
    where
        T: Send,
    {
        let inner = self.lock(py).0.take();
        py.detach(|| drop(inner)); // leaves the domain
    }
}

impl<T> Used<'_, T> {
    /// The endpoint. Fails if it was destroyed.
    pub fn get(&mut self) -> Result<&mut T, PyErr> {
        let what = self.1;
        self.0.as_deref_mut().ok_or_else(|| failed(format!("this {what} was destroyed; create another one")))
    }

    /// The endpoint; `None` if it was destroyed.
    pub fn alive(&mut self) -> Option<&mut T> {
        self.0.as_deref_mut()
    }
}
