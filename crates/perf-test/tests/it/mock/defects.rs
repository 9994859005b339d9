//! The defects of two other tools, and the tests that show that this tool has none of them.
//!
//! P is performance_test 2.3.0, R is iRobot's ros2-performance. The numbers count the defects, which were found in the
//! tools' source code. The second column has the tests of this tool; a test without a file is in this file.
//!
//! | defect of the other tool | tests of this tool |
//! |---|---|
//! | P1 the variance overflows when the latencies of a second add up to 3 s | `variance_overflow`; `measure/moments.rs` |
//! | P2 the variance has the name of ms in two files, but is s² × 1000 in one and s² in the other | `variance_in_two_units`; `report/csv.rs` |
//! | P3 the first row is divided by the host's uptime, and each later row by the length of the row before it | `counts.rs`: `a_second_is_exactly_a_second_and_so_is_the_first`; `coordinator/ledger/tests.rs` |
//! | P4 `--rate 0` divides by zero | `counts.rs`: `as_fast_as_possible_counts_as_exactly` |
//! | P5 no endpoint waits for matching, so messages sent before it are lost | `matching.rs` |
//! | P6, P7 the middleware's configuration is malformed or not initialised | not possible: this tool writes no configuration file, and all memory is initialised |
//! | P8 the tool builds only for some ROS distributions | not possible: this tool builds without ROS |
//! | P9 the documented commands use options that were removed | `cli/resolve/tests`: the options of all generations are accepted; `runs.rs`: the documented commands |
//! | P10 plots need libraries that are outdated | this tool draws plots without libraries: `report/plot/tests.rs` |
//! | P11 redrawing corrupts narrow terminals and redirected output | `terminal.rs`; `columns_that_run_together` |
//! | P late sends do not increase the latency (coordinated omission) | `latencies.rs`: `the_delay_of_a_late_publisher_…`; `ends.rs`: `a_publisher_that_was_stopped_…` |
//! | P a sample number out of order ends the thread, and the run goes on with zeros | `counts.rs`: `samples_out_of_order_…`, `every_message_may_come_twice_…` |
//! | P all messages sent before a late joiner count as lost | `counts.rs`: `samples_before_a_late_joiner_are_not_lost` |
//! | P the losses of several subscriptions are divided by the number of messages sent once, and without publishers by zero | `losses_above_all_that_was_sent` |
//! | P a log is written only when the run ends, or never | `kills.rs`; `log/document.rs` |
//! | P the memory shown never falls; CPU time is in ticks, and of one process only | `measure/memory/tests.rs`, `measure/usage.rs`; the ledger adds up all workers |
//! | P an option is accepted but has no effect | `cli/resolve/tests`: `options_without_effect_are_noted` |
//! | R1 the worst messages are left out of mean and maximum | `worst_samples_deleted`; `latencies.rs`: `late_and_too_late_…` |
//! | R2 late, too late and lost messages are not counted by default, and are printed as 0 | the tests of R1, which give no option |
//! | R3 a sequence number that goes backwards counts as four billion losses | `numbers_that_go_backwards`, `two_publishers_on_one_topic` |
//! | R4 columns run together when a number is wide | `columns_that_run_together`; `report/tables.rs` |
//! | R5 a negative latency wraps to a huge number, which is left out | `latencies.rs`: `samples_received_before_they_were_sent_…` |
//! | R6 the mean over several processes is the mean of their means; a process without samples makes it NaN | `means_of_means`, `a_process_without_samples` |
//! | R6 the tool guesses which process it must wait for | `ends.rs`, `kills.rs` |
//! | R7 columns were renamed, but the tool's own plots read the old names | `src/log/tests.rs`: the log has a version and a schema, and plots read the types of the log |
//! | R8 with several processes some figures are missing | `counts.rs`: `all_strategies_count_the_same` |
//! | R9 parts of the tool are not published | not possible: this repository has all parts |

use rustix::process::Signal;

