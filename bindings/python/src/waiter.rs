//! The waiter of an executor. It returns the numbers of sources (subscriptions, services, timers and others) that may
//! be ready, and never calls Python.

use crate::{
    entities::{
        events::Events,
        node::Node,
        service::{Client, Service},
        subscription::Subscription,
        timer::{GuardCondition, Timer},
    },
    error::failed,
    wait::{self, SLICE},
};
use gantry::{Attachment, Bell, Collector, Waitable};
use pyo3::{exceptions::PyTypeError, prelude::*, sync::MutexExt};
use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::*},
    },
    task::{Wake, Waker},
    time::Instant,
};

/// Waits for the sources of one executor.
#[pyclass(frozen, module = "gantry._native")]
pub struct Waiter {
    state: Box<Mutex<State>>,
    news: Arc<News>,
}

struct State {
    collector: Collector,
    attached: BTreeMap<u64, Attachment>,
    timers: BTreeMap<u64, gantry::Timer>,
}

/// Sources that became ready, as other threads reported them to the waiter.
struct News {
    numbers: Mutex<BTreeSet<u64>>,
    /// Whether `numbers` has changed or the wait must end. The partner of the stores is the load in `Waiter::slice`
    /// before the sleep.
    has_any: AtomicBool,
    bell: Bell,
}

/// Reports one source to the waiter and wakes it.
struct SourceWaker {
    news: Arc<News>,
    number: u64,
}

impl Wake for SourceWaker {
    fn wake(self: Arc<Self>) {
        self.news.numbers.lock().unwrap_or_else(PoisonError::into_inner).insert(self.number);
        self.news.end_wait();
    }
}

impl News {
    fn end_wait(&self) {
        self.has_any.store(true, Release);
        self.bell.ring();
    }

    /// Takes the numbers of the reported sources, and whether the wait must end. The flag is cleared first, so that a
    /// later report sets it again.
    fn take(&self) -> (BTreeSet<u64>, bool) {
        let ends = self.has_any.swap(false, AcqRel);
        (mem::take(&mut *self.numbers.lock().unwrap_or_else(PoisonError::into_inner)), ends)
    }
}

impl Waiter {
    /// Locks the state. If another thread is waiting, its wait is ended first, because it holds the lock.
    fn state(&self, py: Python<'_>) -> MutexGuard<'_, State> {
        self.news.end_wait();
        self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for one slice, without holding Python's lock. Returns the numbers of sources that may be ready, and
    /// whether the wait must end.
    fn slice(&self, deadline: Instant) -> Result<(BTreeSet<u64>, bool), gantry::Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { collector, attached, timers } = &mut *state;
        let (mut found, mut is_ended) = self.news.take();
        collect(collector, attached, &mut found);
        ready(timers, &mut found)?;
        if found.is_empty() && !is_ended {
            let due = timers.values_mut().filter_map(gantry::Timer::due).chain([deadline]).min();
            let news = &self.news;
            collector.wait(due, || news.has_any.load(Acquire) || wait::is_shut_down())?;
            (found, is_ended) = self.news.take();
            collect(collector, attached, &mut found);
            ready(timers, &mut found)?;
        }
        Ok((found, is_ended))
    }
}

/// Adds the numbers of sources whose topics have a new sample or new endpoints.
fn collect(collector: &mut Collector, attached: &BTreeMap<u64, Attachment>, found: &mut BTreeSet<u64>) {
    let mut bits = [0_u64; Collector::BITS.div_ceil(64)];
    let mut has_news = false;
    collector.collect(|bit| {
        has_news = true;
        bits[bit / 64] |= 1 << (bit % 64);
    });
    if has_news {
        let is_named = |bit: usize| bits[bit / 64] & 1 << (bit % 64) != 0;
        found.extend(attached.iter().filter(|(_, attachment)| is_named(attachment.bit())).map(|(number, _)| *number));
    }
}

/// Adds the numbers of the timers that are due.
fn ready(timers: &mut BTreeMap<u64, gantry::Timer>, found: &mut BTreeSet<u64>) -> Result<(), gantry::Error> {
    for (number, timer) in timers {
        if timer.is_ready()? {
            found.insert(*number);
        }
    }
    Ok(())
}

/// Calls `visit` with the source that a Python object contains.
fn visit(source: &Bound<'_, PyAny>, visit: &mut dyn FnMut(&mut dyn Waitable) -> PyResult<()>) -> PyResult<()> {
    let py = source.py();
    if let Ok(source) = source.cast::<Subscription>() {
        return visit(source.get().inner.lock(py).get()?);
    }
    if let Ok(source) = source.cast::<Service>() {
        return visit(source.get().inner.lock(py).get()?);
    }
    if let Ok(source) = source.cast::<Client>() {
        return visit(source.get().inner.lock(py).get()?);
    }
    if let Ok(source) = source.cast::<Timer>() {
        return visit(source.get().0.lock(py).get()?);
    }
    if let Ok(source) = source.cast::<GuardCondition>() {
        return visit(source.get().0.lock(py).get()?);
    }
    if let Ok(source) = source.cast::<Events>() {
        return source.get().visit(py, visit);
    }
    Err(PyTypeError::new_err(
        "an executor waits for subscriptions, services, clients, timers, guard conditions and events",
    ))
}

#[pymethods]
impl Waiter {
    #[new]
    fn new(py: Python<'_>, node: &Node) -> PyResult<Waiter> {
        let collector = Collector::new(&node.node(py)?).map_err(failed)?;
        let bell = collector.bell();
        let news = News { numbers: Mutex::default(), has_any: AtomicBool::new(false), bell };
        let state = State { collector, attached: BTreeMap::new(), timers: BTreeMap::new() };
        Ok(Waiter { state: Box::new(Mutex::new(state)), news: Arc::new(news) })
    }

