//! Tests of the real-time contract of the measuring loops. Between two messages they allocate nothing and make no
//! system call, except for the publisher's sleep until the next message is due. Reading the clock is no system call.
//!
//! This program is also the worker that the coordinator would start, with a middleware that does nothing. In the middle
//! of the first second, a trap watches one thread of the loops: it counts allocations and catches system calls. The end
//! of each second is not watched, because the thread then hands over a row, which wakes the reporting thread. If no
//! trap can be set, the tests are ignored with the reason.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so by panicking")]

mod worker;

use std::io::{BufRead, BufReader, Write, pipe};
use std::process::{Child, Command, ExitCode, Stdio};

use command_fds::{CommandFdExt, FdMapping};
use libtest_mimic::{Arguments, Trial};
use perf_test::cli;
use perf_worker::clock::{SECOND_NS, now_ns};
use perf_worker::endpoint::Endpoint::{Publisher, Relay, Subscription};
use perf_worker::endpoint::{Endpoint, EndpointPlan};
use perf_worker::worker::protocol::{Order, PROTOCOL, Plan, REPORTS_FD, Report};
use test_support::{is_ignored, trap, trial};

/// The line that the worker prints if the trap caught nothing.
const OK: &str = "nothing was allocated, and no system call made";

/// A test: its name, the options of the run, and the endpoints of the worker. The trap watches the thread of the first
/// endpoint.
type Scenario = (&'static str, &'static str, &'static [Endpoint]);

const SCENARIOS: [Scenario; 6] = [
    ("a_publisher_on_schedule", "-r 20000", &[Publisher(0)]),
    ("a_publisher_as_fast_as_it_goes", "-r 0", &[Publisher(0)]),
    ("a_publisher_that_does_all_it_can", "-r 20000 --touch full --check-memory", &[Publisher(0)]),
    ("a_subscription_that_does_all_it_can", "-r 20000 --touch full --check-memory --wait spin", &[Subscription(0)]),
    ("a_relay", "--roundtrip-mode Relay --wait spin", &[Relay(0)]),
    ("both_on_one_thread", "-e INTRA_THREAD -r 20000", &[Publisher(0), Subscription(0)]),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("worker") => return worker::run(worker::MESSAGES),
        Some("worker-without-end") => return worker::run(u64::MAX),
        _ => {}
    }
    let no_trap = is_ignored("realtime", trap::why_not());
    let scenario = |(name, options, endpoints): Scenario| {
        trial(name, move || assert_eq!(said_within_a_second(options, endpoints), OK)).with_ignored_flag(no_trap)
    };
    let mut trials: Vec<Trial> = SCENARIOS.into_iter().map(scenario).collect();
    trials.push(
        trial("a_row_that_is_handed_over_is_caught", a_row_that_is_handed_over_is_caught).with_ignored_flag(no_trap),
    );
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn a_row_that_is_handed_over_is_caught() {
    let (said, _) = said("worker-without-end", "-r 20000", &[Publisher(0)]);
    assert_eq!(said, format!("publisher 0 made system call {}", libc::SYS_futex));
}

/// Returns the line that a worker prints. If the machine stalls and the line comes after the first second, repeats the
/// run.
fn said_within_a_second(options: &str, endpoints: &[Endpoint]) -> String {
    loop {
        let (said, after_ns) = said("worker", options, endpoints);
        if after_ns < SECOND_NS {
            return said;
        }
    }
}

/// Returns the only line of a worker that is not a report, and the time from the start to this line, ns.
fn said(role: &str, options: &str, endpoints: &[Endpoint]) -> (String, i64) {
    let arguments = format!("perf_test {options}");
    let cli = cli::parse(arguments.split_whitespace().map(Into::into)).unwrap();
    let spec = cli::resolve(&cli.options).unwrap().spec;
    let of_endpoint = |endpoint: &Endpoint| EndpointPlan::of_run(&spec, *endpoint, "/topic");
    let endpoints: Vec<EndpointPlan> = endpoints.iter().map(of_endpoint).collect();
    let mut unmatched = endpoints.len();
    let plan = Plan { protocol: PROTOCOL, name: String::new(), spec, row_delay_ns: 1, endpoints };
    let mut command = Command::new(std::env::current_exe().unwrap());
    // The trap prints its line on standard output, so standard output is also the pipe of the reports.
    let (reports, its_end) = pipe().unwrap();
    let mapping = FdMapping { parent_fd: its_end.try_clone().unwrap().into(), child_fd: REPORTS_FD };
    command.fd_mappings(vec![mapping]).unwrap().arg(role).stdin(Stdio::piped()).stdout(its_end);
    let mut worker = command.spawn().unwrap();
    drop(command);
    order(&mut worker, &serde_json::to_string(&plan).unwrap());
    let mut start_ns = i64::MAX;
    for line in BufReader::new(reports).lines().map(Result::unwrap) {
        match serde_json::from_str(&line) {
            Ok(Report::Matched { .. }) => unmatched -= 1,
            Ok(report @ (Report::Failed(..) | Report::Unmatched(_))) => panic!("{report:?}"),
            Ok(_) => continue,
            Err(_) => {
                let after_ns = now_ns() - start_ns;
                worker.wait().unwrap();
                return (line, after_ns);
            }
        }
        if unmatched == 0 {
            // The start is now: a message that a subscription takes before the start would not count.
            start_ns = now_ns();
            order(&mut worker, &serde_json::to_string(&Order::Go { start_ns, sources: Vec::new() }).unwrap());
        }
    }
    panic!("the worker said nothing and ended: {:?}", worker.wait());
}

fn order(worker: &mut Child, line: &str) {
    writeln!(worker.stdin.as_mut().unwrap(), "{line}").unwrap();
}
