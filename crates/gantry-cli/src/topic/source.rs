//! The messages of a topic of any type. The command waits for a publisher, and then subscribes with the publisher's
//! type and QoS.

use crate::{
    domain::Domain,
    names,
    qos::{Profile, QosOptions},
};
use gantry::{Durability, GenericSample, GenericSubscription, Nth, Qos, Reliability, TopicEndpointInfo, is_logged};
use gantry_command::{Failure, Output, Result, message::TopicType, say};
use serde::Serialize;
use std::{
    fmt::Display,
    time::{Duration, Instant},
};

/// The time between two reports.
const REPORT: Duration = Duration::from_secs(1);

/// A subscription to a topic whose type and QoS were found in the graph.
pub struct Source {
    pub topic: String,
    pub topic_type: TopicType,
    subscription: GenericSubscription,
    /// The time at which the command ends; `None` if it runs until Ctrl-C.
    end: Option<Instant>,
    /// The already printed reasons why publishers are not matched.
    said: Vec<String>,
}

impl Source {
    /// Subscribes to a topic as soon as it has a publisher, and prints on standard error that it waits. Returns `None`
    /// if the command ends earlier.
    ///
    /// # Errors
    /// The publishers have different types, or publish another type than `type_name`.
    pub fn open(
        domain: &Domain,
        name: &str,
        type_name: Option<&str>,
        options: &QosOptions,
        timeout: Option<Duration>,
    ) -> Result<Option<Source>> {
        let topic = domain.node.resolve_topic_name(name)?;
        let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut is_first = true;
        loop {
            let mut types = domain.node.topic_types(&topic)?;
            if let Some(name) = type_name.map(|name| names::long_type(name, "msg"))
                && !types.is_empty()
            {
                let published = types.iter().map(|found| found.name.as_str()).collect::<Vec<_>>().join(", ");
                types.retain(|found| found.name == name);
                if types.is_empty() {
                    return Err(format!("{topic} is published as {published}, not as {name}").into());
                }
            }
            match (types.pop(), &types[..]) {
                (Some(description), []) => {
                    let topic_type = TopicType::new(&description)?;
                    let qos = options.qos_for(&domain.node.publishers_info_by_topic(&topic)?);
                    let mut subscription = domain.node.create_generic_subscription(&topic, description, qos)?;
                    subscription.set_busy_wait(false);
                    return Ok(Some(Source { topic, topic_type, subscription, end, said: Vec::new() }));
                }
                (Some(last), others) => {
                    let mut names: Vec<&str> = others.iter().chain([&last]).map(|found| found.name.as_str()).collect();
                    names.dedup();
                    return Err(Failure::new(match &names[..] {
                        [name] => format!(
                            "the publishers of {topic} have different definitions of {name}; build all with the same one"
                        ),
                        names => format!("the publishers of {topic} do not agree on its type: {}", names.join(", ")),
                    }));
                }
                (None, _) if std::mem::take(&mut is_first) => say(not_published(domain, &topic)?),
                (None, _) => match remaining(end) {
                    Some(left) => drop(domain.node.wait_for_graph_change(left)?),
                    None => return Ok(None),
                },
            }
        }
    }

    /// Waits for the next message, at most until `until`. Returns `None` at that time or at the end of the command.
    pub fn next(&mut self, until: Option<Instant>) -> Result<Option<GenericSample>> {
        loop {
            if let Some(sample) = self.subscription.take()? {
                return Ok(Some(sample));
            }
            let end = [self.end, until].into_iter().flatten().min();
            let Some(left) = remaining(end) else { return Ok(None) };
            // The wait above returns an error if no publisher can be matched, so no report is needed here.
            if self.subscription.publisher_count()? > 0 {
                self.say_mismatches();
            }
            self.subscription.wait(left)?;
        }
    }

    /// Prints the reason once for each publisher that is not matched.
    fn say_mismatches(&mut self) {
        for why in self.subscription.mismatches() {
            if !self.said.contains(&why) {
                say(format_args!("WARNING: {why}"));
                self.said.push(why);
            }
        }
    }

    /// Counts a message that could not be read. Prints a report for the first, the tenth, the hundredth such
    /// message, and so on.
    pub fn pass_over(&mut self, sample: &GenericSample, malformed: &Failure) {
        self.subscription.skip_malformed(sample, malformed);
        let count = self.subscription.malformed();
        if is_logged(count) {
            say(format_args!("{malformed}{}", Nth(count)));
        }
    }

