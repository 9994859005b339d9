//! The publishers, subscriptions, clients and servers of a node, in the schema of iRobot's topology files.
//!
//! Two keys extend iRobot's schema. `triggered_by` replaces the rate of a publisher: the publisher publishes when each
//! listed topic has had a message since its last publication. `work_us` is the CPU time of a callback.

use serde_json::value::RawValue;

use super::{
    node_name::NodeName,
    object::{Object, at},
    process::{Client, NodeQos, Payload, Publisher, Server, Subscription, Trigger},
    qos,
};
use perf_worker::{
    pacing::Pace,
    run_spec::{Layout, PassBy},
};
use perf_worker_gantry::messages::{self, MAX_UNBOUNDED_BYTES};

const FREQUENCY: &str = "freq_hz";
const PERIOD: &str = "period_ms";
const TRIGGERS: &str = "triggered_by";
const WORK: &str = "work_us";
const SIZE: &str = "msg_size";
const PASS_BY: &str = "msg_pass_by";
const TOPIC: &str = "topic_name";
const MESSAGE: &str = "msg_type";
const SERVICE: &str = "service_name";
const SERVICE_TYPE: &str = "srv_type";

const PUBLISHER_KEYS: &[&str] = &[TOPIC, MESSAGE, FREQUENCY, PERIOD, TRIGGERS, WORK, SIZE, PASS_BY];
const SUBSCRIPTION_KEYS: &[&str] = &[TOPIC, MESSAGE, WORK, PASS_BY];
const CLIENT_KEYS: &[&str] = &[SERVICE, SERVICE_TYPE, FREQUENCY, PERIOD];
const SERVER_KEYS: &[&str] = &[SERVICE, SERVICE_TYPE, WORK];

/// The longest allowed CPU time of a callback: ten seconds.
const MAX_WORK_US: u32 = 10_000_000;

/// The allowed values of `msg_pass_by`.
const PASS_BY_VALUES: [(&str, PassBy); 3] =
    [("unique_ptr", PassBy::UniquePtr), ("shared_ptr", PassBy::SharedPtr), ("loaned_msg", PassBy::LoanedMsg)];

/// The layout of the messages. iRobot's messages are the same in both layouts.
const LAYOUT: Layout = Layout::V2;

const MICROSECOND_NS: i64 = 1000;
/// The longest allowed period: one day.
const MAX_PERIOD_US: f64 = 86_400e6;
/// A period this close below a whole number of microseconds is rounded up. The difference comes from the binary
/// representation of fractions.
const ROUNDING_US: f64 = 1e-6;

/// Reads the endpoints of one node from JSON.
#[derive(Debug)]
pub struct Reader<'a> {
    /// The names of the node.
    pub node: &'a NodeName,
    /// The name of the file, for errors and notes.
    pub file: &'a str,
    /// Sentences about keys without effect. The reader adds to them.
    pub notes: &'a mut Vec<String>,
}

