//! The middleware, the numbers of endpoints, the topic and the domain of a run.

use crate::cli::options::EndpointOptions;
use crate::common::topic;
use crate::communicator::Communicator;
use perf_worker::choice::Choice;
use perf_worker::run_spec::Roundtrip;
use perf_worker_gantry::messages;

/// The middleware that `-c` selects.
pub fn communicator(given: Option<&str>) -> Result<Communicator, String> {
    let name = given.unwrap_or("Gantry");
    if name.contains(',') || name.eq_ignore_ascii_case("all") {
        return Err(format!(
            "-c {name} names several contestants and this is one run: use perf_test compare middlewares -c {name}"
        ));
    }
    Communicator::find(name)
}

/// The round-trip mode and the numbers of publishers and subscriptions.
pub fn counts(options: &EndpointOptions) -> Result<(Roundtrip, u32, u32), String> {
    let (publishers, subscriptions) = (options.num_pub_threads, options.num_sub_threads);
    let roundtrip = options.roundtrip_mode.unwrap_or_default();
    let given = |option: &str, count: Option<u32>| count.map_or(String::new(), |count| format!(" {option} {count}"));
    let leave_out = format!("leave out{}{}", given("-p", publishers), given("-s", subscriptions));
    match roundtrip {
        Roundtrip::None => Ok((roundtrip, publishers.unwrap_or(1), subscriptions.unwrap_or(1))),
        // performance_test requires `-p 1 -s 1` or neither option for a relay, so both are accepted here.
        Roundtrip::Relay
            if publishers.is_none_or(|count| count <= 1) && subscriptions.is_none_or(|count| count <= 1) =>
        {
            Ok((roundtrip, 0, 0))
        }
        Roundtrip::Relay => Err(format!(
            "--roundtrip-mode Relay only sends messages back and has no publishers of its own: {leave_out}"
        )),
        Roundtrip::Main | Roundtrip::Both if publishers.unwrap_or(1) == 1 && subscriptions.unwrap_or(1) == 1 => {
            Ok((roundtrip, 1, 1))
        }
        // Each client publishes requests and subscribes to their responses, so -p and -s must be equal.
        Roundtrip::Service => {
            let clients = publishers.or(subscriptions).unwrap_or(1);
            if clients == 0 || subscriptions.is_some_and(|count| count != clients) {
                return Err("--roundtrip-mode Service has clients, and each sends requests and takes its responses: give their number \
                            with -p, at least 1, and leave out -s"
                    .to_owned());
            }
            Ok((roundtrip, clients, clients))
        }
        Roundtrip::Main | Roundtrip::Both => {
            let mode = roundtrip.name();
            Err(format!("--roundtrip-mode {mode} has exactly one publisher and one subscription: {leave_out}"))
        }
    }
}

/// The topic of the run. `message_given` is true if the user also gave `-m`.
pub fn topic(options: &EndpointOptions, message_given: bool) -> Result<String, String> {
    let topic = options.topic.as_deref().unwrap_or("test_topic");
    if !message_given && messages::is_message(topic) {
        return Err(format!(
            "-t {topic} names a message type, as -t did in performance_test of ROS 2 Foxy: give -m {topic}. If the topic really has \
             this name, add -m"
        ));
    }
    topic::check(topic)?;
    Ok(topic.to_owned())
}

/// The ROS 2 domain ID of the run.
pub fn domain_id(given: Option<u32>) -> Result<u32, String> {
    if let Some(id) = given {
        return Ok(id);
    }
    let Some(text) = std::env::var_os("ROS_DOMAIN_ID").filter(|text| !text.is_empty()) else {
        return Ok(0);
    };
    text.to_str()
        .and_then(|text| text.trim().parse().ok())
        .filter(|id| *id <= 232)
        .ok_or_else(|| format!("ROS_DOMAIN_ID is {text:?}: it must be a number from 0 to 232, or give --dds-domain-id"))
}
