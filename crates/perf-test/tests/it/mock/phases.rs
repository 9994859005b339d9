//! Tests of the phases of a message, of its bytes with `--raw` and on the wire, and of the memory of a device.

use perf_test::log::Spread;

use super::{Counts, assert_always, measure, measure_all};
use crate::program::{Memory, Running};

test_support::tests![
    marked_phases_are_exact_and_the_rest_is_shown,
    phases_that_are_not_marked_are_none,
    gantry_marks_the_copy_out,
    bytes_without_a_type_arrive,
    bytes_on_the_wire_are_counted,
    the_memory_of_a_device_is_reported,
];

const MS: f64 = 1e6;

#[track_caller]
fn assert_spread(found: &Spread, n: u64, us: f64) {
    let ns = Some(us * 1e3);
    assert_eq!((found.n, found.min_ns, found.mean_ns, found.max_ns), (n, ns, ns, ns));
}

fn marked_phases_are_exact_and_the_rest_is_shown() {
    let script = "latency=2ms,serialise=100us,transport=600us,wake=150us";
    let options = "-s 2 -r 100 --max-runtime 2 --phases";
    let [pulled, pushed, other_clock] = measure_all([
        (script, options),
        (&format!("{script},push"), options),
        (&format!("{script},clock=7s:1us,reception-clock=5s:1us"), options),
    ]);
    for run in [&pulled, &pushed, &other_clock] {
        let total = &run.summary().total;
        assert_spread(&total.serialise, 200, 100.0);
        assert_spread(&total.transport, 400, 600.0);
        assert_spread(&total.wake_up, 400, 150.0);
        assert_spread(&total.deserialise, 400, 1250.0);
        let rows: u64 = run.log.rows.iter().map(|row| row.total.deserialise.n).sum();
        assert_eq!(rows, 400);
        let lines: Vec<Vec<&str>> = run.run.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
        for line in [
            "serialise (in transport) 200 100.0 µs 100.0 µs 5.0",
            "transport 400 600.0 µs 600.0 µs 30.0",
            "wake-up 400 150.0 µs 150.0 µs 7.5",
            "deserialise 400 1.25 ms 1.25 ms 62.5",
            "not marked 0 ns 0.0",
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            assert!(lines.contains(&words), "no {line:?} in {}", run.run.stdout);
        }
    }
    assert!(pulled.run.stdout.contains("each mark costs a reading of the clock"), "{}", pulled.run.stdout);
    assert!(pulled.log.run.spec.phases);
}

fn phases_that_are_not_marked_are_none() {
    let options = "-r 100 --max-runtime 1";
    let marked = format!("{options} --phases");
    let [off, none, arrival, hand, serialise] = measure_all([
        ("latency=2ms,serialise=100us,transport=600us,wake=150us", options),
        ("latency=2ms", &marked),
        ("latency=2ms,transport=600us", &marked),
        ("latency=2ms,wake=500us", &marked),
        ("latency=2ms,serialise=500us", &marked),
    ]);
    let marks = |run: &super::Measured| {
        let total = &run.summary().total;
        [&total.serialise, &total.transport, &total.wake_up, &total.deserialise].map(|phase| phase.n)
    };
    assert_eq!(marks(&off), [0; 4]);
    assert!(!off.run.stdout.contains("where the time goes"), "{}", off.run.stdout);
    assert_eq!(marks(&none), [0; 4]);
    assert!(none.run.stdout.contains("not marked"), "{}", none.run.stdout);
    // The phase of the wake-up lasts until the reception if the time of the bytes in hand is not marked.
    assert_eq!(marks(&arrival), [0, 100, 100, 0]);
    assert_spread(&arrival.summary().total.wake_up, 100, 1400.0);
    assert_eq!(marks(&hand), [0, 0, 0, 100]);
    assert_spread(&hand.summary().total.deserialise, 100, 1500.0);
    assert_eq!(marks(&serialise), [100, 0, 0, 0]);
    let rest = serialise.run.stdout.lines().find(|line| line.contains("not marked")).unwrap();
    assert!(rest.contains("1.50 ms") && rest.ends_with("75.0"), "{rest}");
}

