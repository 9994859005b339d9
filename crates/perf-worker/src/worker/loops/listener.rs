//! The loop of a subscription whose messages the middleware delivers on its own threads.
//!
//! The middleware's threads record the samples. The endpoint's own thread wakes up only to send rows (figures of one
//! second each) to the reporting thread and to detect the end.

use std::sync::Arc;
use std::time::Duration;

use crate::{
    backend::Listener,
    clock::now_ns,
    measure::usage::Usage,
    worker::{
        context::Context,
        matching::{probe::End, wait_for_start},
        recording::{
            publisher_watch::PublisherWatch,
            shared_recorder::{GRACE_NS, SharedRecorder},
        },
    },
};

/// Starts the delivery and waits for matching and for the start. Returns when no more samples arrive and the run is
/// over.
pub fn run(context: &Context, mut listener: Box<dyn Listener>) -> Result<(), String> {
    if context.spec.check_memory {
        return Err("--check-memory counts the allocations of the thread that takes messages, and this middleware \
                    delivers them on threads of its own: leave out --check-memory"
            .to_owned());
    }
    let shared = Arc::new(SharedRecorder::new(&context.plan));
    listener.start(shared.clone())?;
    let received = receive(context, &mut *listener, &shared);
    if received.is_ok() {
        // The middleware's threads stay alive until the end of the run, so that their cost can be read.
        context.wait_for_end();
    }
    received.and(listener.stop())
}

fn receive(context: &Context, listener: &mut dyn Listener, shared: &SharedRecorder) -> Result<(), String> {
    let mut end = [(context, End::Listener(&mut *listener, &shared.heard))];
    let Some(start) = wait_for_start(&mut end)? else { return Ok(()) };
    let (clock, overwritten) = (listener.clock(), listener.overwritten());
    shared.start(context, &start, clock, overwritten);
    let mut publishers = PublisherWatch::new(context, start.start_ns);
    // From here on this thread only reports, so its usage counts as `perf_test`'s.
    let created = Usage::of_this_thread()?;
    while let Some(wait) = shared.advance(context, listener.overwritten())? {
        context.account.update(&created);
        publishers.check(listener, shared.taken_so_far(), now_ns())?;
        std::thread::sleep(wait);
    }
    // A duplicate of the last sample may still arrive.
    std::thread::sleep(Duration::from_nanos(GRACE_NS as u64));
    if let Some(recorder) = shared.end(listener.overwritten()) {
        context.finish(publishers.report(&recorder));
    }
    Ok(())
}
