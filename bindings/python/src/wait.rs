//! Waits without Python's lock (the GIL). A wait is divided into slices, and signals are handled after each slice, so
//! that Ctrl-C ends every wait.

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

/// The longest time until a signal is handled: the length of a slice.
pub const SLICE: Duration = Duration::from_millis(100);

/// Whether all waits end, because the program shuts down. Relaxed: the flag publishes nothing but itself.
static IS_SHUT_DOWN: AtomicBool = AtomicBool::new(false);

/// Ends all waits of the process, or allows them again.
#[pyfunction]
pub fn set_shut_down(on: bool) {
    IS_SHUT_DOWN.store(on, Relaxed);
}

/// Whether waits end.
pub fn is_shut_down() -> bool {
    IS_SHUT_DOWN.load(Relaxed) || !gantry::ok()
}

/// Calls `wait` with the length of a slice, without Python's lock, until it returns `true`. Returns `false` after
/// `timeout` seconds (`None`: no limit) or a shutdown.
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
            // An error that explains why no endpoint matches is returned only at the end of the whole wait.
            Err(error) if is_last || !is_no_match(&error) => return Err(failed(error)),
            _ => {}
        }
        py.check_signals()?;
        if is_last || is_shut_down() {
            return Ok(false);
        }
    }
}

/// The time at which a wait ends.
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

/// An endpoint that Python may use on any thread and may destroy. The endpoint lies in a box, because it is aligned to
/// cache lines, and Python aligns its objects to 16 bytes only.
pub struct Shared<T> {
    inner: Mutex<Option<Box<T>>>,
    what: &'static str,
}

/// The endpoint while it is used.
pub struct Used<'a, T>(MutexGuard<'a, Option<Box<T>>>, &'static str);

impl<T> Shared<T> {
    /// Shares an endpoint. `what` names the endpoint in errors.
    pub fn new(inner: T, what: &'static str) -> Shared<T> {
        Shared { inner: Mutex::new(Some(Box::new(inner))), what }
    }

    /// Locks the endpoint. A thread that has to wait for the lock releases Python's lock during the wait.
    pub fn lock(&self, py: Python<'_>) -> Used<'_, T> {
        Used(self.inner.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner), self.what)
    }

    /// Locks the endpoint like [`Shared::lock`], for a thread that does not hold Python's lock.
    pub fn lock_detached(&self) -> Used<'_, T> {
        Used(self.inner.lock().unwrap_or_else(PoisonError::into_inner), self.what)
    }

    /// Drops the endpoint.
    pub fn destroy(&self, py: Python<'_>)
    where
        T: Send,
    {
        let inner = self.lock(py).0.take();
        py.detach(|| drop(inner)); // leaves the domain
    }
}

impl<T> Used<'_, T> {
    /// The endpoint.
    pub fn get(&mut self) -> Result<&mut T, PyErr> {
        let what = self.1;
        self.0.as_deref_mut().ok_or_else(|| failed(format!("this {what} was destroyed; create another one")))
    }

    /// The endpoint, if it was not destroyed.
    pub fn alive(&mut self) -> Option<&mut T> {
        self.0.as_deref_mut()
    }
}
