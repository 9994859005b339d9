//! Endpoints in executors. The middleware's threads run the callbacks of the endpoints. One thread of `perf_test`, the
//! *keeper*, does all other work.
//!
//! The keeper creates the endpoints, waits until they are matched and starts the executors. Then it sends the figures
//! of each second to the reporting thread, and detects the end. Callbacks measure in the same way as the loops of runs
//! without executors. They share a lock with the keeper, which takes the lock a few times a second.

mod makers;
mod origin;
mod receiver;
mod responder;
mod sender;
mod trigger;

use std::collections::{BTreeMap, btree_map::Entry};
use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicUsize, Ordering},
    mpsc::SyncSender,
};
use std::thread::JoinHandle;
use std::time::Duration;

use super::{
    context::{Context, outgoing::Outgoing},
    matching::{Start, probe::End, wait_for_start},
    protocol::{EndpointReport, Report},
    recording::shared_recorder::GRACE_NS,
};
use crate::{
    backend::{Executor, Publisher, Received, Session},
    clock::{SECOND_NS, now_ns},
    measure::usage::Usage,
};
use makers::Makers;
use receiver::Receiver;
use responder::Answering;
use sender::{Progress, Sender};

/// The name of the keeper's thread.
pub const KEEPER_THREAD: &str = "keeper";
/// The longest sleep of the keeper, ns. It is also the longest delay until the keeper detects an end.
const LONGEST_SLEEP_NS: i64 = SECOND_NS / 20;
/// The shortest sleep of the keeper, ns.
const SHORTEST_SLEEP_NS: i64 = SECOND_NS / 1000;

/// An endpoint, and `perf_test`'s state for it.
struct Member<'a> {
    context: &'a Context,
    part: Part,
    /// Whether the endpoint has finished or failed.
    is_over: bool,
}

enum Part {
    /// A publisher. The second field holds the middleware's publisher until the start, which moves it into the first
    /// field.
    Sender(Arc<Sender>, Option<Box<dyn Publisher + Send>>),
    /// A subscription. The last field is the time from which no more messages were expected, ns; `None` while messages
    /// are expected.
    Receiver(Arc<Receiver>, Box<dyn Received + Send>, Option<i64>),
    /// A server.
    Server(Arc<Answering>, Box<dyn Received + Send>),
}

