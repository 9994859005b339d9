//! Publishers that write samples with predictable bytes, and subscriptions that check these bytes.

pub mod forked;
pub mod holder;

use crate::{
    accounts::counts::{Count, count},
    outcome::Result,
    samples::{
        checker::Checker,
        message,
        topic::{Offer, Topic},
    },
};
use fastrand::Rng;
use gantry_shm::{Error, Loan, Participant, Publisher, PublisherOptions, Qos, Subscription};
use holder::Held;
use std::sync::Arc;

const NODE: &str = "/soak";

/// A publisher.
pub struct Talker {
    pub publisher: Publisher,
    /// Loans that the player has not published yet.
    pub loans: Vec<Loan>,
    topic: &'static Topic,
    offer: Offer,
    /// The sequence number of the newest sample.
    sequence: u64,
}

impl Talker {
    /// Creates a publisher; `None` if shared memory has no room for it.
    pub fn new(
        participant: &Arc<Participant>,
        topic: &'static Topic,
        qos: Qos,
        options: PublisherOptions,
    ) -> Result<Option<Talker>> {
        let made = Publisher::new(participant.clone(), NODE, topic.name, topic.message_type(), qos, options);
        let Some(publisher) = allowed(made)? else { return Ok(None) };
        count(Count::Publishers, 1);
        Ok(Some(Talker { publisher, loans: Vec::new(), topic, offer: Offer::from_qos(&qos), sequence: 0 }))
    }

    /// Loans memory for a message of random length; `None` if all memory is in use.
    pub fn loan(&mut self, rng: &mut Rng) -> Result<Option<Loan>> {
        allowed(self.publisher.loan(self.topic.length_bytes(rng)))
    }

    /// Writes and publishes a sample. If the publish call failed, returns the loan.
    pub fn publish(&mut self, mut loan: Loan) -> Result<Option<Loan>> {
        let (gid, next) = (self.publisher.description().gid, self.sequence + 1);
        message::fill(loan.bytes_mut(), gid, next);
        match self.publisher.publish(loan, self.offer.to_time()) {
            Ok(sequence) if sequence == next => {
                self.sequence = sequence;
                count(Count::Published, 1);
                Ok(None)
            }
            Ok(sequence) => Err(format!("publishing sample {next} on {} made it sample {sequence}", self.topic.name)),
            Err(unpublished) => {
                allowed(Err::<(), Error>(*unpublished.error))?;
                Ok(Some(unpublished.loan))
            }
        }
    }
}

/// A subscription.
pub struct Listener {
    pub subscription: Subscription,
    pub topic: &'static Topic,
    checker: Checker,
}

impl Listener {
    /// Creates a subscription; `None` if shared memory has no room for it.
    pub fn new(participant: &Arc<Participant>, topic: &'static Topic, qos: Qos) -> Result<Option<Listener>> {
        let made = Subscription::new(participant.clone(), NODE, topic.name, topic.message_type(), qos);
        let Some(subscription) = allowed(made)? else { return Ok(None) };
        count(Count::Subscriptions, 1);
        Ok(Some(Listener { subscription, topic, checker: Checker::new(topic, qos) }))
    }

    /// Takes and checks the next sample.
    pub fn take(&mut self) -> Result<Option<Held>> {
        let taken = allowed(self.subscription.take()).map_err(|why| self.checker.sentence(&why))?;
        let losses = self.subscription.losses();
        match taken.flatten() {
            Some(sample) => {
                self.checker.took(&sample, losses)?;
                Ok(Some(Held::new(sample)))
            }
            None => self.checker.lost(losses).map(|()| None),
        }
    }

    /// Checks that each publisher of the topic is matched, except if its QoS is incompatible or shared memory is full.
    pub fn check_mismatches(&self) -> Result<()> {
        match self.subscription.mismatches().into_iter().find(|why| !is_expected(why)) {
            Some(why) => Err(self.checker.sentence(&format!("its publisher is not matched: {why:?}"))),
            None => Ok(()),
        }
    }
}

/// True if the run is expected to cause mismatches of this kind.
pub fn is_expected(mismatch: &str) -> bool {
    mismatch.contains("do not agree on") || mismatch.contains("no room in shared memory")
}

/// Returns the value of a success. An error that the run is expected to cause is counted and becomes `None`; any other
/// error ends the run.
pub fn allowed<T>(result: gantry_shm::Result<T>) -> Result<Option<T>> {
    let kind = match result {
        Ok(value) => return Ok(Some(value)),
        Err(Error::PublishTimeout { .. }) => Count::Timeouts,
        Err(Error::OutOfMemory { .. }) => Count::OutOfMemory,
        Err(Error::NoRoom { .. }) => Count::NoRoom,
        Err(Error::RegistryBusy { .. }) => Count::RegistryBusy,
        // QoS are chosen at random, so a wait for a match may fail because no QoS is compatible.
        Err(Error::IncompatibleQos { .. }) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    count(kind, 1);
    Ok(None)
}