use super::{Counts, assert_close, assert_times, measure};
use crate::program::Memory;

test_support::tests![
    variance_overflow,
    variance_in_two_units,
    columns_that_run_together,
    losses_above_all_that_was_sent,
    a_program_that_sends_nothing,
    worst_samples_deleted,
    numbers_that_go_backwards,
    two_publishers_on_one_topic,
    means_of_means,
    a_process_without_samples,
];

const MS: f64 = 1e6;

/// P1: the latencies of a second add up to 200 s, and their squares to 40 s².
fn variance_overflow() {
    let run = measure("latency=199ms,slow=2:201ms", "-r 1000 --max-runtime 2");
    assert_eq!((run.counts().received, run.counts().too_late), (2000, 2000), "{}", run.run.stdout);
    assert_times(&run.summary().total.latency, &[(199.0 * MS, 1000), (201.0 * MS, 1000)]);
    for latency in run.log.rows.iter().map(|row| &row.total.latency).filter(|latency| latency.n > 2) {
        let n = latency.n as f64;
        let slow = ((latency.mean_ns.unwrap() - 199.0 * MS) / (2.0 * MS) * n).round();
        let of_two_values = slow * (n - slow) / n / (n - 1.0) * (2.0 * MS).powi(2);
        assert_close(latency.variance_ns2.unwrap(), of_two_values, 1e-6);
    }
}

/// P2: the CSV log and the JSON log have the same variance, each in the unit of its other columns.
fn variance_in_two_units() {
    let run = measure("latency=2ms,slow=2:4ms", "-p 5 -r 2 --max-runtime 2");
    // Each second has five messages of each latency. The deviation is 1 ms, so the variance is 10 × (1 ms)² / 9.
    let variance_ms2 = 10.0 / 9.0;
    for found in run.csv("latency_variance (ms)") {
        assert_close(found, variance_ms2, 1e-5);
    }
    for found in run.json("latency_variance") {
        assert_close(found, variance_ms2 * 1e-6, 1e-9);
    }
    assert_eq!((run.csv("latency_mean (ms)"), run.json("latency_n")), (vec![3.0; 2], vec![10.0; 2]));
}

/// P11, R4: numbers of all widths are printed to a pipe.
fn columns_that_run_together() {
    let run = measure("lose=3", "-m Array8m -r 0 --max-runtime 2");
    let stdout = &run.run.stdout;
    assert!(!stdout.contains('\x1b') && !stdout.contains('\r'), "{stdout}");
    let mut lines = 0;
    let mut border = "";
    for line in stdout.lines() {
        if line.starts_with('+') {
            border = line;
        } else if line.starts_with('|') {
            let places =
                |line: &str, of: char| -> Vec<usize> { line.match_indices(of).map(|(place, _)| place).collect() };
            assert_eq!(places(line, '|'), places(border, '+'), "{border}\n{line}");
            lines += 1;
        }
    }
    assert!(lines >= 11, "{stdout}");
}

/// P: three subscriptions together lose more messages than were sent.
fn losses_above_all_that_was_sent() {
    let run = measure("lose=2", "-p 5 -s 3 -r 2 --max-runtime 2");
    run.assert_counts(Counts { sent: 20, received: 30, lost: 30, unexplained: 30, ..Counts::default() });
    // No message follows the last lost messages, so these are counted in a separate row.
    let relative = run.csv("relative_loss");
    assert!(relative.iter().all(|loss| (0.0..=1.0).contains(loss)), "{relative:?}");
    assert_eq!(run.csv("sent")[..2], [10.0, 10.0]);
}

