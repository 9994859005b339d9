//! The queue from the library's log to Python's `logging`. Events wait in the queue until a Python thread takes them,
//! so no thread of the library ever waits for Python's lock (the GIL).

use pyo3::prelude::*;
use std::{
    collections::VecDeque,
    fmt,
    sync::{Condvar, Mutex, PoisonError},
};
use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

/// The capacity of the queue, in events. If the queue is full, a new event is dropped and counted.
const CAPACITY: usize = 1000;

/// A log event: its level as a number of Python's `logging`, the full name of its node, and its text.
type Line = (u8, String, String);

static QUEUE: Mutex<Queue> = Mutex::new(Queue { lines: VecDeque::new(), dropped: 0, is_ended: false });
static NEWS: Condvar = Condvar::new();

struct Queue {
    lines: VecDeque<Line>,
    dropped: u64,
    is_ended: bool,
}

/// The subscriber of `tracing` that puts events into the queue.
struct ToPython;

#[derive(Default)]
struct Fields {
    node: String,
    message: String,
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "node" {
            self.node = value.to_owned();
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.message = format!("{value:?}");
        }
    }
}

impl Subscriber for ToPython {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "gantry" && metadata.is_event()
    }

    fn new_span(&self, _attributes: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _span: &span::Id, _values: &span::Record<'_>) {}

    fn record_follows_from(&self, _span: &span::Id, _follows: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let level = match *event.metadata().level() {
            Level::ERROR => 40,
            Level::WARN => 30,
            Level::INFO => 20,
            Level::DEBUG | Level::TRACE => 10,
        };
        let mut queue = QUEUE.lock().unwrap_or_else(PoisonError::into_inner);
        match queue.lines.len() < CAPACITY {
            true => queue.lines.push_back((level, fields.node, fields.message)),
            false => queue.dropped += 1,
        }
        NEWS.notify_one();
    }

    fn enter(&self, _span: &span::Id) {}

    fn exit(&self, _span: &span::Id) {}
}

/// Installs the queue as the log of this process.
pub fn install() {
    // The call fails only if there already is a subscriber. This is impossible: the library is loaded once and sets no
    // other subscriber.
    let _ = tracing::subscriber::set_global_default(ToPython);
}

/// Waits for events. Returns them and the number of events that were dropped because the queue was full; `None` after
/// `end_log`.
#[pyfunction]
pub fn take_log(py: Python<'_>) -> Option<(Vec<Line>, u64)> {
    py.detach(|| {
        let mut queue = QUEUE.lock().unwrap_or_else(PoisonError::into_inner);
        while queue.lines.is_empty() && !queue.is_ended {
            queue = NEWS.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        let lines: Vec<Line> = queue.lines.drain(..).collect();
        let dropped = std::mem::take(&mut queue.dropped);
        (!lines.is_empty()).then_some((lines, dropped))
    })
}

/// Makes the thread that takes events end after it has taken the waiting ones.
#[pyfunction]
pub fn end_log() {
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner).is_ended = true;
    NEWS.notify_all();
}
