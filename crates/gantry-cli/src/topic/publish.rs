//! `gantry topic pub`.

use crate::{
    domain::Domain,
    known_types::KnownTypes,
    names,
    number::{positive_rate, positive_seconds},
    qos::{Profile, QosOptions},
    session::Session,
};
use clap::Args;
use gantry::{Connection, ConnectionState, GenericPublisher, TypeDescription};
use gantry_command::{
    Failure, Result,
    message::{Repr, TopicType},
    say,
};
use gantry_dynamic::Value;
use std::time::{Duration, Instant};

#[derive(Debug, Args)]
pub struct Arguments {
    /// The topic, such as /chatter
    topic_name: String,
    /// The type, such as std_msgs/msg/String: a standard type, or a type that a program of the domain uses
    message_type: String,
    /// The values in YAML, such as "data: Hello World"; other fields have their defaults
    #[arg(default_value = "{}", conflicts_with = "stdin")]
    values: String,
    /// Read the values from standard input
    #[arg(long)]
    stdin: bool,
    /// Messages per second, 0.000001 to 1000000000
    #[arg(short, long, value_name = "N", default_value_t = 1.0, allow_negative_numbers = true, value_parser = positive_rate)]
    rate: f64,
    /// Print only every Nth message
    #[arg(short, long, value_name = "N", default_value_t = 1)]
    print: u64,
    /// Publish one message and end
    #[arg(short = '1', long, conflicts_with = "times")]
    once: bool,
    /// Publish N messages and end
    #[arg(short, long, value_name = "N")]
    times: Option<u64>,
    /// First wait for N matched subscriptions [default: 1 with --once or --times, otherwise 0]
    #[arg(short, long, value_name = "N")]
    wait_matching_subscriptions: Option<usize>,
    /// Wait at most N seconds for the subscriptions [default: no limit]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = positive_seconds)]
    max_wait_time_secs: Option<Duration>,
    /// Keep the publisher for N seconds after the last message
    #[arg(long, value_name = "N", default_value = "0.1", allow_negative_numbers = true, value_parser = positive_seconds)]
    keep_alive: Duration,
    #[command(flatten)]
    qos: QosOptions,
}

impl Arguments {
    pub fn run(self, session: Session) -> Result<()> {
        let domain = session.join()?;
        let topic = domain.node.resolve_topic_name(&self.topic_name)?;
        let description = type_named(&domain, &topic, &names::long_type(&self.message_type, "msg"))?;
        let topic_type = TopicType::new(&description)?;
        let values = match self.stdin {
            true => std::io::read_to_string(std::io::stdin()).map_err(Failure::new)?,
            false => self.values.clone(),
        };
        topic_type.encode(&values)?; // fails on wrong values before anything is published
        let qos = self.qos.qos(Profile::Default);
        let mut publisher = domain.node.create_generic_publisher(&topic, description, qos)?;
        let times = if self.once { Some(1) } else { self.times };
        let count = self.wait_matching_subscriptions.unwrap_or(times.is_some().into());
        match mismatches(&domain, &publisher)? {
            Some(why) if count > 0 => return Err(why.into()),
            Some(why) => say(format_args!("WARNING: {why}")),
            None => {}
        }
        if !self.wait_for_subscriptions(session, &domain, &mut publisher, count)? {
            return Ok(());
        }
        session.output.remark("publisher: beginning loop")?;
        let (period, mut due) = (Duration::from_secs_f64(1.0 / self.rate), Instant::now());
        for number in 1..=times.unwrap_or(u64::MAX) {
            if !domain.sleep_until(due)? {
                return Ok(());
            }
            // The message is encoded anew each time, because a stamp `now` is the time of its publication.
            let bytes = topic_type.encode(&values)?;
            if self.print > 0 && number % self.print == 0 {
                let message = Repr(Value::Message(topic_type.view(&bytes)?));
                session.output.remark(&format!("publishing #{number}: {message}\n"))?;
            }
            publisher.publish_copy(&bytes)?;
            due += period;
        }
        domain.sleep_until(Instant::now() + self.keep_alive)?;
        Ok(())
    }