fn gantry_marks_the_copy_out() {
    let memory = Memory::new();
    let options = "-r 100 --max-runtime 1 --phases -m Array64k --reliable --history KEEP_ALL";
    let zero_copy = format!("{options} --zero-copy");
    let [copied, raw, loaned] = memory.run_all([options, &format!("{options} --raw"), &zero_copy]);
    for run in [&copied, &raw] {
        run.assert_good();
        assert_eq!(run.number("deserialise"), run.number("received"), "{}", run.stdout);
    }
    loaned.assert_good();
    assert!(loaned.stdout.contains("with zero copy Gantry serialises nothing"), "{}", loaned.stdout);
    assert!(!loaned.stdout.contains("  deserialise"), "{}", loaned.stdout);
}

fn bytes_without_a_type_arrive() {
    let memory = Memory::new();
    // These messages travel inline and in slots. With `--raw`, strings and single fields are sent as plain bytes.
    let options = |own| format!("--raw -r 100 --max-runtime 1 --touch full --reliable --history KEEP_ALL {own}");
    let runs = [
        "--zero-copy -m Array64k",
        "-m Array64k",
        "--zero-copy -m Array128",
        "--roundtrip-mode Both -m UnboundedString --unbounded-msg-size 5000",
        "-m Struct16",
    ];
    let runs = runs.map(|own| memory.start(&options(own))).map(Running::finish);
    for run in &runs {
        run.assert_good();
        let (sent, received) = (run.number("sent"), run.number("received"));
        assert!(sent > 0 && received == sent && run.number("lost") == 0, "{}", run.stdout);
        assert!(run.stdout.contains("raw: bytes without a type"), "{}", run.stdout);
    }
    assert!(!runs[0].stdout.contains("messages were copied"), "{}", runs[0].stdout);
    memory.assert_empty();
    let run = measure("latency=2ms,lose=10", "--raw -r 100 --max-runtime 1");
    run.assert_counts(Counts { sent: 100, received: 90, lost: 10, unexplained: 10, ..Counts::default() });
    assert_always(&run.summary().total.latency, 90, 2.0 * MS);
    assert!(run.log.run.spec.raw);
}

fn bytes_on_the_wire_are_counted() {
    let [wired, none] = measure_all([
        ("latency=1ms,lose=10,wire=160", "-r 100 --max-runtime 2"),
        ("latency=1ms", "-r 100 --max-runtime 1"),
    ]);
    let total = &wired.summary().total;
    assert_eq!((total.sent.wire_bytes, total.received.wire_bytes), (200 * 160, 180 * 160));
    assert_eq!((total.sent.bytes, total.received.bytes), (200 * 128, 180 * 128));
    let words =
        "sent 32000 bytes (+25.0 % over the 25600 of the messages), received 28800 bytes (+25.0 % over the 23040";
    assert!(wired.run.stdout.contains(words), "{}", wired.run.stdout);
    let rows: u64 = wired.log.rows.iter().map(|row| row.total.received.wire_bytes).sum();
    assert_eq!(rows, 180 * 160);
    assert!(!none.run.stdout.contains("\n  wire"), "{}", none.run.stdout);
}

fn the_memory_of_a_device_is_reported() {
    let [device, none] =
        measure_all([("latency=1ms,device", "-r 100 --max-runtime 1"), ("latency=1ms", "-r 100 --max-runtime 1")]);
    for worker in &device.summary().workers {
        let found = worker.device.unwrap();
        assert_eq!((found.text_bytes, found.stack_peak_bytes, found.heap_peak_bytes), (65_536, 2048, 40_000));
    }
    let words = "device: text 65536, data 1024, bss 16384, stack peak 2048, heap peak 40000 bytes";
    assert_eq!(device.run.stdout.matches(words).count(), 2, "{}", device.run.stdout);
    assert!(none.summary().workers.iter().all(|worker| worker.device.is_none()));
    assert!(!none.run.stdout.contains("device:"), "{}", none.run.stdout);
}