/// P: a program that only subscribes does not divide by its number of sent messages, which is zero.
fn a_program_that_sends_nothing() {
    let (memory, folder) = (Memory::new(), tempfile::tempdir().unwrap());
    let log = folder.path().join("log.csv");
    let options = "-c Mock --mock join=100,lose=2 -t half";
    let subscriber = memory.start(&format!("{options} -p 0 --expected-num-pubs 1 --csv-logfile {}", log.display()));
    memory.run(&format!("{options} -s 0 --expected-num-subs 1 -r 100 --max-runtime 2")).assert_good();
    subscriber.signal(Signal::INT);
    subscriber.finish().assert_good();
    let log = std::fs::read_to_string(log).unwrap();
    let rows: Vec<&str> = log.split_once("cpu_usage (%)\n").unwrap().1.lines().collect();
    let is_number = |cell: &str| cell.trim().parse().is_ok_and(f64::is_finite);
    assert!(rows.len() > 1 && rows.iter().all(|row| row.split(',').all(is_number)), "{log}");
    memory.assert_empty();
}

/// R1: one message in a hundred takes ten periods, and all figures include it.
fn worst_samples_deleted() {
    let run = measure("latency=1ms,slow=100:100ms", "-r 100 --max-runtime 2");
    run.assert_counts(Counts { sent: 200, received: 200, too_late: 2, ..Counts::default() });
    assert_times(&run.summary().total.latency, &[(MS, 198), (100.0 * MS, 2)]);
    let worst = run.json("latency_max").into_iter().fold(0.0, f64::max);
    assert_eq!(worst, 0.1);
}

/// R3: a restarted publisher starts again with number 1.
fn numbers_that_go_backwards() {
    let memory = Memory::new();
    let options = "-c Mock --mock lose=10 -t again";
    let subscriber = memory.start(&format!("{options} -p 0"));
    for _ in 0..2 {
        memory.run(&format!("{options} -s 0 --expected-num-subs 1 -r 100 --max-runtime 1")).assert_good();
    }
    subscriber.signal(Signal::INT);
    let run = subscriber.finish();
    run.assert_good();
    // Each program loses ten of its hundred messages. The last loss is not seen, because no message follows it.
    assert_eq!((run.number("received"), run.number("lost")), (180, 18), "{}", run.stdout);
    memory.assert_empty();
}

/// R3: two programs publish at different rates, each with its own sequence numbers.
fn two_publishers_on_one_topic() {
    let memory = Memory::new();
    let options = "-c Mock --mock lose=7 -t both";
    let subscriber = memory.start(&format!("{options} -p 0"));
    let publisher = |rate| memory.start(&format!("{options} -s 0 --expected-num-subs 1 -r {rate} --max-runtime 2"));
    for run in [publisher(100), publisher(37)] {
        run.finish().assert_good();
    }
    subscriber.signal(Signal::INT);
    let run = subscriber.finish();
    run.assert_good();
    let lost = 200 / 7 + 74 / 7;
    assert_eq!((run.number("received"), run.number("lost")), (274 - lost, lost), "{}", run.stdout);
    memory.assert_empty();
}

/// R6: one of two subscriptions receives fewer messages, with ten times the latency.
fn means_of_means() {
    let run = measure("latency=10ms,overwrite=2,lose=5,subscription=1", "-s 2 -r 100 --max-runtime 1");
    // Forty of a hundred ids are neither even nor multiples of five.
    run.assert_counts(Counts {
        sent: 100,
        received: 140,
        lost: 60,
        overwritten: 40,
        unexplained: 20,
        late: 40,
        ..Counts::default()
    });
    assert_times(&run.summary().total.latency, &[(MS, 100), (10.0 * MS, 40)]);
}

/// R6: one of two processes receives nothing.
fn a_process_without_samples() {
    let run = measure("lose=1,subscription=0", "-s 2 -r 100 --max-runtime 1");
    run.assert_counts(Counts { sent: 100, received: 100, lost: 100, unexplained: 100, ..Counts::default() });
    assert_times(&run.summary().total.latency, &[(MS, 100)]);
    assert!(!run.run.stdout.contains("NaN"), "{}", run.run.stdout);
    let means = run.csv("latency_mean (ms)").into_iter().zip(run.csv("received"));
    assert!(means.filter(|(_, received)| *received > 0.0).all(|(mean, _)| mean == 1.0));
}
