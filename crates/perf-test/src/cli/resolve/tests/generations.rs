//! Tests of all options of three performance_test versions, and of their effects in `perf_test`.
//!
//! Source: performance_test's own parsers have the lists of options on which the tables are based.

use clap::CommandFactory;

use super::*;
use crate::cli::{Cli, legacy};

/// The effect that an option of performance_test has in `perf_test`.
enum Becomes {
    /// The option changes only the run, in this way.
    Run(fn(&mut RunSpec)),
    /// The option changes only the outputs, in this way.
    Outputs(fn(&mut Outputs)),
    /// The option lists the messages.
    List,
    /// The option changes nothing, and the heading of the report has this note.
    Said(&'static str),
    /// The command is refused with this sentence.
    Refused(&'static str),
}

use Becomes::{List, Outputs as Out, Refused, Run, Said};

fn nothing(_: &mut RunSpec) {}

fn mock(run: &mut RunSpec) {
    (run.communicator, run.shared_memory) = ("Mock".to_owned(), false);
    run.capabilities.executors = vec!["single".to_owned()];
    run.settings = [("colour".to_owned(), "blue".to_owned())].into();
}

fn reliable(run: &mut RunSpec) {
    run.qos.reliability = Reliability::Reliable;
}

fn transient(run: &mut RunSpec) {
    run.qos.durability = Durability::TransientLocal;
}

fn intra_thread(run: &mut RunSpec) {
    run.strategy = Strategy::IntraThread;
}

fn main_of_two(run: &mut RunSpec) {
    run.roundtrip = Roundtrip::Main;
}

fn relay(run: &mut RunSpec) {
    run.roundtrip = Roundtrip::Relay;
    (run.publishers, run.subscriptions, run.expected_publishers, run.expected_subscriptions) = (0, 0, 0, 0);
}

fn no_publishers(run: &mut RunSpec) {
    (run.publishers, run.expected_publishers) = (0, 0);
}

fn three_subscriptions(run: &mut RunSpec) {
    (run.subscriptions, run.expected_subscriptions) = (3, 3);
}

fn array4k(run: &mut RunSpec) {
    run.message.name = "Array4k".to_owned();
    run.message.type_name = "performance_test/msg/Array4k".to_owned();
    run.message.bytes = 4096;
}

fn cpus_1_and_3(run: &mut RunSpec) {
    run.rt_cpus = vec![1, 3];
}

fn drive_px(run: &mut RunSpec) {
    (run.rt_priority, run.rt_cpus) = (5, vec![1, 2, 3, 4, 5]);
}

const V2_3_0: &[(&str, Becomes)] = &[
    ("--print-to-console", Out(|_| ())),
    ("-l a.csv", Out(|to| to.csv = Some("a.csv".into()))),
    ("--logfile a.json", Out(|to| to.json = Some("a.json".into()))),
    ("-r 7", Run(|run| run.rate_hz = 7)),
    ("--rate 0", Run(|run| run.rate_hz = 0)),
    ("-c gantry", Run(nothing)),
    ("--communicator Mock", Run(mock)),
    ("-c rclcpp-single-threaded-executor", Refused("tools/contestants --install rclcpp")),
    ("-c rclcpp-static-single-threaded-executor", Refused("StaticSingleThreadedExecutor")),
    ("-c rclcpp-waitset", Refused("ROS 2's rclcpp with its WaitSet")),
    ("-c ApexOSPollingSubscription", Refused("is Apex.OS")),
    ("-c CycloneDDS", Refused("no worker program perf_test_cyclonedds")),
    ("-c CycloneDDS-CXX", Refused("Cyclone DDS by its C++ interface")),
    ("-c FastRTPS", Refused("`FastRTPS` is eProsima's Fast DDS")),
    ("-c iceoryx", Refused("Eclipse iceoryx: tools/contestants --install iceoryx")),
    ("-c Gantry,iceoryx", Refused("this is one run: use perf_test compare middlewares -c Gantry,iceoryx")),
    ("-c OpenDDS", Refused("OpenDDS")),
    ("-c ConnextDDS", Refused("RTI Connext DDS")),
    ("-e INTER_THREAD", Run(|run| run.strategy = Strategy::InterThread)),
    ("--execution-strategy INTRA_THREAD", Run(intra_thread)),
    ("-e APEX_SINGLE_EXECUTOR", Refused("APEX_SINGLE_EXECUTOR is an executor of Apex.OS")),
    ("-e APEX_EXECUTOR_PER_COMMUNICATOR", Refused("INTER_THREAD runs all endpoints on threads of one process")),
    ("-e APEX_CHAIN", Refused("INTRA_THREAD on one thread")),
    ("-t scan", Run(|run| "scan".clone_into(&mut run.topic))),
    ("--topic scan", Run(|run| "scan".clone_into(&mut run.topic))),
    ("-m Array4k", Run(array4k)),
    ("--msg Array4k", Run(array4k)),
    ("--dds-domain-id 7", Run(|run| run.domain_id = 7)),
    ("--reliability RELIABLE", Run(reliable)),
    ("--durability TRANSIENT_LOCAL", Run(transient)),
    ("--history KEEP_ALL", Run(|run| run.qos.history = History::KeepAll)),
    ("--history-depth 3", Run(|run| run.qos.depth = 3)),
    ("--max-runtime 30", Run(|run| run.max_runtime_s = 30)),
    ("-p 0", Run(no_publishers)),
    ("--num-pub-threads 0", Run(no_publishers)),
    ("-s 3", Run(three_subscriptions)),
    ("--num-sub-threads 3", Run(three_subscriptions)),
    ("--check-memory", Run(|run| run.check_memory = true)),
    ("--use-rt-prio 50", Run(|run| run.rt_priority = 50)),
    ("--use-rt-cpus 10", Run(cpus_1_and_3)),
    ("--with-security", Refused("neither signs nor encrypts")),
    ("--roundtrip-mode None", Run(nothing)),
    ("--roundtrip-mode Main", Run(main_of_two)),
    ("--roundtrip-mode Relay", Run(relay)),
    ("--ignore 5", Run(|run| run.ignore_s = 5)),
    ("--expected-num-pubs 0", Run(|run| run.expected_publishers = 0)),
    ("--expected-num-subs 0", Run(|run| run.expected_subscriptions = 0)),
    ("--wait-for-matched-timeout 5", Run(|run| run.match_timeout_s = 5)),
    ("--shared-memory", Said("--shared-memory is always in effect: messages go through shared memory")),
    ("--loaned-samples", Run(|run| run.zero_copy = true)),
    ("--zero-copy", Run(|run| run.zero_copy = true)),
    ("--unbounded-msg-size 9", Refused("Array128 always has 128 bytes")),
    ("--prevent-cpu-idle", Run(|run| run.prevent_cpu_idle = true)),
];

/// The options of version 1.x that have another effect than in the table above.
const V1: &[(&str, Becomes)] = &[
    ("-o stdout", Out(|_| ())),
    ("-o csv --csv-logfile a", Out(|to| (to.console, to.csv) = (false, Some("a".into())))),
    ("--output json --json-logfile a", Out(|to| (to.console, to.json) = (false, Some("a".into())))),
    ("-o none", Out(|to| to.console = false)),
    ("-l log", Out(|to| to.csv = Some("log".into()))),
    ("--csv-logfile log", Out(|to| to.csv = Some("log".into()))),
    ("--json-logfile log", Out(|to| to.json = Some("log".into()))),
    ("--communication Gantry", Run(nothing)),
    ("--communication ROS2", Refused("tools/contestants --install rclcpp")),
    ("-c ECAL_RAW", Refused("eCAL with bytes")),
    ("-c ECAL_PROTO", Refused("eCAL with protobuf")),
    ("-c FastDDS", Refused("eProsima's Fast DDS")),
    ("-c rclcpp-events-executor", Refused("tools/contestants --install rclcpp")),
    ("--msg-list", List),
    ("--dds-domain_id 7", Run(|run| run.domain_id = 7)),
    ("--reliable", Run(reliable)),
    ("--transient", Run(transient)),
    ("--keep-last", Run(nothing)),
    ("--disable-async", Run(nothing)),
    ("--use-single-participant", Said("--use-single-participant is always in effect")),
    ("--disable-logging", Out(|to| to.console = false)),
    ("--db-name results", Refused("--db-name cannot apply: perf_test writes to no database")),
    ("--db-user me", Refused("--db-user cannot apply")),
    ("--db-password secret", Refused("--db-password cannot apply")),
    ("--db-host here", Refused("--db-host cannot apply")),
    ("--db-port 5432", Refused("give --full-logfile FILE")),
];

const FOXY: &[(&str, Becomes)] = &[
    ("-l log --logfile=log", Refused("cannot be used multiple times")),
    ("-c ROS2", Refused("`ROS2` is ROS 2's rclcpp")),
    ("--communication ROS2PollingSubscription", Refused("polling subscriptions")),
    ("-c ConnextDDSMicro", Refused("RTI Connext DDS Micro")),
    ("-t Array1k", Refused("as -t did in performance_test of ROS 2 Foxy: give -m Array1k")),
    ("--topic NavSatFix", Refused("give -m NavSatFix")),
    ("--topic_list", List),
    ("--dds_domain_id 7", Run(|run| run.domain_id = 7)),
    ("--keep_last", Run(nothing)),
    ("--history_depth 3", Run(|run| run.qos.depth = 3)),
    ("--disable_async", Run(nothing)),
    ("--max_runtime 30", Run(|run| run.max_runtime_s = 30)),
    ("--num_pub_threads 0", Run(no_publishers)),
    ("--num_sub_threads 3", Run(three_subscriptions)),
    ("--use_ros_shm", Said("messages go through shared memory")),
    ("--check_memory", Run(|run| run.check_memory = true)),
    ("--use_rt_prio 50", Run(|run| run.rt_priority = 50)),
    ("--use_rt_cpus 10", Run(cpus_1_and_3)),
    ("--use_drive_px_rt", Run(drive_px)),
    ("--use_single_participant", Said("each process is one participant of the domain")),
    ("--no_waitset", Run(|run| run.wait = Wait::Spin)),
    ("--no_micro_intra", Refused("Connext DDS Micro, which perf_test does not have")),
    ("--with_security", Refused("--with-security cannot apply")),
    ("--roundtrip_mode Main", Run(main_of_two)),
    ("--db_name results", Refused("--db-name cannot apply")),
    ("--db_user me", Refused("writes to no database")),
    ("--db_password secret", Refused("writes to no database")),
    ("--db_host here", Refused("writes to no database")),
    ("--db_port 5432", Refused("writes to no database")),
];

#[test]
fn every_option_of_each_generation_has_its_effect_or_says_why_not() {
    let nothing_given = run("").unwrap();
    for (line, becomes) in [V2_3_0, V1, FOXY].into_iter().flatten() {
        let mut expected = nothing_given.clone();
        match becomes {
            Refused(words) => {
                let sentence = refused(line);
                assert!(sentence.contains(words), "{line}: {sentence}");
                continue;
            }
            List => {
                let arguments = ["perf_test", line].map(OsString::from);
                assert!(parse(arguments).unwrap().options.messages.msg_list, "{line}");
                continue;
            }
            Run(change) => {
                change(&mut expected.spec);
                let pace = expected.spec.pace();
                expected.spec.late_above_ns = Threshold::LATE.limit_ns(pace);
                expected.spec.too_late_above_ns = Threshold::TOO_LATE.limit_ns(pace);
            }
            Out(change) => change(&mut expected.outputs),
            Said(words) => {
                let mut found = run(line).unwrap();
                let heading_notes = std::mem::take(&mut found.spec.heading_notes);
                assert!(heading_notes.len() == 1 && heading_notes[0].contains(words), "{line}: {heading_notes:?}");
                assert_eq!(found, expected, "{line}");
                continue;
            }
        }
        assert_eq!(run(line), Ok(expected), "{line}");
    }
}

#[test]
fn help_has_every_option_of_each_generation() {
    let help = Cli::command().render_long_help().to_string();
    for (line, _) in [V2_3_0, V1, FOXY].into_iter().flatten() {
        let option = legacy::spelling::normalise(line.split_whitespace().take(1).map(OsString::from)).remove(0);
        let option = option.to_str().unwrap();
        let there = help.match_indices(option).any(|(at, _)| {
            help[at + option.len()..].starts_with([' ', ',', '\n', ']', ':']) && !help[..at].ends_with('-')
        });
        assert!(there, "{option} is not in\n{help}");
    }
}

#[test]
fn the_guide_has_every_option_as_each_generation_spells_it() {
    let guide = include_str!("../../../../../../docs/guide/coming-from-performance-test.md");
    for (line, _) in [V2_3_0, V1, FOXY].into_iter().flatten() {
        let option = line.split([' ', '=']).next().unwrap();
        let there = guide.match_indices(option).any(|(at, _)| guide[at + option.len()..].starts_with(['`', ' ']));
        assert!(there, "docs/guide/coming-from-performance-test.md does not say what becomes of {option}");
    }
}

#[test]
fn old_scripts_for_relays_may_name_its_two_ends() {
    let relay = unpacked("--roundtrip-mode Relay").0;
    assert_eq!(unpacked("-p 1 -s 1 --roundtrip_mode Relay").0, relay);
    assert_eq!(unpacked("-p 0 -s 0 --roundtrip_mode Relay").0, relay);
}

#[test]
fn a_topic_that_is_called_like_a_message_is_possible() {
    assert_eq!(unpacked("-t Array1k -m Array1k").0.topic, "Array1k");
    // A topic: no version had a message type `range` in lower case.
    assert_eq!(unpacked("-t range").0.topic, "range");
}
