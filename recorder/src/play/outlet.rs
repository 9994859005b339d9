//! Outlets: the publishers for the topics of a bag.

use crate::{
    describe::{ENCODING, message_type, qos_profiles},
    read::type_name,
    topics::lock,
};
use gantry::{
    Durability, ENCAPSULATION, GenericLoan, GenericPublisher, History, Node, PublisherOptions, Qos, Reliability,
};
use gantry_command::{Result, is_native, say};
use gantry_shm::shared_memory_directory;
use mcap::Channel;
use rustix::fs::statvfs;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

/// The size in bytes from which on a message that is read ahead is copied into its slot before it is due.
const MIN_LOANED_BYTES: usize = 16 << 10;
/// The shared memory of a publisher in bytes from which on no slots are loaned before messages are due, because at its
/// memory limit (1 GiB or more) a publisher gives up its oldest messages for a loan. It does so, too, if the file
/// system is full: see [`is_half_free`].
const MAX_PUBLISHER_BYTES: usize = 512 << 20;

/// The publishers of all topics.
#[derive(Default)]
pub struct Outlets {
    all: Vec<Outlet>,
    /// The index of each channel's outlet. The key is the number of the file and the id of the channel in that file.
    by_channel: HashMap<(usize, u16), usize>,
    /// The index of the outlet for each topic name and type; `None` if its messages cannot be played.
    by_type: HashMap<(String, String), Option<usize>>,
    /// The index of the outlet for each topic name in the bag.
    by_topic: BTreeMap<String, usize>,
}

/// The publisher for a topic of the bag.
pub struct Outlet {
    /// The publisher. The reading thread loans slots, and the player publishes.
    publisher: Mutex<GenericPublisher>,
    is_latched: bool,
    /// The number of messages that were not published.
    skipped: AtomicU64,
}

/// The data of a message that is read ahead.
pub enum Data {
    /// The data in the slot in which they are published.
    Loaned(GenericLoan),
    /// The data with their encapsulation header. They are copied into shared memory when the message is due.
    Copied(Vec<u8>),
}

impl Outlets {
    /// Adds a channel of a file. Its messages will be published on the topic `topic`.
    ///
    /// # Errors
    /// There is no room in shared memory.
    pub fn add(&mut self, node: &Node, topic: &str, (file, channel): (usize, &Arc<Channel<'static>>)) -> Result<()> {
        let key = (topic.to_owned(), type_name(channel).to_owned());
        let number = match self.by_type.get(&key) {
            Some(number) => *number,
            None => {
                let outlet = Outlet::new(node, topic, channel)?;
                let number = outlet.is_some().then_some(self.all.len());
                self.all.extend(outlet);
                self.by_type.insert(key, number);
                number
            }
        };
        if let Some(number) = number {
            self.by_channel.insert((file, channel.id), number);
            self.by_topic.insert(channel.topic.clone(), number);
        }
        Ok(())
    }

    /// Whether nothing is to be played.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// All outlets.
    pub fn all(&mut self) -> &mut [Outlet] {
        &mut self.all
    }

    /// The outlet of a channel.
    #[must_use]
    pub fn get(&self, file: usize, channel_id: u16) -> Option<&Outlet> {
        self.by_channel.get(&(file, channel_id)).and_then(|number| self.all.get(*number))
    }

    /// Two sets: the topics of the bag that are played, and the latched ones among them (TRANSIENT_LOCAL).
    #[must_use]
    pub fn topics(&self) -> (BTreeSet<String>, BTreeSet<String>) {
        let is_latched = |number: &usize| self.all.get(*number).is_some_and(|outlet| outlet.is_latched);
        let latched = self.by_topic.iter().filter(|(_, number)| is_latched(number));
        (self.by_topic.keys().cloned().collect(), latched.map(|(topic, _)| topic.clone()).collect())
    }

    /// The number of messages that were not published.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.all.iter().map(|outlet| outlet.skipped.load(Relaxed)).sum()
    }
}

impl Outlet {
    /// Creates the publisher for a channel, on the topic `topic`. If the channel's messages are not ROS 2 messages,
    /// prints a warning and returns `None`.
    ///
    /// # Errors
    /// There is no room in shared memory.
    pub fn new(node: &Node, topic: &str, channel: &Channel<'_>) -> Result<Option<Outlet>> {
        let of_type = message_type(channel);
        if channel.message_encoding != ENCODING || of_type.name.is_empty() {
            let (encoding, of_type) = (&channel.message_encoding, type_name(channel));
            say(format_args!("{topic} is not played: its messages are {encoding} of the type '{of_type}', not CDR"));
            return Ok(None);
        }
        let avoid_ros_namespace_conventions = is_native(node, topic);
        let qos = Qos { avoid_ros_namespace_conventions, ..offer(&qos_profiles(channel)) };
        let options = PublisherOptions { loses_oldest_at_limit: true, ..PublisherOptions::default() };
        let publisher = node.create_generic_publisher_with_options(topic, of_type, qos, options)?;
        let is_latched = qos.durability == Durability::TransientLocal;
        Ok(Some(Outlet { publisher: Mutex::new(publisher), is_latched, skipped: AtomicU64::new(0) }))
    }

