//! A publisher over shared memory.

use std::fs::File;

use perf_worker::{
    backend::{Draft, Matched, Matching, Publisher, Sent},
    clock::now_ns,
    endpoint::EndpointPlan,
    run_spec::RunSpec,
};

use super::{
    bell::Bell,
    layout::{Layout, PLACES},
    memory::Writer,
};
use crate::announcement::{Id, OwnFile, Side, Topic, new_id};
use crate::message;

/// A publisher.
pub struct RingPublisher {
    topic: Topic,
    id: Id,
    writer: Writer,
    /// The id and the bell of the subscription in each place.
    subscriptions: Vec<Option<(Id, Bell)>>,
    /// The places that have a subscription, as bits.
    places: u64,
    /// The user's message, which is copied into a slot; `None` with zero copy.
    own: Option<Vec<u8>>,
    /// True if the end of the copy is recorded as the end of a phase of the message's latency.
    marks: bool,
    /// True if subscriptions may sleep, so that their bells must ring.
    rings: bool,
    /// The last field: the file is removed after all other fields are dropped.
    _file: OwnFile,
}

impl RingPublisher {
    /// Creates the publisher. `rings` means that subscriptions may sleep, so that the publisher rings their bells.
    ///
    /// # Errors
    /// The reason, as a sentence: shared memory is not available.
    pub fn new(topic: Topic, spec: &RunSpec, plan: &EndpointPlan, rings: bool) -> Result<RingPublisher, String> {
        let (id, layout) = (new_id(), Layout::new(plan));
        let file = OwnFile::create(&topic.announced(Side::Publisher, id, 0), layout.bytes())?;
        Ok(RingPublisher {
            topic,
            id,
            writer: Writer::new(file.file(), layout)?,
            subscriptions: (0..PLACES).map(|_| None).collect(),
            places: 0,
            own: (!spec.zero_copy).then(|| message::touched(plan.message.bytes)),
            marks: spec.phases,
            rings,
            _file: file,
        })
    }
}

impl Matched for RingPublisher {
    fn matched(&mut self) -> Result<Matching, String> {
        let living = self.topic.living(Side::Subscription)?;
        for (place, subscription) in self.subscriptions.iter_mut().enumerate() {
            let has_ended = |(id, _): &mut (Id, Bell)| living.iter().all(|announced| announced.id != *id);
            if subscription.take_if(has_ended).is_some() {
                self.writer.dismiss(place);
                self.places &= !(1 << place);
            }
        }
        for announced in living {
            if self.subscriptions.iter().flatten().any(|(id, _)| *id == announced.id) {
                continue;
            }
            // The file is gone if the subscription has just ended. If no place is free, the subscription is not
            // matched, and the run reports this.
            let (Ok(file), Some(place)) = (
                File::options().read(true).write(true).open(announced.path()),
                self.subscriptions.iter().position(Option::is_none),
            ) else {
                continue;
            };
            self.subscriptions[place] = Some((announced.id, Bell::new(&file)?));
            self.writer.admit(place, announced.id);
            self.places |= 1 << place;
        }
        Ok(Matching::Count(self.places.count_ones() as usize))
    }

    fn mismatches(&mut self) -> Vec<String> {
        Vec::new()
    }

    fn source(&self) -> Option<[u8; 16]> {
        Some(self.id)
    }
}

impl Publisher for RingPublisher {
    fn publish(&mut self, draft: &mut dyn Draft) -> Result<Sent, String> {
        // This error cannot occur: there are more slots than the queues and the subscriptions can hold at the
        // same time.
        let none = || "the ring has no free slot".to_owned();
        let mut sent = Sent { loaned: self.own.is_none(), ..Sent::default() };
        let slot = if let Some(own) = &mut self.own {
            message::write(own, draft);
            let slot = self.writer.free_slot().ok_or_else(none)?;
            self.writer.slot(slot).copy_from_slice(own);
            sent.serialised_ns = self.marks.then(now_ns);
            slot
        } else {
            let slot = self.writer.free_slot().ok_or_else(none)?;
            message::write(self.writer.slot(slot), draft);
            slot
        };
        self.writer.mark(slot, self.places);
        for (place, subscription) in self.subscriptions.iter().enumerate() {
            if let Some((_, bell)) = subscription {
                self.writer.push(place, slot);
                if self.rings {
                    bell.ring();
                }
            }
        }
        Ok(sent)
    }
}
