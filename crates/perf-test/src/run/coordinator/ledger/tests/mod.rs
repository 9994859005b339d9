//! Tests that reports of several endpoints are merged into the rows of the run.

mod constant_memory;

use super::*;
use perf_worker::measure::{
    memory::Memory,
    resources::Resources,
    tally::{Counts, Received, Sent},
    usage::Usage,
};
use sums::SentBy;

const P: Endpoint = Endpoint::Publisher(0);
const S0: Endpoint = Endpoint::Subscription(0);
const S1: Endpoint = Endpoint::Subscription(1);

/// The CPU time that perf_test's own threads in a worker use in each second.
const INSTRUMENT_NS: i64 = 10_000_000;

fn resources(second: u64, cpu_ns: i64) -> Resources {
    let taken_ns = (second as i64 + 1) * SECOND_NS;
    let usage = Usage { taken_ns, utime_ns: cpu_ns, maxrss_kib: 1000, ..Usage::default() };
    let instrument = Usage { utime_ns: (second as i64 + 1) * INSTRUMENT_NS, ..Usage::default() };
    Resources { usage, instrument, memory: Memory { rss_kib: 700, ..Memory::default() } }
}

fn sent(second: u64, samples: u64) -> (Endpoint, Entry) {
    let counts = Counts { sent: Sent { samples, ..Sent::default() }, ..Counts::default() };
    (P, Entry { worker: 0, second, whole: true, counts, resources: resources(second, 1000) })
}

fn received(endpoint: Endpoint, second: u64, latencies_ns: &[u64]) -> (Endpoint, Entry) {
    let samples = latencies_ns.len() as u64;
    let mut received = Received { samples, bytes: 1000 * samples, ..Received::default() };
    latencies_ns.iter().for_each(|latency| received.latency_ns.add(*latency as f64));
    let latencies = latencies_ns.iter().map(|latency| (*latency, 1)).collect();
    let Endpoint::Subscription(index) = endpoint else { panic!("{endpoint}") };
    let (worker, counts) = (1 + index as usize, Counts { received, latencies, ..Counts::default() });
    let resources = resources(second, (second as i64 + 1) * SECOND_NS / 2);
    (endpoint, Entry { worker, second, whole: true, counts, resources })
}

/// Changes the entry into a report for a part of its second.
fn part((endpoint, entry): (Endpoint, Entry)) -> (Endpoint, Entry) {
    (endpoint, Entry { whole: false, ..entry })
}

fn enter(ledger: &mut Ledger, (endpoint, entry): (Endpoint, Entry)) {
    ledger.enter(endpoint, &entry);
}

fn never(_: u64) -> bool {
    false
}

fn ledger(ignore_s: u32) -> Ledger {
    Ledger::new([(P, vec![]), (S0, vec![P]), (S1, vec![P])].into(), 3, ignore_s)
}

#[test]
fn a_row_waits_for_every_endpoint_and_adds_them_up() {
    let mut ledger = ledger(0);
    ledger.accounts.begin(1, Resources::default(), 0);
    enter(&mut ledger, sent(0, 2));
    enter(&mut ledger, received(S0, 0, &[10, 20]));
    assert!(ledger.next_row(never).is_none());
    enter(&mut ledger, received(S1, 0, &[60]));
    let row = ledger.next_row(never).unwrap();
    assert_eq!((row.total.sent.samples, row.total.received.samples, row.total.latency.mean()), (2, 3, 30.0));
    assert_eq!((row.data_received(), row.t_s, row.length_s), (3000, 1.0, 1.0));
    assert_eq!((row.accounts.usage.maxrss_kib, row.memory.rss_kib, row.total.latency.n), (3000, 2100, 3));
    assert!(row.core_percent >= 50.0, "{}", row.core_percent);
    assert!(ledger.next_row(never).is_none());
}

#[test]
fn a_failed_worker_delays_no_row_and_keeps_its_account() {
    let mut ledger = ledger(0);
    for entry in [sent(0, 1), received(S0, 0, &[1]), received(S1, 0, &[1])] {
        enter(&mut ledger, entry);
    }
    assert!(ledger.next_row(never).is_some());
    enter(&mut ledger, sent(1, 1));
    enter(&mut ledger, received(S0, 1, &[3]));
    assert!(ledger.next_row(never).is_none());
    ledger.finish_endpoint(S1);
    let row = ledger.next_row(never).unwrap();
    assert_eq!((row.total.received.samples, row.accounts.usage.maxrss_kib), (1, 3000));
    assert_eq!((ledger.sums.total.received.samples, ledger.sums.total.latencies.n()), (3, 3));
}