    /// Reads a message ahead: a large message is copied into the slot in which it will be published, if there is room.
    /// `data` begins with the encapsulation header.
    pub fn read_ahead(&self, data: &[u8]) -> Data {
        let body = data.strip_prefix(&ENCAPSULATION).filter(|body| body.len() >= MIN_LOANED_BYTES);
        match body.and_then(|body| self.loan(body.len()).map(|loan| (loan, body))) {
            Some((mut loan, body)) => {
                loan.bytes_mut().copy_from_slice(body);
                Data::Loaned(loan)
            }
            None => Data::Copied(data.to_vec()),
        }
    }

    fn loan(&self, length_bytes: usize) -> Option<GenericLoan> {
        let mut publisher = lock(&self.publisher);
        let has_room = publisher.memory_bytes() + length_bytes <= MAX_PUBLISHER_BYTES && is_half_free();
        has_room.then(|| publisher.loan(length_bytes).ok()).flatten()
    }

    /// Publishes a message that was read ahead, with the result of [`Outlet::publish`].
    pub fn publish_next(&self, data: Data) -> bool {
        match data {
            Data::Loaned(loan) => {
                let result = lock(&self.publisher).publish(loan);
                self.count(result.map(drop).map_err(|error| error.to_string()))
            }
            Data::Copied(data) => self.publish(&data),
        }
    }

    /// Publishes a message. `data` begins with the encapsulation header. A message that cannot be published is counted,
    /// and the first one causes a warning. Returns whether the message was published.
    pub fn publish(&self, data: &[u8]) -> bool {
        self.count(match data.strip_prefix(&ENCAPSULATION) {
            Some(body) => lock(&self.publisher).publish_copy(body).map(drop).map_err(|error| error.to_string()),
            None => Err("a message is not little-endian CDR".to_owned()),
        })
    }

    /// Returns whether a message was published; counts it if it was not.
    fn count(&self, published: std::result::Result<(), String>) -> bool {
        if let Err(why) = &published
            && self.skipped.fetch_add(1, Relaxed) == 0
        {
            say(format_args!("{}: {why}; such messages are counted", lock(&self.publisher).topic()));
        }
        published.is_ok()
    }

    /// The publisher.
    pub fn publisher(&mut self) -> &mut GenericPublisher {
        self.publisher.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether at least half of the file system of shared memory is free. The rest is for messages that are due, and for
/// other programs.
fn is_half_free() -> bool {
    statvfs(shared_memory_directory()).is_ok_and(|system| system.f_bavail >= system.f_blocks / 2)
}

/// The QoS of the one publisher that replaces all recorded publishers of a topic. Its reliability and durability match
/// every subscription that matched one of the recorded publishers. For latched topics, its depth is the sum of their
/// depths.
fn offer(recorded: &[Qos]) -> Qos {
    let Some(first) = recorded.first() else { return Qos::default() };
    let latched = recorded.iter().filter(|qos| qos.durability == Durability::TransientLocal);
    let latched_depth = latched.clone().map(|qos| qos.depth).fold(0, u32::saturating_add);
    let depth = recorded.iter().map(|qos| qos.depth).fold(first.depth, u32::max).max(latched_depth);
    let has = |is: fn(&Qos) -> bool| recorded.iter().any(is);
    let qos = Qos::default().keep_last(depth.clamp(1, gantry_shm::MAX_DEPTH));
    let qos = if has(|qos| qos.history == History::KeepAll) { qos.keep_all() } else { qos };
    let qos = if has(|qos| qos.reliability == Reliability::Reliable) { qos.reliable() } else { qos.best_effort() };
    if latched.count() > 0 { qos.transient_local() } else { qos }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_publisher_offers_what_all_that_were_recorded_did() {
        assert_eq!(offer(&[]), Qos::default());
        assert_eq!(offer(&[Qos::sensor_data()]), Qos::sensor_data());
        let static_transforms = [Qos::default().keep_last(1).transient_local(); 3];
        assert_eq!(offer(&static_transforms), Qos::default().keep_last(3).transient_local());
        let mixed = [Qos::default().best_effort().keep_last(2), Qos::default().keep_last(7)];
        assert_eq!(offer(&mixed), Qos::default().keep_last(7));
    }
}