/// Runs all endpoints of the process in executors until the run is over.
pub fn run(contexts: &[Context], session: &dyn Session) -> Result<(), String> {
    let mut members = Vec::new();
    let mut makers = Makers::default();
    // The executors are declared after the endpoints in `members`, so they are dropped before the endpoints.
    let mut executors: BTreeMap<u32, Box<dyn Executor>> = BTreeMap::new();
    for context in contexts {
        let number = context.plan.executor;
        let executor = match executors.entry(number) {
            Entry::Occupied(made) => made.into_mut(),
            Entry::Vacant(new) => new.insert(session.executor(&context.spec, number)?),
        };
        let created = makers.create(context, contexts, &mut **executor);
        let part = created.map_err(|sentence| named(context, &sentence))?;
        members.push(Member { context, part, is_over: false });
    }
    let mut ends: Vec<(&Context, End<'_>)> = members.iter_mut().filter_map(Member::end).collect();
    let (Some(start), Some(context)) = (wait_for_start(&mut ends)?, contexts.first()) else { return Ok(()) };
    drop(ends);
    // From here on this thread works only for `perf_test`, so its usage no longer counts as the middleware's.
    let created = Usage::of_this_thread()?;
    members.iter_mut().for_each(|member| member.start(&start));
    let mut spins = Spins(Vec::new());
    let beginning = Arc::new(Beginning::new(executors.len(), context.outgoing.clone()));
    for (number, executor) in executors {
        spins.start(number, executor, start.start_ns, beginning.clone())?;
    }
    // The account is updated now, because the main thread reads the resources at the start next.
    context.account.update(&created);
    beginning.passed();
    keep(&mut members, &spins, &created);
    // Other processes may still read this process's memory. The middleware's threads stay alive until their cost has
    // been read.
    context.wait_for_end();
    spins.end();
    Ok(())
}

fn named(context: &Context, sentence: &str) -> String {
    format!("{}: {sentence}", context.plan)
}

/// Sends the rows (figures of one second each) of all members to the reporting thread until each member has finished or
/// failed. `created` is the usage of this thread for the creation of the endpoints, which counts as the middleware's.
fn keep(members: &mut [Member<'_>], spins: &Spins, created: &Usage) {
    loop {
        let now_ns = now_ns();
        let ended = spins.ended();
        let mut next_ns = now_ns + LONGEST_SLEEP_NS;
        for member in members.iter_mut().filter(|member| !member.is_over) {
            let advanced = match ended.iter().find(|(number, _)| *number == member.context.plan.executor) {
                Some((_, sentence)) => Err(sentence.clone()),
                None => member.advance(now_ns),
            };
            match advanced {
                Ok(Some(at_ns)) => next_ns = next_ns.min(at_ns),
                Ok(None) => member.is_over = true,
                Err(sentence) => {
                    member.is_over = true;
                    member.context.report(Report::Failed(Some(member.context.plan.endpoint), sentence));
                }
            }
        }
        let Some(member) = members.iter().find(|member| !member.is_over) else { return };
        if member.context.flags.is_abandoned() {
            return;
        }
        member.context.account.update(created);
        let sleep_ns = (next_ns - now_ns).max(SHORTEST_SLEEP_NS);
        std::thread::sleep(Duration::from_nanos(sleep_ns.unsigned_abs()));
    }
}

impl Member<'_> {
    fn end(&mut self) -> Option<(&Context, End<'_>)> {
        let end = match &mut self.part {
            Part::Sender(_, publisher) => End::Publisher(&mut **publisher.as_mut()?),
            Part::Receiver(_, received, _) | Part::Server(_, received) => End::Received(&mut **received),
        };
        Some((self.context, end))
    }

    fn start(&mut self, start: &Start) {
        match &mut self.part {
            Part::Sender(sender, publisher) => {
                if let Some(publisher) = publisher.take() {
                    sender.start(self.context, publisher, start.start_ns);
                }
            }
            Part::Receiver(receiver, received, _) => {
                receiver.recorder().start(self.context, start, received.clock(), received.overwritten());
            }
            Part::Server(answering, _) => answering.start(self.context, start.start_ns),
        }
    }

    /// Sends the due rows (figures of one second each) to the reporting thread. Returns the time of the next check, ns;
    /// `None` when the endpoint has finished.
    fn advance(&mut self, now_ns: i64) -> Result<Option<i64>, String> {
        let context = self.context;
        let refused = |sentence| {
            let sentence = format!("a message was refused: {sentence}");
            context.report(Report::Warning(context.plan.endpoint, sentence));
        };
        match &mut self.part {
            Part::Sender(sender, _) => match sender.advance(now_ns, refused)? {
                Progress::Until(at_ns) => return Ok(Some(at_ns)),
                Progress::Done(interval_ns) => {
                    context.finish(EndpointReport { interval_ns, ..EndpointReport::default() });
                }
            },
            Part::Receiver(receiver, received, last_ns) => {
                let recorder = receiver.recorder();
                let overwritten = received.overwritten();
                if last_ns.is_none()
                    && let Some(wait) = recorder.advance(context, overwritten)?
                {
                    return Ok(Some(now_ns + i64::try_from(wait.as_nanos()).unwrap_or(LONGEST_SLEEP_NS)));
                }
                // A duplicate of the last message may still arrive.
                let over_ns = *last_ns.get_or_insert(now_ns) + GRACE_NS;
                if now_ns < over_ns {
                    return Ok(Some(over_ns));
                }
                if let Some(recorder) = recorder.end(received.overwritten()) {
                    let sequences = &recorder.sequences;
                    let (last_seen, before_matched) = (sequences.last_seen(), sequences.before_matched());
                    let chains = receiver.report();
                    context.finish(EndpointReport { last_seen, before_matched, chains, ..EndpointReport::default() });
                }
            }
            Part::Server(answering, requests) => {
                if let Some(at_ns) = answering.advance(now_ns, requests.overwritten(), refused)? {
                    return Ok(Some(at_ns));
                }
                context.finish(EndpointReport::default());
            }
        }
        Ok(None)
    }
}

/// Reports the beginning of the run in this process: the moment when the keeper is ready and all executors have begun
/// to spin. No timer runs before this moment.
struct Beginning {
    /// The number of threads (the keeper and the executors) that have not begun yet. The thread that decrements the
    /// counter to zero sends the report.
    left: AtomicUsize,
    outgoing: SyncSender<Outgoing>,
}

impl Beginning {
    /// Creates the counter for the keeper and `executors` executors.
    fn new(executors: usize, outgoing: SyncSender<Outgoing>) -> Beginning {
        Beginning { left: AtomicUsize::new(executors + 1), outgoing }
    }

    /// Records that the calling thread has begun.
    fn passed(&self) {
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            // An error means that the main thread has ended, so the process is exiting.
            let _ = self.outgoing.send(Outgoing::Started);
        }
    }
}