    /// Waits for matched subscriptions; `false` if the program shuts down.
    ///
    /// # Errors
    /// The time limit has passed: there are subscriptions, but too few of them can be matched.
    fn wait_for_subscriptions(
        &self,
        session: Session,
        domain: &Domain,
        publisher: &mut GenericPublisher,
        count: usize,
    ) -> Result<bool> {
        let (start, mut is_first) = (Instant::now(), true);
        while gantry::ok() && publisher.subscription_count()? < count {
            let mut pairs = domain.node.explain(publisher.topic())?;
            pairs.retain(|pair| pair.publisher.endpoint_gid == publisher.gid());
            let mismatches: Vec<&str> = pairs.iter().filter_map(mismatch).collect();
            if !mismatches.is_empty() && pairs.len() - mismatches.len() < count {
                return Err(mismatches.join("; ").into());
            }
            let second = Duration::from_secs(1);
            let left = self.max_wait_time_secs.map_or(second, |most| most.saturating_sub(start.elapsed()));
            if left.is_zero() {
                let found = publisher.subscription_count()?;
                return Err(format!(
                    "Timed out waiting for subscribers: Expected {count} subscribers but only got {found} subscribers"
                )
                .into());
            }
            if std::mem::take(&mut is_first) && pairs.is_empty() {
                let topic = publisher.topic();
                let hint = domain.topic_hint(topic)?;
                say(format_args!("WARNING: topic [{topic}] has no subscription yet{hint}"));
            }
            session.output.remark(&format!("Waiting for at least {count} matching subscription(s)..."))?;
            // A subscription of another type makes this call fail. The next iteration of the loop reports it as an
            // error.
            let _ = publisher.wait_for_subscriptions(count, left.min(second));
        }
        Ok(gantry::ok())
    }
}

/// The reason why no endpoint of the topic can be matched with the publisher: the subscriptions have another type
/// or QoS or, if there are no subscriptions, the other publishers have another type. `None` if an endpoint can be
/// matched, or if the topic has no endpoints.
fn mismatches(domain: &Domain, publisher: &GenericPublisher) -> Result<Option<String>> {
    let topic = publisher.topic();
    let mut pairs = domain.node.explain(topic)?;
    pairs.retain(|pair| pair.publisher.endpoint_gid == publisher.gid());
    let whys: Vec<&str> = pairs.iter().filter_map(mismatch).collect();
    if !pairs.is_empty() {
        return Ok((whys.len() == pairs.len()).then(|| whys.join("; ")));
    }
    let (own, others): (Vec<_>, Vec<_>) = domain
        .node
        .publishers_info_by_topic(topic)?
        .into_iter()
        .partition(|other| other.endpoint_gid == publisher.gid());
    let Some((own, first)) = own.first().zip(others.first()) else { return Ok(None) };
    if others.iter().any(|other| other.topic_type == own.topic_type) {
        return Ok(None);
    }
    let (node, theirs, ours) = (first.node_and_process(), &first.topic_type, &own.topic_type);
    Ok(Some(format!(
        "topic {topic}: {node} publishes {theirs}, and this command {ours}, which no subscription to {theirs} can take; give \
         {theirs} or another topic"
    )))
}

/// The reason why this pair can never be matched; `None` if it is matched or may be matched later.
fn mismatch(pair: &Connection) -> Option<&str> {
    match &pair.state {
        ConnectionState::IncompatibleType(why) | ConnectionState::IncompatibleQos(why) => Some(why),
        _ => None,
    }
}

/// The type with this name: from an endpoint of the topic, from the standard types, or from any other endpoint.
fn type_named(domain: &Domain, topic: &str, name: &str) -> Result<TypeDescription> {
    let mut types = domain.endpoints(Some(topic))?.into_iter().map(|endpoint| endpoint.message_type);
    if let Some(found) = types.find(|description| description.name == name) {
        return Ok(found);
    }
    let known = KnownTypes::new(domain)?;
    known.get(name).cloned().ok_or_else(|| known.unknown("The passed message type is invalid", name))
}
