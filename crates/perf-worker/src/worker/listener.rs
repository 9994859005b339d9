//! The loop of a subscription whose messages the middleware delivers on its own threads.
//!
//! These threads record the samples; the endpoint's thread wakes up to hand over rows and to notice the end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{
    Context,
    matching::wait_for_start,
    probe::{End, Heard, work_on},
    publisher_watch::PublisherWatch,
    sample_recorder::SampleRecorder,
};
use crate::{
    backend::{Listener, Sink, Taken},
    clock::{SECOND_NS, now_ns},
};

/// A row is ended this long after its second, so that a sample that was received in time and is being recorded is in it.
const GRACE_NS: i64 = SECOND_NS / 100;

/// The recorder of a listener, which the threads of the middleware share.
struct SharedRecorder {
    /// [`EndpointPlan::work_ns`](crate::endpoint::EndpointPlan::work_ns).
    work_ns: i64,
    /// None before the start.
    recorder: Mutex<Option<SampleRecorder>>,
    /// Messages delivered before the start.
    heard: Mutex<Heard>,
    /// The reason why the delivery ended.
    failure: Mutex<Option<String>>,
}

impl SharedRecorder {
    fn lock(&self) -> MutexGuard<'_, Option<SampleRecorder>> {
        self.recorder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands over rows. Returns how long to wait; none at the end. `overwritten`: samples that left the history so far.
    fn advance(&self, context: &Context, overwritten: u64) -> Result<Option<Duration>, String> {
        if let Some(sentence) = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(sentence);
        }
        let mut recorder = self.lock();
        let Some(recorder) = recorder.as_mut().filter(|_| !context.flags.is_abandoned()) else { return Ok(None) };
        let now_ns = now_ns();
        if recorder.is_complete(overwritten) || recorder.drain.is_over(now_ns) {
            return Ok(None);
        }
        recorder.rows.until(now_ns - GRACE_NS);
        Ok(Some(recorder.drain.wait(now_ns, recorder.rows.hand_over_ns() + GRACE_NS)))
    }
}

impl Sink for SharedRecorder {
    fn taken(&self, taken: &Taken<'_>) {
        match &mut *self.lock() {
            Some(recorder) => recorder.record_delivered(taken),
            None => self.heard.lock().unwrap_or_else(PoisonError::into_inner).record(taken),
        }
        // Without the lock, which the endpoint's thread needs for the rows.
        work_on(taken, self.work_ns);
    }

    fn failed(&self, sentence: String) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(sentence);
    }
}

/// Starts the delivery, waits for matching and for the start, and stays until no more samples come and the run is over.
pub fn run(context: &Context, mut listener: Box<dyn Listener>) -> Result<(), String> {
    if context.spec.check_memory {
        return Err("--check-memory counts the allocations of the thread that takes messages, and this middleware delivers them on \
                    threads of its own: leave it out"
            .to_owned());
    }
    let heard = Mutex::new(Heard::new(&context.plan));
    let work_ns = context.plan.work_ns;
    let shared = Arc::new(SharedRecorder { work_ns, recorder: Mutex::default(), heard, failure: Mutex::default() });
    listener.start(shared.clone())?;
    let received = receive(context, &mut *listener, &shared);
    if received.is_ok() {
        // Until then the threads of the middleware live on, so that their cost can be read.
        context.wait_for_end();
    }
    received.and(listener.stop())
}

fn receive(context: &Context, listener: &mut dyn Listener, shared: &SharedRecorder) -> Result<(), String> {
    let mut end = [(context, End::Listener(&mut *listener, &shared.heard))];
    let Some(start) = wait_for_start(&mut end)? else { return Ok(()) };
    let (clock, overwritten) = (listener.clock(), listener.overwritten());
    let mut recorder = shared.lock();
    let early = shared.heard.lock().unwrap_or_else(PoisonError::into_inner).take_early();
    *recorder = Some(SampleRecorder::new(context, &start, clock, early, overwritten));
    drop(recorder);
    let mut publishers = PublisherWatch::new(context, start.start_ns);
    while let Some(wait) = shared.advance(context, listener.overwritten())? {
        let taken = shared.lock().as_ref().map_or(0, |recorder| recorder.taken);
        publishers.check(listener, taken, now_ns())?;
        std::thread::sleep(wait);
    }
    // A second copy of the last sample may be on its way.
    std::thread::sleep(Duration::from_nanos(GRACE_NS as u64));
    let recorder = shared.lock().take();
    if let Some(mut recorder) = recorder {
        let now_ns = now_ns();
        recorder.rows.end_until(now_ns);
        recorder.add_overwritten(listener.overwritten());
        recorder.rows.last(now_ns);
        context.finish(publishers.report(&recorder));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        clock::thread_cpu_ns,
        endpoint::{Endpoint, EndpointPlan},
        run_spec::tests::example,
    };

    #[test]
    fn a_probe_costs_no_work_and_a_message_does() {
        let work_ns = SECOND_NS / 20;
        let heard = Mutex::new(Heard::new(&EndpointPlan::of_run(&example(), Endpoint::Subscription(0), "/topic")));
        let shared = SharedRecorder { work_ns, recorder: Mutex::default(), heard, failure: Mutex::default() };
        let (cpu_ns, begin_ns) = (thread_cpu_ns(), now_ns());
        shared.taken(&Taken::default());
        assert!(thread_cpu_ns() - cpu_ns < work_ns / 2);
        shared.taken(&Taken { time_ns: 1, ..Taken::default() });
        assert!(now_ns() - begin_ns >= work_ns);
    }
}