/// The thread of an executor. The thread returns the executor, so that its endpoints exist until all executor threads
/// have ended.
type Spinning = JoinHandle<Box<dyn Executor>>;

struct Spin {
    number: u32,
    /// The error with which the spin ended.
    failure: Arc<OnceLock<String>>,
    stop: Box<dyn Fn() + Send + Sync>,
    thread: Option<Spinning>,
}

/// The running executors.
struct Spins(Vec<Spin>);

impl Spins {
    fn start(
        &mut self,
        number: u32,
        mut executor: Box<dyn Executor>,
        start_ns: i64,
        beginning: Arc<Beginning>,
    ) -> Result<(), String> {
        let stop = executor.stop();
        let thread = std::thread::Builder::new().name(format!("executor {number}"));
        let failure = Arc::new(OnceLock::new());
        let failing = failure.clone();
        let spin = move || {
            beginning.passed();
            if let Err(sentence) = executor.spin(start_ns) {
                failing.get_or_init(|| sentence);
            }
            executor
        };
        let thread = thread.spawn(spin).map_err(|error| format!("cannot start a thread for an executor: {error}"))?;
        self.0.push(Spin { number, failure, stop, thread: Some(thread) });
        Ok(())
    }

    /// The executors that ended without being stopped, each with the reason as a sentence.
    fn ended(&self) -> Vec<(u32, String)> {
        let has_ended = |spin: &&Spin| spin.thread.as_ref().is_some_and(JoinHandle::is_finished);
        let sentence = |spin: &Spin| match spin.failure.get() {
            Some(sentence) => format!("the executor of this endpoint ended: {sentence}"),
            None => "the executor of this endpoint ended without a reason; if a callback panicked, the message is on \
                     standard error"
                .to_owned(),
        };
        self.0.iter().filter(has_ended).map(|spin| (spin.number, sentence(spin))).collect()
    }

    /// Stops all executors, waits for their threads, and removes them.
    fn end(&mut self) {
        self.0.iter().for_each(|spin| (spin.stop)());
        // A thread that panicked is skipped; its panic has been printed.
        let joined = self.0.iter_mut().filter_map(|spin| spin.thread.take()?.join().ok());
        let ended: Vec<_> = joined.collect();
        drop(ended);
        self.0.clear();
    }
}

impl Drop for Spins {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn the_start_is_reported_when_the_last_executor_begins_to_spin() {
        let (outgoing, reports) = mpsc::sync_channel(2);
        let beginning = Beginning::new(2, outgoing);
        for _ in 0..2 {
            beginning.passed();
            assert!(reports.try_recv().is_err());
        }
        beginning.passed();
        assert!(matches!(reports.try_recv(), Ok(Outgoing::Started)));
    }
}
