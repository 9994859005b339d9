//! Subscriptions by callbacks, which zenoh's receiving thread calls.

use std::sync::{Arc, Mutex, PoisonError};

use perf_worker::{
    backend::{Listener, Matched, Matching, Sink},
    clock::now_ns,
    endpoint::EndpointPlan,
    run_spec::RunSpec,
};
use zenoh::{Session, Wait, handlers::Callback, pubsub::Subscriber, sample::Sample};

use crate::{
    arrival::{Arrival, Reader},
    names::{failed, key},
    presence::{Presence, Side},
};

/// Creates a subscription. Its callback is declared only when the subscription starts.
pub fn create(session: &Session, spec: &RunSpec, plan: &EndpointPlan) -> Box<dyn Listener> {
    let reader = Arc::new(Mutex::new(Reader::new(spec, plan)));
    Box::new(CallbackSubscription {
        session: session.clone(),
        key: key(spec, plan),
        marks: spec.phases,
        reader,
        started: None,
    })
}

struct CallbackSubscription {
    session: Session,
    key: String,
    /// True if the arrival time of each message is recorded.
    marks: bool,
    /// The reader, behind a lock because several links may deliver at the same time.
    reader: Arc<Mutex<Reader>>,
    started: Option<(Subscriber<()>, Presence)>,
}

impl Matched for CallbackSubscription {
    fn matched(&mut self) -> Result<Matching, String> {
        Ok(Matching::Count(self.started.as_ref().map_or(0, |(_, presence)| presence.others())))
    }

    fn mismatches(&mut self) -> Vec<String> {
        Vec::new()
    }
}

impl Listener for CallbackSubscription {
    fn start(&mut self, sink: Arc<dyn Sink>) -> Result<(), String> {
        let (reader, marks) = (self.reader.clone(), self.marks);
        let deliver = move |sample: Sample| {
            let arrival = Arrival { arrived_ns: marks.then(now_ns), sample };
            let mut reader = reader.lock().unwrap_or_else(PoisonError::into_inner);
            if let Err(sentence) = reader.read(&arrival, &mut |taken| sink.taken(taken)) {
                sink.failed(sentence);
            }
        };
        let port = self.session.declare_subscriber(self.key.clone()).with((Callback::from(deliver), ())).wait();
        let port = port.map_err(|error| failed("declare a subscriber", error))?;
        let presence = Presence::declare(&self.session, &self.key, Side::Subscription, port.id())?;
        self.started = Some((port, presence));
        Ok(())
    }

    fn stop(&mut self) -> Result<(), String> {
        let Some((port, _presence)) = self.started.take() else { return Ok(()) };
        port.undeclare().wait().map_err(|error| failed("undeclare a subscriber", error))?;
        // A running callback holds the lock, so this statement waits for the end of the callback.
        drop(self.reader.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(())
    }

    fn overwritten(&self) -> u64 {
        0
    }
}
