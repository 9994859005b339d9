//! The executor of the mock: one thread that runs the due timers one by one, and takes all messages after each timer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{
    MockPublisher, MockSubscription,
    service::{Answers, client_ends, server_ends},
};
use perf_worker::{
    backend::{
        Executor, Matched, Matching, NodeClient, OtherClock, Publisher, Received, Responder, Sink, Subscription, Taken,
    },
    clock::{SECOND_NS, now_ns, sleep_until},
    endpoint::EndpointPlan,
    run_spec::RunSpec,
};

/// The longest sleep of the executor. It does not affect the times in messages.
const INTERVAL_NS: i64 = SECOND_NS / 1000;

/// The executor of the mock.
#[derive(Default)]
pub struct MockExecutor {
    timers: Vec<MockTimer>,
    subscriptions: Vec<(Shared, Arc<dyn Sink>)>,
    servers: Vec<(Shared, Answers, Arc<dyn Responder>)>,
    stop: Arc<AtomicBool>,
}

struct MockTimer {
    period_ns: i64,
    next_ns: i64,
    expired: Box<dyn FnMut(u64) + Send>,
}

/// A subscription that the executor and the instrument share.
#[derive(Clone)]
struct Shared(Arc<Mutex<MockSubscription>>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, MockSubscription> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MockExecutor {
    /// Takes all messages that have arrived.
    fn take_all(&mut self) -> Result<(), String> {
        for (requests, answers, responder) in &mut self.servers {
            let mut answer = |taken: &Taken<'_>| {
                responder.request(taken, &mut |draft| answers.send(taken.source, draft));
            };
            while requests.lock().take(&mut answer)? {}
        }
        for (subscription, sink) in &self.subscriptions {
            while subscription.lock().take(&mut |taken| sink.taken(taken))? {}
        }
        Ok(())
    }
}

impl Executor for MockExecutor {
    fn publisher(&mut self, spec: &RunSpec, plan: &EndpointPlan) -> Result<Box<dyn Publisher + Send>, String> {
        Ok(Box::new(MockPublisher::new(spec, plan)?))
    }

    fn timer(&mut self, plan: &EndpointPlan, expired: Box<dyn FnMut(u64) + Send>) -> Result<(), String> {
        let period_ns = plan.pace.period_ns().ok_or("a timer needs a period")?;
        self.timers.push(MockTimer { period_ns, next_ns: 0, expired });
        Ok(())
    }

    fn subscription(
        &mut self,
        spec: &RunSpec,
        plan: &EndpointPlan,
        sink: Arc<dyn Sink>,
    ) -> Result<Box<dyn Received + Send>, String> {
        let subscription = Shared(Arc::new(Mutex::new(MockSubscription::new(spec, plan)?)));
        self.subscriptions.push((subscription.clone(), sink));
        Ok(Box::new(subscription))
    }

    fn client(&mut self, spec: &RunSpec, plan: &EndpointPlan, responses: Arc<dyn Sink>) -> Result<NodeClient, String> {
        let (requests, received) = client_ends(spec, plan)?;
        let received = Shared(Arc::new(Mutex::new(received)));
        self.subscriptions.push((received.clone(), responses));
        Ok(NodeClient { requests: Box::new(requests), responses: Box::new(received) })
    }

    fn server(
        &mut self,
        spec: &RunSpec,
        plan: &EndpointPlan,
        requests: Arc<dyn Responder>,
    ) -> Result<Box<dyn Received + Send>, String> {
        let (received, answers) = server_ends(spec, plan)?;
        let received = Shared(Arc::new(Mutex::new(received)));
        self.servers.push((received.clone(), answers, requests));
        Ok(Box::new(received))
    }

    fn spin(&mut self, start_ns: i64) -> Result<(), String> {
        self.timers.iter_mut().for_each(|timer| timer.next_ns = start_ns + timer.period_ns);
        sleep_until(start_ns);
        while !self.stop.load(Ordering::Relaxed) {
            self.take_all()?;
            for index in 0..self.timers.len() {
                if let Some(timer) = self.timers.get_mut(index)
                    && let Some(passed_over) = timer.take()
                {
                    (timer.expired)(passed_over);
                    self.take_all()?;
                }
            }
            let now_ns = now_ns();
            let next_ns = self.timers.iter().map(|timer| timer.next_ns).min().unwrap_or(i64::MAX);
            sleep_until(next_ns.min(now_ns + INTERVAL_NS));
        }
        Ok(())
    }

    fn stop(&mut self) -> Box<dyn Fn() + Send + Sync> {
        let stop = self.stop.clone();
        Box::new(move || stop.store(true, Ordering::Relaxed))
    }
}

impl MockTimer {
    /// Moves a due timer on by whole periods and returns the number of skipped periods; otherwise returns `None`.
    fn take(&mut self) -> Option<u64> {
        let late_ns = now_ns() - self.next_ns;
        if late_ns < 0 {
            return None;
        }
        let passed_over = late_ns / self.period_ns;
        self.next_ns += (1 + passed_over) * self.period_ns;
        Some(passed_over.cast_unsigned())
    }
}

impl Matched for Shared {
    fn matched(&mut self) -> Result<Matching, String> {
        self.lock().matched()
    }

    fn mismatches(&mut self) -> Vec<String> {
        self.lock().mismatches()
    }

    fn clock(&self) -> Option<OtherClock> {
        self.lock().clock()
    }
}

impl Received for Shared {
    fn overwritten(&self) -> u64 {
        Subscription::overwritten(&*self.lock())
    }
}
