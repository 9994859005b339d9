//! Tests of malformed samples: the first one is logged, and the other samples arrive. The crate's unit tests cover
//! sources that fail.

use super::*;
use std::sync::Once;

behaviours! {
    with_a_far_end: [a_sample_that_is_no_message_is_logged_and_the_rest_comes],
    alone: [],
}

fn a_sample_that_is_no_message_is_logged_and_the_rest_comes(case: &Case) {
    collect_log();
    let (mut far, mut executor, listener) = (case.far(), case.executor(), Listener::new());
    // Another callback always has something to do.
    feed_itself(&listener.node, &case.topic("own"), || ())();
    executor.add_node(&listener.node).unwrap();
    let topic = case.topic("bad");
    listener.hear(case, "bad", Qos::default());
    spinning(&mut *executor, || {
        for _ in 0..3 {
            far.tell(&format!("garbage {topic}"));
            assert_eq!(listener.next(), ("bad", 0));
        }
    });
    let (own, node) = (logged(&topic), format!("node={:?} ", listener.node.fully_qualified_name()));
    assert_eq!(own.len(), 1, "one cause fills no log: {own:?}");
    let what = format!(" on {topic} is not a valid test_msgs/msg/Point"); // no publisher: it may be gone
    for part in ["a callback was not called", &node, &what, "the sample was skipped"] {
        assert!(own[0].contains(part), "{part}: {own:?}");
    }
}

/// The errors and warnings that were logged, by any thread.
static LOG: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Collects errors and warnings from now on.
pub fn collect_log() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| on_log(|line| LOG.lock().unwrap().push(line)));
}

/// Passes each error and warning of the process to this function.
pub fn on_log(each: impl Fn(String) + Send + Sync + 'static) {
    tracing::subscriber::set_global_default(OnLog(each)).unwrap();
}

/// The collected lines that contain `part`.
pub fn logged(part: &str) -> Vec<String> {
    LOG.lock().unwrap().iter().filter(|line| line.contains(part)).cloned().collect()
}

struct OnLog<F>(F);

impl<F: Fn(String) + Send + Sync + 'static> tracing::Subscriber for OnLog<F> {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() <= tracing::Level::WARN
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut line = String::new();
        event.record(&mut |field: &tracing::field::Field, value: &dyn std::fmt::Debug| {
            line += &format!("{field}={value:?} ");
        });
        self.0(line);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}