#[test]
fn an_overdue_row_goes_out_without_those_that_are_missing_and_what_comes_late_is_not_lost() {
    let mut ledger = ledger(0);
    enter(&mut ledger, sent(0, 5));
    assert!(ledger.next_row(|_| true).is_some());
    assert!(ledger.next_row(|_| true).is_none(), "a row without endpoints");
    enter(&mut ledger, received(S0, 0, &[7]));
    assert!(ledger.next_row(never).is_none());
    assert_eq!(ledger.sums.received_by(S0).samples, 1);
}

#[test]
fn seconds_to_ignore_are_in_no_row_and_no_sum() {
    let mut ledger = ledger(2);
    for second in 0..3 {
        // Subscriptions count only messages that were sent after the ignored seconds.
        let latencies_ns: &[u64] = if second < 2 { &[] } else { &[1000] };
        for entry in [sent(second, 10), received(S0, second, latencies_ns), received(S1, second, latencies_ns)] {
            enter(&mut ledger, entry);
        }
    }
    let row = ledger.next_row(never).unwrap();
    assert_eq!(row.t_s, 3.0);
    assert!(ledger.next_row(never).is_none());
    assert_eq!(
        (ledger.sums.total.sent.samples, ledger.sums.total.received.samples, ledger.sums.total.latencies.n()),
        (10, 2, 2)
    );
    assert_eq!(ledger.sums.sent_by(&[P]), SentBy { counted: 10, ever: 30, ids_ever: 30, refused: 0 });
    // Only the third second counts: half a second of CPU time in each of the two subscriptions.
    let measured = ledger.accounts.measured();
    assert_eq!((measured.usage.cpu_ns(), measured.core_percent), (SECOND_NS, 100.0));
    assert_eq!(measured.instrument.cpu_ns(), 3 * INSTRUMENT_NS);
    let cost = MessageCost { cpu_ns: SECOND_NS, received: 2, sent: 10 };
    assert_eq!((ledger.message_cost(false), ledger.message_cost(true)), (cost, cost));
}

#[test]
fn messages_after_the_run_share_its_cost_unless_readers_wait_for_lost_ones() {
    let mut ledger = ledger(0);
    (0..3).for_each(|worker| ledger.accounts.begin(worker, Resources::default(), 0));
    ledger.end_after(2);
    for second in 0..2 {
        for entry in [sent(second, 10), received(S0, second, &[5; 10]), received(S1, second, &[5; 9])] {
            enter(&mut ledger, entry);
        }
    }
    let (within, cost) = (ledger.accounts.measured(), ledger.message_cost(false));
    // In each second, both subscriptions use half a second of CPU time.
    assert_eq!(
        (within.core_percent, cost),
        (100.00005, MessageCost { cpu_ns: 2 * SECOND_NS + 1000, received: 38, sent: 20 })
    );
    for second in 2..9 {
        enter(&mut ledger, received(S1, second, &[]));
    }
    enter(&mut ledger, part(received(S1, 9, &[7])));
    ledger.accounts.end(2, resources(9, 5 * SECOND_NS));
    assert_eq!((ledger.accounts.measured(), ledger.message_cost(false)), (within, cost));
    // A process that ends uses CPU time after its last row. This is no cost of a message in either case.
    let drained = ledger.message_cost(true);
    assert_eq!((drained.received, drained.sent), (39, 20));
    assert!(drained.cpu_ns > cost.cpu_ns && drained.cpu_ns < 7 * SECOND_NS, "{drained:?}");
    assert_eq!(
        (ledger.sums.total.received.samples, ledger.accounts.worker_resources(2).usage.cpu_ns()),
        (39, 5 * SECOND_NS)
    );
}

#[test]
fn a_run_within_one_second_has_a_cost_too() {
    let mut ledger = ledger(0);
    ledger.accounts.begin(1, Resources::default(), 0);
    ledger.end_after(0);
    enter(&mut ledger, part(sent(0, 3)));
    enter(&mut ledger, part(received(S0, 0, &[5; 3])));
    let cost = ledger.message_cost(false);
    assert_eq!((cost.cpu_ns > 0, cost.received, cost.sent), (true, 3, 3));
}

/// Sets the time of a report to `ns` after the beginning of its second.
fn at(ns: i64, whole: bool, (endpoint, mut entry): (Endpoint, Entry)) -> (Endpoint, Entry) {
    entry.resources.usage.taken_ns = entry.second as i64 * SECOND_NS + ns;
    (endpoint, Entry { whole, ..entry })
}

