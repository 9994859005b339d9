//! A worker with a middleware that only counts its messages, and that sets the trap after some of them.

use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::Duration;

use allocations::Counts;
use perf_worker::backend::{
    Backend, Capabilities, Delivery, Description, Draft, Matched, Matching, Publisher, Sent, Session, Settings,
    Subscription, Taken,
};
use perf_worker::clock::now_ns;
use perf_worker::endpoint::{Endpoint, EndpointPlan};
use perf_worker::payload;
use perf_worker::run_spec::{RunSpec, Strategy, Touch};

use test_support::trap;

use crate::OK;

/// The number of messages before the trap is set.
const WARM_UP: u64 = 1000;
/// The number of messages that are published or taken while the trap is set. They take a third of a second at the
/// rate of the tests.
pub const MESSAGES: u64 = 5000;
/// The length of a payload. It is so short that all messages fit into the first second, even on a busy machine.
const PAYLOAD_BYTES: usize = 1000;

/// Runs this process as a worker. The trap covers this number of messages.
pub fn run(messages: u64) -> ExitCode {
    static NOTHING: OnceLock<Nothing> = OnceLock::new();
    std::panic::set_hook(Box::new(|panic| trap::end(format_args!("{panic}"))));
    perf_worker::worker::run(&[NOTHING.get_or_init(|| Nothing { messages })]).into()
}

/// The middleware that does nothing.
struct Nothing {
    messages: u64,
}

impl Backend for Nothing {
    /// The name of perf_test's default middleware, which the plans of these tests contain.
    fn name(&self) -> &str {
        "Gantry"
    }

    fn describe(&self) -> Description {
        Description { version: "1".to_owned(), capabilities: Capabilities::all(), settings: Vec::new() }
    }

    fn open(&self, _: &RunSpec) -> Result<Box<dyn Session>, String> {
        Ok(Box::new(Nothing { messages: self.messages }))
    }

    fn clean_up(&self, _: &RunSpec) -> Result<(), String> {
        Ok(())
    }
}

impl Session for Nothing {
    fn effective(&self) -> Settings {
        Settings::new()
    }

    fn publisher(&self, spec: &RunSpec, plan: &EndpointPlan) -> Result<Box<dyn Publisher>, String> {
        Ok(Box::new(self.end(spec, matches!(plan.endpoint, Endpoint::Publisher(_)))))
    }

    fn subscription(&self, spec: &RunSpec, _: &EndpointPlan) -> Result<Delivery, String> {
        // The publisher's trap also covers the subscription if both endpoints are on one thread.
        Ok(Delivery::Pull(Box::new(self.end(spec, spec.strategy != Strategy::IntraThread))))
    }
}

impl Nothing {
    fn end(&self, spec: &RunSpec, watched: bool) -> End {
        End {
            watched: watched.then_some(self.messages),
            on_schedule: spec.rate_hz > 0 && spec.publishers > 0,
            touch: spec.touch,
            payload: vec![0; PAYLOAD_BYTES],
            messages: 0,
            there_is_one: false,
            before: Counts::default(),
        }
    }
}

/// A publisher or a subscription of the middleware that does nothing.
struct End {
    /// The number of messages for which this endpoint sets the trap; `None` if it sets no trap.
    watched: Option<u64>,
    on_schedule: bool,
    touch: Touch,
    payload: Vec<u8>,
    messages: u64,
    there_is_one: bool,
    before: Counts,
}

impl End {
    fn one_more(&mut self, what: &'static str, allowed: &[libc::c_long]) {
        self.messages += 1;
        let Some(messages) = self.watched else { return };
        if self.messages == WARM_UP {
            trap::step(what);
            trap::set(allowed).unwrap();
            self.before = allocations::thread_counts();
        } else if self.messages == WARM_UP.saturating_add(messages) {
            let counts = allocations::thread_counts().since(self.before);
            if counts == Counts::default() {
                trap::end(format_args!("{OK}"));
            }
            trap::end(format_args!("{what}: {counts:?}"));
        }
    }
}

impl Matched for End {
    fn matched(&mut self) -> Result<Matching, String> {
        Ok(Matching::Count(1))
    }

    fn mismatches(&mut self) -> Vec<String> {
        Vec::new()
    }
}

impl Publisher for End {
    fn publish(&mut self, draft: &mut dyn Draft) -> Result<Sent, String> {
        draft.write(&mut self.payload);
        draft.stamp();
        // Without a rate, the publisher does not sleep, so no system call is allowed.
        self.one_more("publisher 0", if self.on_schedule { &[libc::SYS_clock_nanosleep] } else { &[] });
        Ok(Sent { loaned: true, ..Sent::default() })
    }
}

impl Subscription for End {
    /// Takes a message at every second call.
    fn take(&mut self, reader: &mut dyn FnMut(&Taken<'_>)) -> Result<bool, String> {
        self.there_is_one = !self.there_is_one;
        if !self.there_is_one {
            return Ok(false);
        }
        let received_ns = now_ns();
        self.one_more("subscription 0", &[]);
        let id = self.messages;
        payload::write(&mut self.payload, self.touch, id);
        let payload = &self.payload;
        let source = [1; 16];
        reader(&Taken {
            source,
            time_ns: received_ns - id as i64,
            id,
            received_ns,
            length_bytes: 1,
            loaned: true,
            payload,
            ..Taken::default()
        });
        Ok(true)
    }

    fn wait(&mut self, _: Duration) -> Result<(), String> {
        Ok(())
    }

    fn overwritten(&self) -> u64 {
        0
    }
}
