//! Timers, clocks and guard conditions.

use crate::{error::failed, qos, wait::Handle};
use gantry::{Clock, Tick};
use pyo3::prelude::*;
use std::time::Duration;

/// A timer.
#[pyclass(frozen, module = "gantry._native")]
pub struct Timer(pub Handle<gantry::Timer>);

/// A guard condition: a flag that wakes an executor.
#[pyclass(frozen, module = "gantry._native")]
pub struct GuardCondition(pub Handle<gantry::GuardCondition>);

/// Converts a duration to nanoseconds for Python's `int`.
pub fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

/// Creates a timer with a period of `period` seconds.
pub fn timer(clock: &Clock, period: f64) -> PyResult<Timer> {
    let timer = gantry::Timer::new(clock, qos::duration(period, "the period")?).map_err(failed)?;
    Ok(Timer(Handle::new(timer, "timer")))
}

#[pymethods]
impl Timer {
    /// The tick that is due: its scheduled time and the time at which it was noticed, in ns, and the number of skipped
    /// periods; `None` if no tick is due.
    fn take(&self, py: Python<'_>) -> PyResult<Option<(i64, i64, u64)>> {
        let tick = self.0.lock(py).get()?.take();
        Ok(tick.map(|Tick { scheduled, noticed, overruns }| (nanoseconds(scheduled), nanoseconds(noticed), overruns)))
    }

    fn cancel(&self, py: Python<'_>) -> PyResult<()> {
        self.0.lock(py).get()?.cancel();
        Ok(())
    }

    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        self.0.lock(py).get()?.reset();
        Ok(())
    }

    fn is_canceled(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.0.lock(py).get()?.is_canceled())
    }

    /// The time until the next tick, ns; `None` if there will be no tick.
    fn time_until_trigger(&self, py: Python<'_>) -> PyResult<Option<i64>> {
        Ok(self.0.lock(py).get()?.time_until_trigger().map(nanoseconds))
    }

    fn overruns(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.0.lock(py).get()?.overruns())
    }

    fn destroy(&self, py: Python<'_>) {
        self.0.destroy(py);
    }
}

#[pymethods]
impl GuardCondition {
    #[new]
    fn new() -> GuardCondition {
        GuardCondition(Handle::new(gantry::GuardCondition::new(), "guard condition"))
    }

    fn trigger(&self, py: Python<'_>) -> PyResult<()> {
        self.0.lock(py).get()?.trigger();
        Ok(())
    }

    fn take(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.0.lock(py).get()?.take())
    }

    fn destroy(&self, py: Python<'_>) {
        self.0.destroy(py);
    }
}

/// The present time of CLOCK_MONOTONIC, ns. This is the clock of the samples' publishing times.
#[pyfunction]
pub fn monotonic_ns() -> i64 {
    nanoseconds(Clock::steady().now())
}