    /// Attaches a source under a unique number. After this call, the caller must check the source once, because earlier
    /// news is not reported.
    fn attach(&self, py: Python<'_>, source: &Bound<'_, PyAny>, number: u64) -> PyResult<()> {
        let waker = Waker::from(Arc::new(SourceWaker { news: self.news.clone(), number }));
        let timer = source.cast::<Timer>().ok().map(|timer| timer.get().0.lock(py).get().cloned()).transpose()?;
        let mut state = self.state(py);
        if let Some(mut timer) = timer {
            timer.set_waker(Some(waker));
            state.timers.insert(number, timer);
            return Ok(());
        }
        visit(source, &mut |waitable| {
            let attachment = state.collector.attach(waitable).map_err(failed)?;
            waitable.set_waker(Some(waker.clone()));
            state.attached.extend(attachment.map(|attachment| (number, attachment)));
            Ok(())
        })
    }

    /// Detaches a source. It may have been destroyed already.
    fn detach(&self, py: Python<'_>, source: &Bound<'_, PyAny>, number: u64) {
        let mut state = self.state(py);
        state.timers.remove(&number);
        if let Some(attachment) = state.attached.remove(&number) {
            state.collector.detach(attachment);
        }
        drop(state);
        // A destroyed source has no waker any more, so the failure of the visit is ignored.
        let _ = visit(source, &mut |waitable| {
            waitable.set_waker(None);
            Ok(())
        });
    }

    /// Waits until sources may be ready, and returns their numbers. The list is empty after `timeout` seconds, at a
    /// shutdown or after `ring`.
    #[pyo3(signature = (timeout=None))]
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Vec<u64>> {
        let deadline = wait::deadline(timeout)?;
        loop {
            let slice = Instant::now() + SLICE;
            let until = deadline.map_or(slice, |deadline| deadline.min(slice));
            let (found, is_ended) = py.detach(|| self.slice(until)).map_err(failed)?;
            py.check_signals()?;
            let is_over = deadline.is_some_and(|deadline| deadline <= Instant::now()) || wait::is_shut_down();
            if !found.is_empty() || is_over || is_ended {
                return Ok(found.into_iter().collect());
            }
        }
    }

    /// Ends the present wait of another thread. If there is none, ends the next wait.
    fn ring(&self) {
        self.news.end_wait();
    }
}