impl Reader<'_> {
    /// Reads an element of the list `publishers`.
    ///
    /// # Errors
    /// The reason, as a sentence that starts with the path of the wrong value in the file.
    pub fn publisher(&mut self, place: String, value: &RawValue) -> Result<Publisher, String> {
        let object = Object::read(place, value, &[PUBLISHER_KEYS, qos::KEYS])?;
        let topic = self.name(&object, TOPIC)?;
        let size_bytes = object.whole(SIZE, 0..=MAX_UNBOUNDED_BYTES)?;
        let payload = payload(&object, MESSAGE, size_bytes.unwrap_or(0))?;
        if let Some(size_bytes) = size_bytes.filter(|size_bytes| u64::from(*size_bytes) != payload.payload_bytes) {
            let (name, bytes) = (&payload.message.name, payload.payload_bytes);
            let sentence = format!("{size_bytes} has no effect: {name} always has a payload of {bytes} bytes");
            self.note(&object, SIZE, &sentence);
        }
        Ok(Publisher {
            topic,
            payload,
            trigger: self.trigger(&object)?,
            work_us: work_us(&object)?,
            // The rate is computed when all files have been read, because triggering topics may be in other files.
            rate_hz: 0.0,
            pass_by: object.choice(PASS_BY, &PASS_BY_VALUES)?.unwrap_or(PassBy::UniquePtr),
            qos: self.qos(&object)?,
            place: self.place(&object),
        })
    }

    /// Reads an element of the list `subscribers`.
    pub fn subscription(&mut self, place: String, value: &RawValue) -> Result<Subscription, String> {
        let object = Object::read(place, value, &[SUBSCRIPTION_KEYS, qos::KEYS])?;
        let mut pass_by = object.choice(PASS_BY, &PASS_BY_VALUES)?.unwrap_or(PassBy::SharedPtr);
        if pass_by == PassBy::LoanedMsg {
            // `shared_ptr` replaces `loaned_msg` in a subscription, with a note. iRobot's tool does the same.
            self.note(&object, PASS_BY, "a subscription has no `loaned_msg`, and this one has `shared_ptr`");
            pass_by = PassBy::SharedPtr;
        }
        Ok(Subscription {
            topic: self.name(&object, TOPIC)?,
            payload: payload(&object, MESSAGE, 0)?,
            work_us: work_us(&object)?,
            pass_by,
            qos: self.qos(&object)?,
            place: self.place(&object),
        })
    }

    /// Reads an element of the list `clients`.
    pub fn client(&mut self, place: String, value: &RawValue) -> Result<Client, String> {
        let object = Object::read(place, value, &[CLIENT_KEYS, qos::KEYS])?;
        let pace = pace(&object)?.ok_or_else(|| no_rate(&object, ""))?;
        Ok(Client {
            service: self.name(&object, SERVICE)?,
            payload: payload(&object, SERVICE_TYPE, 0)?,
            pace,
            qos: self.qos(&object)?,
            place: self.place(&object),
        })
    }

    /// Reads an element of the list `servers`.
    pub fn server(&mut self, place: String, value: &RawValue) -> Result<Server, String> {
        let object = Object::read(place, value, &[SERVER_KEYS, qos::KEYS])?;
        Ok(Server {
            service: self.name(&object, SERVICE)?,
            payload: payload(&object, SERVICE_TYPE, 0)?,
            work_us: work_us(&object)?,
            qos: self.qos(&object)?,
            place: self.place(&object),
        })
    }

    fn qos(&mut self, object: &Object<'_>) -> Result<NodeQos, String> {
        for key in qos::CHOICES {
            if object.text(key)?.as_deref() == Some(qos::UNKNOWN) {
                self.note(object, key, "`unknown` is taken as `system_default`");
            }
        }
        qos::read(object)
    }

    /// Reads the name of a topic or service. Returns the full name.
    fn name(&self, object: &Object<'_>, key: &str) -> Result<String, String> {
        let name = object.text(key)?.ok_or_else(|| object.missing(key))?;
        self.node.expand(&name).map_err(|sentence| object.problem(key, &sentence))
    }

    fn trigger(&self, object: &Object<'_>) -> Result<Trigger, String> {
        match (pace(object)?, object.has(TRIGGERS)) {
            (Some(pace), false) => Ok(Trigger::Timer(pace)),
            (None, true) => topics(object, TRIGGERS, |topic| self.node.expand(topic)).map(Trigger::Topics),
            (None, false) => Err(no_rate(object, ", or `triggered_by` with the topics on whose messages it publishes")),
            (Some(_), true) => Err(object.problem(TRIGGERS, "the publisher has a rate, too: remove one of them")),
        }
    }

    fn place(&self, object: &Object<'_>) -> String {
        format!("{}: {}", self.file, object.place)
    }

    /// Adds a note once: the copies of a node cause the same note.
    fn note(&mut self, object: &Object<'_>, key: &str, sentence: &str) {
        let note = format!("{}: {}", self.file, object.problem(key, sentence));
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// Reads a list of topics. `expand` converts each name to a full name.
///
/// # Errors
/// The reason, as a sentence: the list is empty, or a topic occurs twice.
pub fn topics(
    object: &Object<'_>,
    key: &str,
    expand: impl Fn(&str) -> Result<String, String>,
) -> Result<Vec<String>, String> {
    let mut topics = Vec::new();
    for (place, value) in object.list(key)? {
        let topic: String =
            serde_json::from_str(value.get()).map_err(|_| at(&place, "it must be the name of a topic"))?;
        let topic = expand(&topic).map_err(|sentence| at(&place, &sentence))?;
        if topics.contains(&topic) {
            return Err(at(&place, "the topic is given twice: remove one"));
        }
        topics.push(topic);
    }
    if topics.is_empty() {
        return Err(object.problem(key, "there is no topic: give at least one"));
    }
    Ok(topics)
}

fn work_us(object: &Object<'_>) -> Result<u32, String> {
    Ok(object.whole(WORK, 0..=MAX_WORK_US)?.unwrap_or(0))
}

/// The message type and the payload size of a topic or service. For a service, the requests and the responses both have
/// the message type that is named like the service type.
fn payload(object: &Object<'_>, key: &str, size_bytes: u32) -> Result<Payload, String> {
    let name = object.text(key)?.ok_or_else(|| object.missing(key))?;
    let found =
        messages::find(&name, LAYOUT, size_bytes as usize).map_err(|sentence| object.problem(key, &sentence))?;
    let (unbounded_bytes, payload_bytes) = match found.payload_bytes {
        _ if found.content.is_unbounded() => (size_bytes, size_bytes as usize),
        // A message that consists only of plain fields counts as payload as a whole.
        0 => (0, found.bytes),
        payload_bytes => (0, payload_bytes),
    };
    let payload_bytes = payload_bytes as u64;
    Ok(Payload { message: found.spec(LAYOUT, unbounded_bytes), payload_bytes })
}

/// The pace of a timer, from `freq_hz` or `period_ms`. As in iRobot's tool, the period is truncated to whole
/// microseconds.
fn pace(object: &Object<'_>) -> Result<Option<Pace>, String> {
    let of_period_us = |key: &str, what: &str, period_us: f64| {
        // This range check also excludes an infinite period (a frequency of 0).
        if !(1.0..=MAX_PERIOD_US).contains(&period_us) {
            return Err(object.wrong(key, &format!("{what} from a microsecond to a day")));
        }
        Ok(Some(Pace { messages: 1, per_ns: (period_us + ROUNDING_US) as i64 * MICROSECOND_NS }))
    };
    // The frequency takes precedence if both keys are given, as in iRobot's tool.
    match (object.number(FREQUENCY)?, object.number(PERIOD)?) {
        (Some(frequency_hz), _) => of_period_us(FREQUENCY, "a frequency with a period", 1e6 / frequency_hz),
        (None, Some(period_ms)) => of_period_us(PERIOD, "a period", period_ms * 1e3),
        (None, None) => Ok(None),
    }
}

fn no_rate(object: &Object<'_>, alternative: &str) -> String {
    at(&object.place, &format!("it has no rate: give `freq_hz` or `period_ms`{alternative}"))
}