    /// Takes messages until the command ends, and adds each message to `window`. Each second, prints the report of
    /// `window`, if there is one. Times are counted from the call of this function. A message that `add` cannot read is
    /// skipped.
    pub fn report_each_second<W, R: Display + Serialize>(
        &mut self,
        output: Output,
        mut window: W,
        add: impl Fn(&mut W, &TopicType, &GenericSample, Duration) -> Result<()>,
        report: impl Fn(&mut W, Duration) -> Option<R>,
    ) -> Result<()> {
        let start = Instant::now();
        let mut due = start + REPORT;
        while remaining(self.end).is_some() {
            while let Some(sample) = self.next(Some(due))? {
                if let Err(malformed) = add(&mut window, &self.topic_type, &sample, start.elapsed()) {
                    self.pass_over(&sample, &malformed);
                }
                if Instant::now() >= due {
                    break;
                }
            }
            due += REPORT;
            if let Some(report) = report(&mut window, start.elapsed()) {
                output.print(&report)?;
            }
        }
        Ok(())
    }

    /// The number of messages that left the history before they were taken, or whose bytes were malformed.
    pub fn lost(&self) -> u64 {
        self.subscription.lost()
    }

    /// The error of a command that ended without a message.
    pub fn nothing_came(&mut self, seconds: f64) -> Failure {
        let count = self.subscription.publisher_count().unwrap_or(0);
        let mut mismatches = self.subscription.mismatches();
        mismatches.retain(|why| !self.said.contains(why));
        let why = match (self.subscription.malformed(), &mismatches[..]) {
            (0, []) => format!("it has {count} matched publishers, which published nothing new"),
            (0, mismatches) => mismatches.join("; "),
            (1, _) => "1 malformed message came".to_owned(),
            (malformed, _) => format!("{malformed} malformed messages came"),
        };
        Failure::new(format!("no message came on {} within {seconds} s: {why}", self.topic))
    }
}

/// The error of a command that ended before the topic had a publisher.
pub fn never_published(domain: &Domain, name: &str, timeout: Duration) -> Result<Failure> {
    let topic = domain.node.resolve_topic_name(name)?;
    Ok(Failure::new(format!("{topic} had no publisher within {} s", timeout.as_secs_f64())))
}

/// The time until `end`; `None` if it has passed or the program shuts down. Without an end, the result is one day,
/// after which callers call again.
fn remaining(end: Option<Instant>) -> Option<Duration> {
    let left = end.map_or(Duration::from_secs(86_400), |end| end.saturating_duration_since(Instant::now()));
    (gantry::ok() && !left.is_zero()).then_some(left)
}

/// The remark about a topic without a publisher. It also names similar topics, and other subscriptions to the topic.
fn not_published(domain: &Domain, topic: &str) -> Result<String> {
    let mut remark = format!("WARNING: topic [{topic}] does not appear to be published yet");
    let subscriptions = domain.node.subscriptions_info_by_topic(topic)?;
    if let [first, ..] = &subscriptions[..] {
        let name = first.node_fully_qualified_name();
        let more = match subscriptions.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        remark.push_str(&format!("; {name}{more} subscribed to it"));
    } else {
        remark.push_str(&domain.topic_hint(topic)?);
    }
    Ok(remark)
}

impl QosOptions {
    /// The QoS of a subscription to these publishers. As in `ros2 topic echo`, a policy that no option sets gets
    /// the value that all publishers offer.
    fn qos_for(&self, publishers: &[TopicEndpointInfo]) -> Qos {
        let mut qos = self.qos(Profile::SensorData);
        if self.qos_profile.is_some() || publishers.is_empty() {
            return qos;
        }
        let offers = |is: fn(&Qos) -> bool| publishers.iter().any(|end| is(&end.qos_profile));
        let some = |policy: &str, fallback: &str| {
            say(format_args!(
                "Some, but not all, publishers are offering {policy}. Falling back to {fallback} as it will connect to all \
                 publishers"
            ));
        };
        let best = qos.best_offered_by(publishers.iter().map(|end| end.qos_profile));
        if self.qos_reliability.is_none() {
            qos.reliability = best.reliability;
            if best.reliability == Reliability::BestEffort && offers(|qos| qos.reliability == Reliability::Reliable) {
                some("RELIABLE", "BEST_EFFORT");
            }
        }
        if self.qos_durability.is_none() {
            qos.durability = best.durability;
            if best.durability == Durability::Volatile && offers(|qos| qos.durability == Durability::TransientLocal) {
                some("TRANSIENT_LOCAL", "VOLATILE");
            }
        }
        qos
    }
}