#[test]
fn the_rest_after_the_last_whole_second_is_one_row_of_its_true_length() {
    let mut ledger = ledger(0);
    for entry in [sent(0, 10), received(S0, 0, &[5; 10]), received(S1, 0, &[5; 10])] {
        enter(&mut ledger, entry);
    }
    ledger.end_after(1);
    enter(&mut ledger, at(SECOND_NS / 4, false, sent(1, 3)));
    enter(&mut ledger, at(SECOND_NS / 2, false, received(S0, 1, &[5; 3])));
    // S1 finished so late that it reported the whole second 1, and then a part of second 2 without messages.
    enter(&mut ledger, at(SECOND_NS, true, received(S1, 1, &[5; 3])));
    enter(&mut ledger, at(SECOND_NS / 2, false, received(S1, 2, &[])));
    assert!(ledger.next_row(|_| true).is_some());
    assert!(ledger.next_row(|_| true).is_none(), "a whole row past the end");
    let row = ledger.last_row(0, 0, 0).unwrap();
    assert_eq!((row.t_s, row.length_s), (2.0, 1.0));
    assert_eq!((row.total.sent.samples, row.total.received.samples), (3, 6));
    assert_eq!((ledger.sums.total.sent.samples, ledger.sums.total.received.samples), (13, 26));
    assert!(ledger.last_row(0, 0, 0).is_none());
}

#[test]
fn an_end_at_which_nothing_happens_is_no_row() {
    let mut ledger = ledger(0);
    ledger.end_after(1);
    enter(&mut ledger, at(1000, false, sent(1, 0)));
    enter(&mut ledger, at(SECOND_NS, true, received(S0, 1, &[])));
    assert!(ledger.last_row(0, 0, 0).is_none());
}

#[test]
fn losses_that_no_later_sample_shows_are_in_the_last_row() {
    let mut ledger = ledger(0);
    ledger.end_after(1);
    // S0 sees a gap of two samples. S1 receives none of the ten samples.
    let mut gap = received(S0, 0, &[5; 8]);
    gap.1.counts.received.missed = 2;
    for entry in [sent(0, 10), gap, received(S1, 0, &[])] {
        enter(&mut ledger, entry);
    }
    let whole = ledger.next_row(never).unwrap();
    let last = ledger.last_row(0, SECOND_NS * 3 / 2, 12).unwrap();
    assert_eq!((whole.total.received.lost(), last.total.received.lost(), last.length_s), (2, 10, 0.5));
}

#[test]
fn a_refused_message_is_no_loss_though_its_id_is_missing() {
    let mut ledger = ledger(0);
    let mut refused = sent(0, 9);
    refused.1.counts.sent.refused = 1;
    enter(&mut ledger, refused);
    // S0 sees the gap of the refused message in the same second. S1 sees it in the next second, and also loses two
    // messages.
    for (second, endpoint, missed) in [(0, S0, 1), (0, S1, 0), (1, S0, 0), (1, S1, 3)] {
        let mut entry = received(endpoint, second, &[5]);
        entry.1.counts.received.missed = missed;
        enter(&mut ledger, entry);
    }
    enter(&mut ledger, sent(1, 10));
    let lost: Vec<u64> = std::iter::from_fn(|| ledger.next_row(never)).map(|row| row.total.received.lost()).collect();
    assert_eq!(lost, [0, 2]);
}

#[test]
fn a_message_refused_after_the_last_second_is_no_loss_either() {
    let mut ledger = ledger(0);
    ledger.end_after(0);
    let mut refused = sent(0, 9);
    refused.1.counts.sent.refused = 1;
    enter(&mut ledger, part(refused));
    // S1 loses two other messages, and a third one that leaves no gap because no message followed.
    for (endpoint, missed) in [(S0, 1), (S1, 3)] {
        let mut entry = received(endpoint, 0, &[5]);
        entry.1.counts.received.missed = missed;
        enter(&mut ledger, part(entry));
        ledger.finish_endpoint(endpoint);
    }
    assert_eq!(ledger.last_row(0, SECOND_NS, 3).unwrap().total.received.lost(), 3);
}

/// Takes minutes if the code searches all endpoints for each publisher.
#[test]
fn thousands_of_publishers_that_pass_over_messages_lose_none() {
    const TOPICS: u32 = 5000;
    let publishers = (0..TOPICS).map(|index| (Endpoint::Publisher(index), vec![]));
    let subscriptions = (0..TOPICS).map(|index| (Endpoint::Subscription(index), vec![Endpoint::Publisher(index)]));
    let mut ledger = Ledger::new(publishers.chain(subscriptions).collect(), 1, 0);
    for second in 0..5 {
        let endpoints = (0..TOPICS).flat_map(|index| [Endpoint::Publisher(index), Endpoint::Subscription(index)]);
        let mut counts = Counts::default();
        (counts.sent.samples, counts.received.samples) = (9 * u64::from(TOPICS), 9 * u64::from(TOPICS) - 1);
        counts.sent.skipped = u64::from(TOPICS);
        counts.received.missed = u64::from(TOPICS) + 1;
        let gaps = (0..TOPICS).map(|index| (Endpoint::Publisher(index), 1));
        let (endpoints, resources): (Vec<Endpoint>, _) = (endpoints.collect(), resources(second, 1000));
        ledger.enter_process(&endpoints, gaps, &Entry { worker: 0, second, whole: true, counts, resources });
        assert_eq!(ledger.next_row(never).unwrap().total.received.lost(), 1);
    }
}
